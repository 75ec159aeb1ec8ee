"""`python -m openreg_gen.learn`: shows the exercise of the tree that you are in, checks it, and goes on to the next."""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..exits import Exit
from . import Lesson, LearnError, Tree, all_lessons, lesson_of

_BOOK = "https://openreg-gen.github.io/openreg-gen/book/"


def progress(solved: set[str]) -> str:
    lessons = all_lessons()
    marks = "".join("#" if lesson.word in solved else "-" for lesson in lessons)
    return f"[{marks}] {sum(lesson.word in solved for lesson in lessons)} of {len(lessons)}"


def show(tree: Tree, lesson: Lesson) -> None:
    print(
        f"{progress(tree.solved())}\n\nExercise {lesson.number}: {lesson.title}  (chapter {lesson.chapter} of {_BOOK})"
    )
    print(f"\n  edit   {lesson.file}\n  test   {lesson.test}\n  check  python -m openreg_gen.learn check")


def move_on(tree: Tree) -> None:
    """To the first exercise behind this one that is not solved, if this one is."""
    lesson = tree.lesson()
    if lesson.word in tree.solved():
        later = [each for each in all_lessons()[lesson.number :] if each.word not in tree.solved()]
        if not later:
            print(f"{progress(tree.solved())}\n\nThat was the last exercise.")
            return
        tree.go_to(later[0].number)
    else:
        tree.take()
    show(tree, tree.lesson())


def check(tree: Tree) -> int:
    lesson = tree.lesson()
    outcome = tree.check()
    if not outcome.passed:
        print(f"{outcome.text}\n\nNot yet: {lesson.file}. `python -m openreg_gen.learn hint` helps.", flush=True)
        return Exit.NO
    print(
        f"{progress(tree.solved())}\n\nRight. `python -m openreg_gen.learn solution` shows how we wrote it, and why.\n"
    )
    print("Next:\n  python -m openreg_gen.learn", flush=True)
    return Exit.DONE


def stamps(tree: Tree) -> dict[Path, tuple[int, int]]:
    """Time and size of the files that a learner edits."""
    paths = [
        *(tree.root / "exercises").glob("*.py"),
        *(tree.root / "csrc").rglob("*.cpp"),
        *(tree.root / "csrc").rglob("*.h"),
    ]
    out = {}
    for path in [*paths, tree.spec]:
        try:
            found = path.stat()
        except FileNotFoundError:  # an editor that replaces the file
            continue
        out[path] = (found.st_mtime_ns, found.st_size)
    return out


def watch(tree: Tree, pause: Callable[[float], None] = time.sleep) -> int:
    """Checks now and after each save, until Ctrl-C. Returns what the last check did."""
    code = int(Exit.NO)
    try:
        while True:
            seen, start = stamps(tree), time.monotonic()
            code = check(tree)
            print(f"\n({time.monotonic() - start:.0f} s; checks again when you save; Ctrl-C ends)", flush=True)
            while stamps(tree) == seen:
                pause(0.2)
    except KeyboardInterrupt:
        print()
        return code


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m openreg_gen.learn", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verbs.add_parser("check", help="build the tree and run the exercise's test")
    verbs.add_parser("watch", help="check each time you save a file, until Ctrl-C")
    verbs.add_parser("hint", help="print the next of three hints")
    verbs.add_parser("reset", help="start the exercise again; your text is kept beside it")
    solution = verbs.add_parser("solution", help="print the solution and why it is so, once the check has passed")
    solution.add_argument("number", nargs="?", type=int, metavar="N", help="of exercise N; default: of this one")
    solution.add_argument("--now", action="store_true", help="even if it hasn't")
    verbs.add_parser("list", help="list the exercises")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "list":
            for lesson in all_lessons():
                print(f"{lesson.number:3}  chapter {lesson.chapter}  {lesson.title}")
            return Exit.DONE
        tree = Tree(Path.cwd())
        if options.verb == "check":
            return check(tree)
        if options.verb == "watch":
            return watch(tree)
        lesson = tree.lesson()
        if options.verb == "hint":
            number, text = tree.hint()
            print(f"{number} of {len(lesson.hints)}: {text}")
        elif options.verb == "reset":
            kept = tree.reset()
            show(tree, lesson)
            if kept is not None:
                print(f"\nYour text is kept: {kept.relative_to(tree.root)}")
        elif options.verb == "solution":
            if options.number is not None:
                lesson = lesson_of(options.number)
            if lesson.word not in tree.solved() and not options.now:
                raise LearnError(
                    f"the check of exercise {lesson.number} has not passed yet; "
                    f"`solution {lesson.number} --now` shows it all the same"
                )
            print(tree.solution(lesson), end="")
        else:
            move_on(tree)
    except LearnError as error:
        print(f"openreg_gen.learn: {error}")
        return Exit.INPUT
    return Exit.DONE


if __name__ == "__main__":
    raise SystemExit(main())
