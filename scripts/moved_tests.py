"""Finds the tests of a tree that moved: compares the tests of two trees with tests/moved_tests.csv.

    python scripts/moved_tests.py OLD_TREE NEW_TREE

A row of the table names an old test and the one that says the same now, both as `file::test`; `file::*` stands for a file's
tests that keep their names, beside the new file, and `gone: WHY` for what is tested no more. Tests of tests/built, which run
here and are in no tree, are `built/file::test`. Prints the tests of OLD_TREE that have no successor in NEW_TREE or in
tests/built, and ends with 1 if there are any.
"""

import csv
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"
TABLE = TESTS / "moved_tests.csv"


def tests_of(folder: pathlib.Path, prefix: str = "") -> set[str]:
    return {
        f"{prefix}{path.stem}::{name}"
        for path in sorted(folder.glob("test_*.py"))
        for name in re.findall(r"^ *def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def new_name(test: str, new: set[str], moved: dict[str, str]) -> str:
    """The name that a test has now, by the table; the old one if the table does not name it."""
    file, name = test.split("::")
    if test in moved or test in new:
        return moved.get(test, test)
    return f"{moved[whole]}::{name}" if (whole := f"{file}::*") in moved else ""


def main(old_tree: str, new_tree: str) -> int:
    old, new = (tests_of(pathlib.Path(tree) / "tests") for tree in (old_tree, new_tree))
    new |= tests_of(TESTS / "built", "built/")
    with TABLE.open(encoding="utf-8") as file:
        moved = {row["old"]: row["new"] for row in csv.DictReader(file)}
    names = {test: new_name(test, new, moved) for test in sorted(old)}
    gone = {test: name for test, name in names.items() if name not in new and not name.startswith("gone: ")}
    for test, name in gone.items():
        print(f"{test}: {name or 'no row of the table names it'}" + (", which is not there" if name else ""))
    print(f"{len(old)} tests before, {len(new)} now; {len(gone)} without a successor")
    return 1 if gone else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
