"""Differences from the CPU that are known: those of every backend are in `everywhere.py`, a backend's own in its `known`.

An entry says which cases differ (subject/variant/dtype/index, as globs), in what, and why. `crash`, `hang`, `raising`,
`device`, `dtype` and `value` need `cites`: PyTorch's own issue, or how CUDA does the same. `mode`: only there, with a `!`
before it everywhere else; `kernel`: only where the backend has a kernel of that operator, with a `!` before it only where it
has none.
"""

import fnmatch
import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch

from .categories import CATEGORIES, NEED_CITATION


class KnownError(ValueError):
    """A list of known differences has rows that the sweep can't use; the text has a line for each."""


def covers(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)


def has_kernel(operator: str) -> bool:
    """Whether the backend registered "add.out" itself. An operator that this PyTorch does not have has no kernel."""
    try:
        return torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator}", "PrivateUse1")
    except RuntimeError:
        return False


class KnownDifference(NamedTuple):
    case: str
    category: str
    reason: str
    cites: str = ""
    mode: str = "*"
    kernel: str = ""

    def applies(self) -> bool:
        """Whether the backend has, or lacks, the kernel that the entry depends on."""
        name = self.kernel.removeprefix("!")
        return (not name or has_kernel(name)) != self.kernel.startswith("!")

    def is_in(self, mode: str) -> bool:
        return covers(self.mode.removeprefix("!"), mode) != self.mode.startswith("!")

    def wrong(self) -> str | None:
        """The fault of an entry that can't be used."""
        if self.category not in CATEGORIES:
            return f"unknown category {self.category}; use one of {', '.join(CATEGORIES)}"
        if self.case.count("/") < 3:
            return "a case is subject/variant/dtype/index"
        if not self.reason:
            return "a difference needs a reason"
        if self.category in NEED_CITATION and not self.cites:
            return f"{self.category} needs cites: PyTorch's issue, or how CUDA does it"
        return None


def from_rows(rows: Iterable[Sequence[Any]], where: str) -> list[KnownDifference]:
    """The entries of a backend's rows. Raises KnownError if rows are wrong; `where` names the list in its text."""
    found, wrong = [], []
    for index, row in enumerate(rows):
        if not (isinstance(row, (tuple, list)) and 3 <= len(row) <= 6 and all(isinstance(x, str) for x in row)):
            wrong.append(
                f"{where}[{index}] is {row!r}; it must be case, category, reason, and then cites, mode, kernel"
            )
            continue
        found.append(KnownDifference(*row))
        if fault := found[-1].wrong():
            wrong.append(f"{where}[{index}], {found[-1].case}: {fault}")
    if wrong:
        raise KnownError("\n".join(wrong))
    return found


def from_file(path: pathlib.Path) -> list[KnownDifference]:
    """The entries of a JSON file: a list of rows. Raises KnownError if there is no such file, or if it holds something else."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KnownError(f"{path}: {error}") from error
    if not isinstance(rows, list):
        raise KnownError(f"{path}: it must be a list of rows")
    return from_rows(rows, str(path))


# Holds on every device: nobody has to list it, and no list grows stale by it.
FURTHER = KnownDifference("*/*/*/*", "reference", "the CPU is further from the exact value than the device")


class KnownDifferences:
    """The entries that hold for one backend: its own come first."""

    def __init__(self, own: Iterable[KnownDifference] = (), shared: Iterable[KnownDifference] = ()) -> None:
        self.own, self.shared = list(own), list(shared)
        self.listed = [entry for entry in (*self.own, *self.shared) if entry.applies()]

    def find(self, mode: str, case: str, category: str) -> KnownDifference | None:
        if category == FURTHER.category:
            return FURTHER
        return next(
            (k for k in self.listed if category == k.category and k.is_in(mode) and covers(k.case, case)),
            None,
        )
