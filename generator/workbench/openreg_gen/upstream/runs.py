"""The runs of `upstream --discover`: a folder with the unfinished run, all that ended, and how the last differs from others.

DIR/run.jsonl        the run that is under way, for --resume
DIR/runs/0001.json   each run that ended
DIR/results.json     the last of them
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .suite import Row, Task, Test

SCHEMA = 1
LOOK_BACK = 5  # runs in which a flaky test shows
FAILED, PASSED, SKIPPED, EXCLUDED, FLAKY, NOT_RUN = "failed", "passed", "skipped", "excluded", "flaky", "not run"


class RunError(ValueError):
    """A file that is not a run's results; the text says which."""


class Outcome(NamedTuple):
    """A test of a run."""

    file: str
    group: str
    name: str
    origin: str
    state: str  # passed, failed, skipped, flaky; with a reason: excluded, and what it did nevertheless is in `did`
    category: str = ""
    detail: str = ""
    seconds: float = 0.0
    reason: str = ""  # of its exclusion
    did: str = ""  # of an excluded test: passed, failed, skipped, or "" if it was not run

    @property
    def id(self) -> str:
        return "::".join(filter(None, (self.file, self.group, self.name)))


@dataclass
class Run:
    """A run and its tests."""

    head: dict[str, Any]
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_id = {outcome.id: outcome for outcome in self.outcomes}

    @property
    def title(self) -> str:
        return f"run {self.head['number']} of {self.head['date'][:16].replace('T', ' ')}"

    def states(self) -> Counter[str]:
        return Counter(outcome.state for outcome in self.outcomes)

    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.state == FAILED]

    def counts(self) -> dict[str, dict[str, int]]:
        """File -> category -> failed tests; and how many passed."""
        found: dict[str, Counter[str]] = {}
        for outcome in self.outcomes:
            counted = found.setdefault(outcome.file, Counter())
            counted[outcome.category if outcome.state == FAILED else outcome.state] += 1
        return {file: dict(counted) for file, counted in found.items()}

    def document(self) -> dict[str, Any]:
        """The JSON document: `tests` has an object per test, without members that are empty."""
        tests = [{key: value for key, value in outcome._asdict().items() if value} for outcome in self.outcomes]
        return {"schema_version": SCHEMA, **self.head, "states": dict(self.states()), "tests": tests}


def load(path: Path) -> Run:
    """A run from results.json, or from a folder that has one. Raises RunError."""
    path = path / "results.json" if path.is_dir() else path
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        tests = document.pop("tests")
        if document.pop("schema_version") != SCHEMA:
            raise ValueError("it has another schema_version")
        return Run(document, [Outcome(**{"group": "", "origin": "", **test}) for test in tests])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{path}: not the results.json of a run: {error}") from error


class Comparison(NamedTuple):
    """How a run differs from another one, in tests that both have."""

    before: Run
    new: list[Outcome]
    fixed: list[Outcome]
    flaky: list[Outcome]
    both: int


def compare(now: Run, before: Run, earlier: Iterable[Run] = ()) -> Comparison:
    """`earlier`: runs before that. A test that changed more than once in them is flaky, and not new or fixed."""
    runs = [*earlier, before, now]
    new, fixed, flaky = [], [], []
    both = [outcome for outcome in now.outcomes if outcome.id in before.by_id]
    for outcome in both:
        was = before.by_id[outcome.id]
        if outcome.state == FLAKY or _changes(outcome.id, runs) > 1:
            flaky.append(outcome)
        elif outcome.state == FAILED and was.state != FAILED:
            new.append(outcome)
        elif was.state == FAILED and outcome.state == PASSED:
            fixed.append(outcome)
    return Comparison(before, new, fixed, flaky, len(both))


def _changes(test: str, runs: Iterable[Run]) -> int:
    found = [run.by_id[test] for run in runs if test in run.by_id]
    states = [(outcome.did or outcome.state) for outcome in found]
    states = [state for state in states if state in (PASSED, FAILED)]
    return sum(one != other for one, other in zip(states, states[1:], strict=False))


class Folder:
    """The folder of results."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "run.jsonl"

    def is_foreign(self) -> bool:
        """Whether the folder has files, but none of ours: results.json and index.html would be written over."""
        ours = self.journal.exists() or (self.path / "runs").is_dir()
        return self.path.is_dir() and not ours and any(self.path.iterdir())

    def numbers(self) -> list[int]:
        return sorted(int(file.stem) for file in (self.path / "runs").glob("*.json") if file.stem.isdigit())

    def run(self, number: int) -> Run:
        return load(self.path / "runs" / f"{number:04}.json")

    def save(self, run: Run) -> None:
        text = json.dumps(run.document(), ensure_ascii=False)
        (self.path / "runs").mkdir(parents=True, exist_ok=True)
        for file in (self.path / "runs" / f"{run.head['number']:04}.json", self.path / "results.json"):
            file.write_text(text + "\n", encoding="utf-8")


def fingerprint(what: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([SCHEMA, what], sort_keys=True).encode()).hexdigest()[:12]


class Journal:
    """The run that is under way. A line that a killed run left half written is ignored."""

    def __init__(self, path: Path, key: str, resume: bool) -> None:
        self.path = path
        self.tests: dict[str, list[Test]] = {}  # by file
        self.rows: dict[str, dict[str, Row]] = {}
        self.second: dict[str, dict[str, Row]] = {}  # of the second try
        lines = list(self._lines()) if resume else []
        self.resumed = bool(lines) and lines[0].get("key") == key
        if self.resumed:
            for line in lines[1:]:
                self._take(line)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")

    def _lines(self) -> Iterator[dict[str, Any]]:
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row

    def _take(self, line: dict[str, Any]) -> None:
        if "tests" in line:
            self.tests[line["file"]] = [Test(*test) for test in line["tests"]]
        kept = self.second if line.get("second") else self.rows
        kept.setdefault(line["file"], {}).update({key: Row(*row) for key, row in line.get("rows", {}).items()})

    def add(self, file: str, second: bool = False, **what: Any) -> None:
        line = json.loads(json.dumps({"file": file, "second": second, **what}))
        with self.path.open("a", encoding="utf-8") as written:
            written.write(json.dumps(line) + "\n")
        self._take(line)

    def end(self) -> None:
        self.path.unlink()


def chunks(file: str, path: str, tests: list[Test], size: int) -> list[Task]:
    return [Task(file, path, tuple(tests[i : i + size])) for i in range(0, len(tests), size)]
