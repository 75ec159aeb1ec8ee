"""Checks the C++ files of trees for calls of Python's API in a scope that has released Python's lock.

    check_gil.py DIRECTORY...

Py_RETURN_NONE is such a call too: before Python 3.12 it counts references to None, and races with every other thread. The check
is by text: from a `gil_scoped_release` that is a variable up to the end of its scope.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

RELEASE = re.compile(r"\bgil_scoped_release\s+\w+\s*[;{(]")
ACQUIRE = re.compile(r"\bgil_scoped_acquire\s+\w+\s*[;{(]")
# Types may be named, and pybind11 knows what it does at the end of a function.
PYTHON = re.compile(
    r"\b(?:Py_?(?!Object\b)[A-Z]\w*|THP\w+_Wrap|pybind11::(?:none|cast|str|dict|list|tuple)\b|py::(?:none|cast|str|dict|list|tuple)\b)"
)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blanked(text: str) -> str:
    """The text without comments and literals, line by line as before."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def calls_without_the_lock(text: str) -> Iterator[tuple[int, str]]:
    """(line, name) of each call."""
    depth = 0
    scopes: list[tuple[int, bool]] = []  # (depth, whether the lock is released)
    for number, line in enumerate(blanked(text).splitlines(), 1):
        events = [(found.start(), "release") for found in RELEASE.finditer(line)]
        events += [(found.start(), "acquire") for found in ACQUIRE.finditer(line)]
        events += [(found.start(), found[0]) for found in PYTHON.finditer(line)]
        events += [(place, letter) for place, letter in enumerate(line) if letter in "{}"]
        for _, event in sorted(events):
            if event == "{":
                depth += 1
            elif event == "}":
                depth -= 1
                while scopes and scopes[-1][0] > depth:
                    scopes.pop()
            elif event in ("release", "acquire"):
                scopes.append((depth, event == "release"))
            elif scopes and scopes[-1][1]:
                yield number, event


def main(folders: list[str]) -> int:
    wrong = 0
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix not in (".cpp", ".h") or "build" in path.relative_to(folder).parts:
                continue
            for number, name in calls_without_the_lock(path.read_text(encoding="utf-8")):
                print(f"{path}:{number}: {name} while Python's lock is released", file=sys.stderr)
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
