"""Proves the exercises of the book: each fails before, for the reason that it names, and passes with its solution.

    exercises.py --tree DIR [--touched] [WORD ...]
    exercises.py --list [--touched]

DIR is made by `openreg-gen new lessons --lesson 1`, built, and installed in the Python that runs this. The exercises run in their
order in one tree, so that going on is tried as well. Of each, the solutions of tests/exercises are tried, too: wrong ones must fail,
with the message that they name, and right ones must pass. `--touched`: those that the change touches (scripts/choose.py), one at most.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "generator/workbench")]

import choose  # noqa: E402
from openreg_gen import learn  # noqa: E402

EVERYTHING = (
    "scripts/exercises.py",
    "generator/workbench/openreg_gen/learn/",
    "templates/lessons/Queue",
    "templates/lessons/Slow",
    "templates/lessons/checks",
)
PLANTED = ROOT / "tests/exercises"
MOST = 1  # of those that a change touches: CI has two minutes for the book


def touched(paths: Iterable[str], lessons: list[learn.Lesson]) -> list[learn.Lesson]:
    """Exercises whose templates differ; all of them if what they share does."""
    paths = list(paths)
    if any(path.startswith(EVERYTHING) for path in paths):
        return lessons
    names = {
        Path(path).name.removeprefix("test_").split(".")[0] for path in paths if path.startswith("templates/lessons/")
    }
    names |= {Path(path).stem.partition("_")[2] for path in paths if path.startswith("tests/exercises/")}
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


def planted(lesson: learn.Lesson) -> list[dict[str, Any]]:
    """Solutions that aren't ours: rows of `wrong` or `right`, with `text` or `edits` of our solution."""
    import yaml

    path = PLANTED / f"{lesson.number:02}_{lesson.word}.yaml"
    rows: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return rows


def text_of(row: dict[str, Any], ours: str) -> str:
    """The text of a planted solution, under a first line that a header replaces."""
    if "text" in row:
        return "\n" + str(row["text"])
    for old, new in row["edits"]:
        if old not in ours:
            raise ValueError(f"our solution has no text {old!r}")
        ours = ours.replace(old, new)
    return ours


def judge(tree: learn.Tree, row: dict[str, Any]) -> str:
    """How the check misjudges a planted solution; "" if it is right about it."""
    kind = "wrong" if "wrong" in row else "right"
    what = f"the {kind} solution '{row[kind]}'"
    try:
        tree.apply(text_of(row, tree.solution_text()))
    except ValueError as error:
        return f"{what}: {error}"
    outcome = tree.check()
    if kind == "right":
        return "" if outcome.passed else f"{what} doesn't pass:\n{outcome.text[-2000:]}"
    if outcome.passed:
        return f"{what} passes"
    return (
        "" if re.search(row["says"], outcome.text) else f"{what} fails without /{row['says']}/:\n{outcome.text[-2000:]}"
    )


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
    tree, failed, tried = learn.Tree(options.tree), 0, 0
    for lesson in lessons:
        tree.go_to(lesson.number)
        if lesson.word in tree.solved():  # this tree has been here before
            tree.reset()
        start, rows = time.monotonic(), planted(lesson)
        faults = [*prove(tree, lesson), *(fault for fault in (judge(tree, row) for row in rows) if fault)]
        tree.apply_solution()
        failed += bool(faults)
        tried += len(rows)
        print(
            f"{'FAILED' if faults else 'ok':6}  {lesson.number:2} {lesson.word}  {time.monotonic() - start:.0f} s",
            flush=True,
        )
        for fault in faults:
            print(f"        {fault}")
    print(f"figures: {len(lessons)} exercises, {tried} planted solutions, {failed} exercises failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
