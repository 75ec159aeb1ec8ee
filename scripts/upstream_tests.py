"""Finds the tests of a tree that are closest to those of another suite, such as PyTorch's suite for its reference backend.

    python scripts/upstream_tests.py pytorch/test/cpp_extensions/open_registration_extension/torch_openreg/tests torch_mine

Prints one Markdown table per file of the suite. A row names one of its tests and the tree's tests that share the rarest words
with its name and its file's name, nearest first; whether they test the same is for you to read.
"""

import collections
import pathlib
import re
import sys

TEST = re.compile(r"^ *(?:def test_(\w+)\(|TEST(?:_F|_P)?\(\w+, *(\w+)\))", re.MULTILINE)
SHOWN = 2


def tests_of(folder: pathlib.Path):
    """(file, name) of each test in Python or C++."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".cpp"):
            for python, cpp in TEST.findall(path.read_text(encoding="utf-8")):
                yield path.relative_to(folder).as_posix(), python or cpp


def words(file: str, name: str) -> set[str]:
    """Words of a name, in snake or camel case, and of its file; without endings, so that "streams" is "stream"."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", f"{pathlib.Path(file).stem}_{name}").lower()
    return {re.sub(r"(ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z0-9]+", text)} - {"test"}


def nearest(theirs: tuple[str, str], ours: dict[tuple[str, str], set[str]]) -> list[tuple[str, str]]:
    """The rarer a shared word, the more it counts."""
    common = collections.Counter(word for each in ours.values() for word in each)
    scores = {test: sum(1 / common[word] for word in words(*theirs) & each) for test, each in ours.items()}
    return [test for test in sorted(ours, key=lambda test: (-scores[test], test))[:SHOWN] if scores[test] > 0]


def table(suite: pathlib.Path, tree: pathlib.Path) -> str:
    ours = {test: words(*test) for test in tests_of(tree / "tests")}
    lines, last = [], None
    for file, name in tests_of(suite):
        if file != last:
            lines += ["", f"## {file}", "", "| theirs | nearest of ours |", "|---|---|"]
            last = file
        near = ", ".join(f"`{path}::{test}`" for path, test in nearest((file, name), ours))
        lines.append(f"| {name} | {near or 'none'} |")
    return "\n".join(lines[1:]) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(table(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])), end="")
