# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The results file, one line of JSON a task, and the known differences."""

import fnmatch
import hashlib
import json
import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch

from .cases import Selection, Task
from .compare import CATEGORIES, NEED_CITATION
from .known import MOST, Known


def applies(known: Known) -> bool:
    name = known.kernel.removeprefix("!")
    there = not name or torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "PrivateUse1")
    return there != known.kernel.startswith("!")


def in_mode(known: Known, mode: str) -> bool:
    return fnmatch.fnmatchcase(mode, known.mode.removeprefix("!")) != known.mode.startswith("!")


def covers(known: Known, mode: str, case: str, category: str) -> bool:
    return in_mode(known, mode) and fnmatch.fnmatchcase(case, known.case) and category == known.category


def wrong_entries(listed: Iterable[Known]) -> list[str]:
    """What the known differences lack."""
    found = []
    for entry in listed:
        if entry.category not in CATEGORIES:
            found.append(f"{entry.case}: category {entry.category} is none of {', '.join(CATEGORIES)}")
        if entry.case.count("/") < 3:
            found.append(f"{entry.case}: a case is subject/variant/dtype/index")
        if not entry.reason:
            found.append(f"{entry.case}: a difference needs a reason")
        if entry.category in NEED_CITATION and not entry.cites:
            found.append(f"{entry.case}: {entry.category} needs cites: PyTorch's issue, or how CUDA does it")
    return found


class Finding(NamedTuple):
    mode: str
    case: str
    category: str
    detail: str
    known: Known | None

    @property
    def subject(self) -> str:
        return self.case.rsplit("/", 3)[0]

    @property
    def variant(self) -> str:
        return self.case.rsplit("/", 3)[1]


def fingerprint(selection: Selection) -> str:
    """What has to be the same for results to be taken over."""
    text = json.dumps([torch.__version__, selection])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Results:
    """What was found so far. A line that a killed run left half written is none."""

    def __init__(self, path: pathlib.Path, selection: Selection, fresh: bool) -> None:
        self.path = path
        self.selection = fingerprint(selection)
        self.rows: dict[tuple[str, Task], dict[str, Any]] = {}
        if fresh:
            path.unlink(missing_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                self._take(line)
        path.parent.mkdir(parents=True, exist_ok=True)

    def _take(self, line: str) -> None:
        try:
            row = json.loads(line)
        except ValueError:
            return
        if row["selection"] == self.selection:
            self.rows[row["mode"], Task(row["subject"], row["dtype"])] = row

    def done(self, mode: str) -> set[Task]:
        return {task for its_mode, task in self.rows if its_mode == mode}

    def add(self, mode: str, task: Task, outcome: dict[str, Any]) -> None:
        row = {"selection": self.selection, "mode": mode, **task._asdict(), **outcome}
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows[mode, task] = row

    def findings(self, known: Iterable[Known], modes: Iterable[str]) -> Iterator[Finding]:
        listed, wanted = [k for k in known if applies(k)], set(modes)
        for (mode, _), row in self.rows.items():
            for case, category, detail in row["found"] if mode in wanted else ():
                reason = next((k for k in listed if covers(k, mode, case, category)), None)
                yield Finding(mode, case, category, detail, reason)

    def counts(self, modes: Iterable[str]) -> Counter[str]:
        """Cases by variant."""
        total: Counter[str] = Counter()
        for (mode, _), row in self.rows.items():
            if mode in set(modes):
                total.update(row["counts"])
        return total


def stale(known: Iterable[Known], findings: list[Finding], tasks: list[Task], modes: list[str]) -> list[Known]:
    """Entries whose cases were all run, and differ no more."""
    used = {finding.known for finding in findings}
    subjects = {task.subject for task in tasks}
    names = {f"{task.subject}/{task.dtype}" for task in tasks}

    def ran(entry: Known) -> bool:
        if not applies(entry) or not any(in_mode(entry, mode) for mode in modes):
            return False
        subject, _, dtype, _ = entry.case.rsplit("/", 3)
        if subject == "once":
            return subject in subjects
        # What differs with any dtype need not do so with each: float32 is what says.
        which = "float32" if dtype == "*" else dtype
        return any(fnmatch.fnmatchcase(name, f"{subject}/{which}") for name in names)

    return [entry for entry in known if entry not in used and ran(entry)]


def above(findings: Iterable[Finding], modes: list[str]) -> list[str]:
    """Categories with more known differences than the file allows, in any one mode."""
    counted = Counter((f.mode, f.category) for f in findings if f.known is not None and not f.known.kernel)
    return [
        f"{mode}: {counted[mode, category]} known differences of category {category}, at most {most} are allowed"
        for mode in modes
        for category, most in MOST.items()
        if counted[mode, category] > most
    ]
