"""`python -m openreg_gen.learn`: shows the exercise of the tree that you are in, checks it, and goes on to the next."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from .. import command
from . import Lesson, LearnError, Tree, all_lessons

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
        print(f"{outcome.text}\n\nNot yet: {lesson.file}. `python -m openreg_gen.learn hint` helps.")
        return command.Exit.NO
    print(f"{progress(tree.solved())}\n\nRight. `solution` shows how we wrote it.\n")
    print("Next:\n  python -m openreg_gen.learn")
    return command.Exit.DONE


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m openreg_gen.learn", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verbs.add_parser("check", help="build the tree and run the exercise's test")
    verbs.add_parser("hint", help="print the next of three hints")
    verbs.add_parser("reset", help="start the exercise again; your text is kept as FILE.mine")
    verbs.add_parser("solution", help="print the solution, once the check has passed").add_argument(
        "--now", action="store_true", help="even if it hasn't"
    )
    verbs.add_parser("list", help="list the exercises")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "list":
            for lesson in all_lessons():
                print(f"{lesson.number:3}  chapter {lesson.chapter}  {lesson.title}")
            return command.Exit.DONE
        tree = Tree(Path.cwd())
        if options.verb == "check":
            return check(tree)
        lesson = tree.lesson()
        if options.verb == "hint":
            number, text = tree.hint()
            print(f"{number} of {len(lesson.hints)}: {text}")
        elif options.verb == "reset":
            tree.reset()
            show(tree, lesson)
        elif options.verb == "solution":
            if lesson.word not in tree.solved() and not options.now:
                raise LearnError("the check has not passed yet; `solution --now` shows it all the same")
            print((tree.root / lesson.solution).read_text(encoding="utf-8"), end="")
        else:
            move_on(tree)
    except LearnError as error:
        print(f"openreg_gen.learn: {error}")
        return command.Exit.INPUT
    return command.Exit.DONE


if __name__ == "__main__":
    raise SystemExit(main())
