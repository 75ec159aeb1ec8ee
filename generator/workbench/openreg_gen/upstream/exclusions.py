"""Exclusions: tests that are known to fail, each with the reason, in YAML.

A tree's spec has them under `tests.exclude`; beside a backend that was written by hand they are in a file of their own, which looks
the same:

    tests:
      exclude:
        - test: TestIndexing.test_index_put        # a method with all its dtypes, or TestIndexing: the whole class
          reason: the device has no atomics
"""

import importlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLE = "reason: the device pins nothing"


class ExclusionError(ValueError):
    """A file of exclusions that can't be used; the text has a line for each error, `hint` says what to type."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


@dataclass(frozen=True)
class Exclusion:
    group: str  # the class in the source
    test: str  # a method of the source, or one that PyTorch made of it; "*": all
    reason: str
    place: str = ""  # file:line:col

    @property
    def name(self) -> str:
        return self.group if self.test == "*" else f"{self.group}.{self.test}"

    def covers(self, group: str, name: str, origin: str) -> bool:
        return self.group == group and self.test in ("*", name, origin)


class Exclusions:
    """All of them, found by a test's names."""

    def __init__(self, rows: Iterable[Exclusion]) -> None:
        self.rows = list(rows)
        self.by_name = {(row.group, row.test): row for row in reversed(self.rows)}

    def find(self, group: str, name: str, origin: str) -> Exclusion | None:
        names = ("*", origin, name)
        return next((self.by_name[group, test] for test in names if (group, test) in self.by_name), None)


def _yaml() -> Any:
    try:
        return importlib.import_module("yaml")
    except ImportError as error:
        raise ExclusionError(
            "Python can't read YAML: no module named 'yaml'", "install it: pip install pyyaml"
        ) from error


def _compose(path: Path) -> Any:
    """The node of the whole file; None if it is empty or not there."""
    yaml = _yaml()
    try:
        return yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader) if path.exists() else None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise ExclusionError(f"{where}: not YAML: {getattr(error, 'problem', error)}", "correct that line") from error


def _value(node: Any, key: str) -> Any:
    """The node of a key of a map; None if there is none."""
    pairs = node.value if node is not None and node.id == "mapping" else ()
    return next((value for name, value in pairs if name.value == key), None)


def _place(path: Path, node: Any) -> str:
    return f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def read(path: Path) -> list[Exclusion]:
    """The exclusions of a file. Raises ExclusionError if one is wrong, above all if it has no reason."""
    listed = _value(_value(_compose(path), "tests"), "exclude")
    if listed is None:
        return []
    form = f"write `- test: TestIndexing.test_index_put` and below it `{EXAMPLE}`"
    if listed.id != "sequence":
        raise ExclusionError(f"{_place(path, listed)}: tests.exclude is not a list", form)
    found, wrong, hint = [], [], form
    for item in listed.value:
        test, reason = _value(item, "test"), _value(item, "reason")
        if test is None or not isinstance(test.value, str) or not test.value:
            wrong.append(f"{_place(path, item)}: an exclusion without `test`")
        elif (
            reason is None
            or not isinstance(reason.value, str)
            or reason.tag.endswith(":null")
            or not reason.value.strip()
        ):
            # Behind the colon, or where it would be.
            wrong.append(f"{_place(path, reason or item)}: the exclusion of {test.value} has no reason")
            hint = f"write why it can't pass, such as `{EXAMPLE}`; or delete the entry, and fix the backend"
        else:
            group, _, method = test.value.partition(".")
            found.append(Exclusion(group, method or "*", " ".join(reason.value.split()), _place(path, item)))
    if wrong:
        raise ExclusionError("\n".join(wrong), hint)
    return found


def write(path: Path, rows: Sequence[tuple[str, str, str]]) -> None:
    """Add entries to a file: the test's name, the reason (may be empty, and is asked for by the next run), and a comment. The rest of
    the file stays as it is. Raises ExclusionError if there is no place for them."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = text.splitlines()
    tests = _value(_compose(path), "tests")
    listed = _value(tests, "exclude")
    at, indent, head = len(lines), 4, ["tests:", "  exclude:"]
    if listed is not None and listed.value:
        if listed.flow_style or listed.id != "sequence":
            raise ExclusionError(
                f"{_place(path, listed)}: entries can't be added to a list in one line",
                "write one entry per line, with `- `",
            )
        at, indent, head = _after(listed.value[-1]), listed.start_mark.column, []
    elif listed is not None:  # "exclude:", or "exclude: []"
        at, head = listed.start_mark.line + 1, []
        lines[at - 1] = lines[at - 1].split("exclude:")[0] + "exclude:"
        indent = len(lines[at - 1]) - len(lines[at - 1].lstrip()) + 2
    elif tests is not None and tests.id == "mapping" and not tests.flow_style:
        at, indent = tests.start_mark.line, tests.start_mark.column + 2
        head = [" " * tests.start_mark.column + "exclude:"]
    elif tests is not None:
        raise ExclusionError(
            f"{_place(path, tests)}: tests is not a map over several lines",
            "write `tests:`, and `exclude:` in the next line",
        )
    space = " " * indent
    added = [
        line
        for name, reason, comment in rows
        for line in (
            f"{space}- test: {name}",
            f"{space}  # {' '.join(comment.split())[:100]}",
            f"{space}  reason: {_quoted(reason)}",
        )
    ]
    lines[at:at] = [*head, *added]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _after(node: Any) -> int:
    """The number of lines up to the end of an item."""
    while node.id != "scalar" and node.value and not node.flow_style:
        node = node.value[-1][1] if node.id == "mapping" else node.value[-1]
    mark = node.end_mark
    return int(mark.line if mark.column == 0 and mark.line > node.start_mark.line else mark.line + 1)


def _quoted(reason: str) -> str:
    """A scalar of YAML: JSON's strings are."""
    return json.dumps(reason, ensure_ascii=False)
