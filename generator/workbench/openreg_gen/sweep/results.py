"""The results file, one line of JSON per task, and the differences found in it."""

import hashlib
import json
import pathlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from ..device import module
from ..served import FALLBACK, PARTS, fallback_line
from ..testing import opinfos
from . import reached
from .cases import Selection, Task
from .known import KnownDifference, KnownDifferences, covers

SCHEMA = 2
STATES = ("new", "same", "known")


class Finding(NamedTuple):
    """A case that differs, in one mode."""

    mode: str
    case: str
    category: str
    detail: str
    known: KnownDifference | None
    old: bool = False  # whether it differed in the same way in the baseline

    @property
    def state(self) -> str:
        return "known" if self.known is not None else "same" if self.old else "new"

    @property
    def subject(self) -> str:
        return self.case.rsplit("/", 3)[0]

    @property
    def variant(self) -> str:
        return self.case.rsplit("/", 3)[1]


def named(what: Any) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]


def fingerprint(device: str, selection: Selection) -> str:
    """A name for what was asked for."""
    return named([SCHEMA, device, torch.__version__, selection])


def build_of(device: str) -> str:
    """A name for the files of the backend's package, which another build changes. The same always for the CPU, and where the device's
    module belongs to no package."""
    name = getattr(module(device), "__name__", "").partition(".")[0]
    folders = getattr(sys.modules.get(name), "__path__", ()) if name != "torch" else ()
    files = (path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.suffix in (".so", ".py"))
    paths = [path for path in files if path.name != "known.py"]  # by which results are judged, after the sweep
    return named(sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths))


def is_foreign(path: pathlib.Path) -> bool:
    """Whether a file is there that no sweep wrote: it must neither be removed nor added to."""
    if not path.exists():
        return False
    try:
        with path.open() as file:
            row = json.loads(file.readline() or "{}")  # an empty file serves
    except (OSError, ValueError):
        return True
    return not isinstance(row, dict) or (bool(row) and "selection" not in row)


class Results:
    """The findings so far, of this build of the backend. A line that a killed run left half written is ignored."""

    def __init__(self, path: pathlib.Path, device: str, selection: Selection) -> None:
        self.path = path
        self.device = device
        self.selection = fingerprint(device, selection)
        self.build = build_of(device)
        self.rows: dict[tuple[str, Task], dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                self._take(line)
        path.parent.mkdir(parents=True, exist_ok=True)

    def _take(self, line: str) -> None:
        try:
            row = json.loads(line)
        except ValueError:
            return
        if isinstance(row, dict) and (row.get("selection"), row.get("build")) == (self.selection, self.build):
            self.rows[row["mode"], Task(row["subject"], row["dtype"])] = row

    def done(self, mode: str) -> set[Task]:
        return {task for its_mode, task in self.rows if its_mode == mode}

    def add(self, mode: str, task: Task, outcome: Mapping[str, Any]) -> None:
        head = {"schema": SCHEMA, "selection": self.selection, "build": self.build, "device": self.device}
        row = {**head, "mode": mode, **task._asdict(), **outcome}
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.rows[mode, task] = row

    def findings(self, known: KnownDifferences, modes: Iterable[str]) -> Iterator[Finding]:
        wanted = set(modes)
        for (mode, _), row in self.rows.items():
            for case, category, detail in row["found"] if mode in wanted else ():
                yield Finding(mode, case, category, detail, known.find(mode, case, category))

    def counts(self, modes: Iterable[str]) -> Counter[str]:
        """Cases by variant."""
        return self._counted(modes, lambda row: row["counts"])

    def subjects(self, modes: Iterable[str]) -> Counter[str]:
        """Cases by subject."""
        return self._counted(modes, lambda row: {row["subject"]: sum(row["counts"].values())})

    def kernels(self, modes: Iterable[str]) -> set[str] | None:
        """The backend's kernels that ran; None if a task does not say so. One that was given up after crashes has no say."""
        wanted = set(modes)
        rows = [row for (mode, _), row in self.rows.items() if mode in wanted and ("kernels" in row or row["counts"])]
        if not rows or any("kernels" not in row for row in rows):
            return None
        return {name for row in rows for name in row["kernels"]}

    def computed_by(self, modes: Iterable[str]) -> dict[str, str]:
        """The code that computed each subject (reached.by_whom), if that is known."""
        wanted, found = set(modes), {}
        rows: dict[str, list[dict[str, Any]]] = {}
        for (mode, _), row in self.rows.items():
            if mode in wanted and row["counts"]:
                rows.setdefault(row["subject"], []).append(row)
        for subject, listed in rows.items():
            if all("fell_back" in row for row in listed):
                kernels, fell_back = ({op for row in listed for op in row[name]} for name in ("kernels", "fell_back"))
                found[subject] = reached.by_whom(opinfos.database().get(subject), kernels, fell_back)
        return {subject: whom for subject, whom in found.items() if whom != PARTS}

    def _counted(self, modes: Iterable[str], count: Any) -> Counter[str]:
        wanted = set(modes)
        total: Counter[str] = Counter()
        for (mode, _), row in self.rows.items():
            if mode in wanted:
                total.update(count(row))
        return total


def fallback_of(device: str, computed_by: Mapping[str, str]) -> str:
    """How many of these subjects the CPU fallback computed; "" if there is none."""
    return fallback_line(device, list(computed_by.values()).count(FALLBACK), len(computed_by))


def stale(
    known: Iterable[KnownDifference], findings: list[Finding], tasks: list[Task], modes: list[str]
) -> list[KnownDifference]:
    """Entries whose cases were all run, and no longer differ."""
    used = {finding.known for finding in findings}
    subjects = {task.subject for task in tasks}
    names = [f"{task.subject}/{task.dtype}" for task in tasks]

    def ran(entry: KnownDifference) -> bool:
        if not entry.applies() or not any(entry.is_in(mode) for mode in modes):
            return False
        subject, _, dtype, _ = entry.case.rsplit("/", 3)
        if subject == "once":
            return subject in subjects
        # What differs with any dtype need not do so with each: float32 is what says.
        which = "float32" if dtype == "*" else dtype
        return any(covers(f"{subject}/{which}", name) for name in names)

    return [entry for entry in known if entry not in used and ran(entry)]


def above(findings: Iterable[Finding], most: Mapping[str, int], modes: list[str]) -> list[str]:
    """Categories with more known differences than the backend allows, in any one mode."""
    counted = Counter((f.mode, f.category) for f in findings if f.known is not None and not f.known.kernel)
    return [
        f"{mode}: {counted[mode, category]} known differences of category {category}, at most {allowed} are allowed"
        for mode in modes
        for category, allowed in most.items()
        if counted[mode, category] > allowed
    ]
