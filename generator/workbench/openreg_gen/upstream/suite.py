"""In a worker: imports a test file, names its tests, and runs some of them."""

import importlib.util
import sys
import time
import unittest
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..device import open_device
from ..workers import Report
from . import configure, native, on_instantiation, triage
from .files import CLASSES

IMPORT_SECONDS = 900.0  # test_ops.py makes some 30,000 tests
NAME_OF_IMPORT = "import"


class Test(NamedTuple):
    """A test: the class in the source and the method that was made; `made` is the class that PyTorch made for the device."""

    group: str
    name: str
    origin: str  # the method in the source
    made: str
    hardware: str

    @property
    def key(self) -> str:
        return f"{self.group}::{self.name}"


class Task(NamedTuple):
    """Some tests of a file; with None, it is imported and its tests are named."""

    file: str
    path: str
    tests: tuple[Test, ...] | None = None


class Row(NamedTuple):
    """The outcome of a test."""

    state: str  # passed, failed, skipped
    category: str  # of a failure
    detail: str  # the first line of an error, or the reason of a skip
    seconds: float


@dataclass(frozen=True)
class SuitePlan:
    """The work of a run's workers. Only they import test files."""

    device: str
    package: str | None
    root: str  # the folder of tests
    only_native: bool = False
    cuda: bool = False
    start: str = "spawn"  # the process of a file has nothing of another file's
    give_up: int = 0

    def group(self, task: Task) -> str:
        return task.file

    def first(self, task: Task) -> str:
        return NAME_OF_IMPORT

    def open(self) -> None:
        open_device(self.device, self.package)
        sys.argv = ["upstream"]  # common_utils parses it

    def work(self, task: Task, skipped: set[str], report: Report) -> dict[str, Any]:
        report.case(NAME_OF_IMPORT, IMPORT_SECONDS)
        report.on_device()
        try:
            suite = _suite(self, task)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            detail = triage.first_line(error)
            if isinstance(error, unittest.SkipTest):
                return {"skipped_file": detail}
            return {"broken": detail}
        if task.tests is None:
            return {"tests": suite.tests}
        suite.run([test for test in task.tests if test.key not in skipped], report)
        return {}


_loaded: dict[str, "Suite"] = {}


def _suite(plan: SuitePlan, task: Task) -> "Suite":
    if task.file not in _loaded:
        configure(plan.device, native(plan.device) if plan.only_native else None, plan.cuda, exclude=False)
        _loaded[task.file] = Suite(Path(task.path), Path(plan.root))
    return _loaded[task.file]


class Suite:
    """A test file that was imported, and the tests that it has for the device."""

    def __init__(self, path: Path, root: Path) -> None:
        from torch.testing._internal import common_utils

        self.path = str(path)
        origins: dict[tuple[str, str], tuple[str, str]] = {}

        def seen(cls: Any, made: str, source: str, test: str) -> None:
            origins[cls.__name__, made] = (source, test)

        on_instantiation(seen)
        common_utils.parse_cmd_line_args()
        sys.path[:0] = [str(path.parent), str(root)]
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        self.classes = {
            name: each
            for name, each in vars(module).items()
            if isinstance(each, type) and issubclass(each, unittest.TestCase)
        }
        self.tests = [
            Test(origins[made, name][0], name, origins[made, name][1], made, _hardware(self.classes[made]))
            for made, name in sorted(origins)
            if made in self.classes and callable(getattr(self.classes[made], name, None))
        ]

    def run(self, tests: Iterable[Test], report: Report) -> None:
        by_class: dict[str, list[Test]] = {}
        for test in tests:
            by_class.setdefault(test.made, []).append(test)
        for made, chosen in by_class.items():
            result = Result({test.name: test.key for test in chosen}, self.path, report)
            unittest.TestSuite(self.classes[made](test.name) for test in chosen).run(result)
            result.rest(chosen)


def _hardware(made: type) -> str:
    """The name of a class's hardware classification, of releases that have them."""
    return getattr(getattr(made, CLASSES, None), "name", "")


class Result(unittest.TestResult):
    """Reports each test as it ends."""

    def __init__(self, keys: dict[str, str], path: str, report: Report) -> None:
        super().__init__()
        self.keys, self.path, self.report = keys, path, report
        self.said: set[str] = set()
        self.last = ""
        self.now: Row | None = None
        self.begun = 0.0
        self.broken: Row | None = None  # a class's own error

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.now, self.begun = None, time.monotonic()
        self.report.case(self._key(test))
        self.report.on_device()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        row = self.now or Row("passed", "", "", 0)
        self._say(self._key(test), row._replace(seconds=round(time.monotonic() - self.begun, 3)))

    def _key(self, test: unittest.TestCase) -> str:
        return self.keys.get(test._testMethodName, test._testMethodName)

    def _say(self, key: str, row: Row) -> None:
        self.said.add(key)
        self.last = key
        self.report.row(key, row)

    def _failed(self, test: Any, failure: Any) -> None:
        error = triage.root(failure[1])
        row = Row("failed", triage.categorize(error, triage.lines_of(error, self.path)), triage.first_line(error), 0)
        if not isinstance(test, unittest.TestCase):  # setUpClass, or tearDownClass
            self.broken = row._replace(category="import" if row.category == "other" else row.category)
            if self.last:  # it is the last test's then, and fails it
                self._say(self.last, row._replace(detail=f"tearDownClass: {row.detail}"))
        elif self.now is None or self.now.state != "failed":
            self.now = row

    def addError(self, test: Any, err: Any) -> None:
        self._failed(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        self._failed(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._failed(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        row = Row("skipped", "", reason, 0)
        if isinstance(test, unittest.TestCase):
            self.now = self.now or row
        else:
            self.broken = row

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self.now = Row("passed", "", "", 0)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.now = Row("failed", "other", "the test is marked as an expected failure by PyTorch, and passed", 0)

    def rest(self, tests: Iterable[Test]) -> None:
        """Tests that never began: their class could not be set up."""
        row = self.broken or Row("skipped", "", "the class was skipped", 0)
        for test in tests:
            if test.key not in self.said:
                self._say(test.key, row)
