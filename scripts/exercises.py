"""Proves the exercises of the book: each fails before, for the reason that it names, and passes with its solution.

    exercises.py --tree DIR [--touched] [WORD ...]
    exercises.py --list [--touched]

DIR is made by `openreg-gen new NAME --lesson 1`, built, and installed in the Python that runs this. The exercises run in their
order in one tree, so that going on is tried as well. `--touched`: those that the change touches (scripts/choose.py), two at most.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "generator/workbench")]

import choose  # noqa: E402
from openreg_gen import learn  # noqa: E402

EVERYTHING = (
    "scripts/exercises.py",
    "generator/workbench/openreg_gen/learn/",
    "templates/lessons/Queue",
    "templates/lessons/Slow",
)
MOST = 2  # of those that a change touches: CI has two minutes for the book


def touched(paths: Iterable[str], lessons: list[learn.Lesson]) -> list[learn.Lesson]:
    """Exercises whose templates differ; all of them if what they share does."""
    paths = list(paths)
    if any(path.startswith(EVERYTHING) for path in paths):
        return lessons
    names = {
        Path(path).name.removeprefix("test_").split(".")[0] for path in paths if path.startswith("templates/lessons/")
    }
    return [lesson for lesson in lessons if lesson.word in names]


def prove(tree: learn.Tree, lesson: learn.Lesson) -> list[str]:
    """The faults of the tree's exercise; leaves its solution there."""
    faults = []
    for path in re.findall(r"`([\w./-]+/[\w.-]+)`", " ".join(lesson.hints)):
        path = path.replace("torch_NAME", f"torch_{tree.spec.stem}")
        if not (tree.root / path).exists() and not any(path == one.file for one in learn.all_lessons()):
            faults.append(f"a hint names {path}, which is not there")
    if len(lesson.hints) != 3:
        faults.append(f"it has {len(lesson.hints)} hints, not 3")
    before = tree.check()
    if before.passed:
        faults.append("it passes before anything is done")
    elif not re.search(lesson.fails, before.text):
        faults.append(f"it fails for another reason than /{lesson.fails}/:\n{before.text[-2000:]}")
    tree.apply_solution()
    after = tree.check()
    if not after.passed:
        faults.append(f"its solution doesn't pass:\n{after.text[-2000:]}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--list", action="store_true", help="print which would run")
    parser.add_argument("--touched", action="store_true")
    parser.add_argument("words", nargs="*", metavar="WORD")
    options = parser.parse_args()
    lessons = learn.all_lessons()
    if options.touched:
        base = choose.base_of_change()[0]
        lessons = choose.some_of_commit(touched(choose.changed_paths(base), lessons) if base else lessons, MOST)
    if options.words:
        lessons = [lesson for lesson in lessons if lesson.word in options.words]
    if options.list:
        print("".join(f"{lesson.word}\n" for lesson in lessons), end="")
        return 0
    if options.tree is None:
        parser.error("--tree is missing")
    tree, failed = learn.Tree(options.tree), 0
    for lesson in lessons:
        tree.go_to(lesson.number)
        faults = prove(tree, lesson)
        failed += bool(faults)
        print(f"{'FAILED' if faults else 'ok':6}  {lesson.number:2} {lesson.word}", flush=True)
        for fault in faults:
            print(f"        {fault}")
    print(f"figures: {len(lessons)} exercises, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
