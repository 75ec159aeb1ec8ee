"""`openreg-gen upstream --discover`: all of PyTorch's test files for devices, in worker processes."""

import argparse
import datetime
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from .. import command, protocol, workers
from ..device import DeviceError
from ..progress import Progress
from . import files, report, runs, triage
from .exclusions import Exclusion, ExclusionError, Exclusions, read, write
from .files import Choice, TestFile
from .runs import Comparison, Folder, Journal, Outcome, Run, RunError
from .suite import NAME_OF_IMPORT, Row, SuitePlan, Task, Test

CHUNK = 50  # tests that a worker gets at once
CATEGORY_OF_LOSS = {"crash": triage.CRASH, "hang": triage.TIME_OUT}


class Discovery:
    """One run of the command: its arguments, and what follows from them."""

    def __init__(self, given: argparse.Namespace, kind: str) -> None:
        self.given, self.kind = given, kind
        self.folder = Folder(given.out or Path(f"upstream-{kind}"))
        if self.folder.is_foreign():
            command.fail(f"{self.folder.path}: has files that are not results", "name an empty folder with --out")
        self.choice = Choice(given.select, given.shard)
        self.exclusions = Exclusions(self._exclusions())
        self.against = runs.load(given.baseline) if given.baseline else None
        self.numbers = self.folder.numbers()

    def _exclusions(self) -> list[Exclusion]:
        if self.given.exclusions is not None:
            return read(self.given.exclusions)
        place = f"torch.{self.kind}._workbench.excluded"
        return [Exclusion(group, test, reason, place) for group, test, reason in protocol.of(self.kind).excluded]

    def main(self) -> int:
        earlier = [self.folder.run(number) for number in self.numbers]
        if self.given.last:
            if not earlier:
                command.fail(f"{self.folder.path}: no run has ended there", "leave --last out, and there will be one")
            run = earlier.pop()
            run = Run(run.head, [self._judged(outcome) for outcome in run.outcomes])
        elif self.given.merge:
            run = self._merged()
        else:
            run = self._made(earlier[-1] if earlier else None)
        compared = runs.compare(run, earlier[-1], earlier[-runs.LOOK_BACK : -1]) if earlier else None
        return self._tell(run, compared, earlier)

    def _made(self, before: Run | None) -> Run:
        checkout = self.given.discover
        if not checkout.is_dir():
            command.fail(f"{checkout}: no such folder", "clone PyTorch at the tag of your release, and name the clone")
        root = files.folder_of_tests(checkout).resolve()
        found = files.discover(checkout)
        self.choice = self.choice.among(file.name for file in found)
        found = [file for file in found if self.choice.file(file.name)]
        if not found:
            hint = "name a checkout of PyTorch, or the folder with its tests; --select takes file or test names"
            command.fail(f"{checkout}: no file there calls {files.INSTANTIATE}", hint)
        hardware = self._hardware(found)
        found = [file for file in found if not hardware or file.of_hardware(hardware)]
        has, installed = files.release(checkout), ".".join(torch.__version__.split(".")[:2])
        if has and has != installed:
            print(f"warning: the tests are PyTorch {has}'s, and PyTorch {installed} is installed", file=sys.stderr)
        what = {
            "device": self.kind,
            "torch": torch.__version__,
            "checkout": str(checkout.resolve()),
            "release": has,
            "hardware": hardware,
            "select": self.given.select,
            "shard": list(self.given.shard),
            "native": self.given.native,
            "cuda": self.given.cuda,
        }
        if self.folder.journal.exists() and not self.given.resume:
            print(
                f"note: the unfinished run in {self.folder.path} is given up; --resume would go on with it",
                file=sys.stderr,
            )
        journal = Journal(self.folder.journal, runs.fingerprint(what), self.given.resume)
        if self.given.resume and not journal.resumed:
            print("note: no unfinished run has these options, so this one starts anew", file=sys.stderr)
        plan = SuitePlan(self.kind, self.given.package, str(root), self.given.native, self.given.cuda)
        begun = time.monotonic()
        Work(self, plan, journal, found, hardware).run(before)
        seconds = round(time.monotonic() - begun, 1)
        head = {"number": self._number(), "date": datetime.datetime.now().isoformat(timespec="seconds"), **what}
        run = Run({**head, "seconds": seconds}, list(self._outcomes(journal, found)))
        self.folder.save(run)
        journal.end()
        return run

    def _number(self) -> int:
        return self.numbers[-1] + 1 if self.numbers else 1

    def _hardware(self, found: Iterable[TestFile]) -> list[str]:
        wanted = list(self.given.hw_classification)
        if wanted and not any(hardware for file in found for _, hardware in file.classes):
            text = f"no test class below {self.given.discover} says what hardware it is for"
            command.fail(text, "leave --hw-classification out: PyTorch has it in releases after 2.13")
        return wanted

    def _outcomes(self, journal: Journal, found: Iterable[TestFile]) -> Iterable[Outcome]:
        for file in found:
            rows, second = journal.rows.get(file.name, {}), journal.second.get(file.name, {})
            if NAME_OF_IMPORT in rows:
                row = rows[NAME_OF_IMPORT]
                yield Outcome(file.name, "", NAME_OF_IMPORT, "", row.state, row.category, row.detail, row.seconds)
            for test in journal.tests.get(file.name, ()):
                got = rows.get(test.key)
                base = Outcome(file.name, test.group, test.name, test.origin, runs.NOT_RUN)
                if got is not None:
                    base = base._replace(state=got.state, category=got.category, detail=got.detail, seconds=got.seconds)
                if test.key in second and second[test.key].state == runs.PASSED:
                    base = base._replace(state=runs.FLAKY)
                yield self._judged(base)

    def _judged(self, outcome: Outcome) -> Outcome:
        """Under the exclusions of now."""
        did = outcome.did or (runs.NOT_RUN if outcome.state == runs.EXCLUDED else outcome.state)
        excluded = self.exclusions.find(outcome.group, outcome.name, outcome.origin)
        if excluded is None:
            return outcome._replace(state=did, reason="", did="")
        did = "" if did == runs.NOT_RUN else did
        return outcome._replace(state=runs.EXCLUDED, reason=excluded.reason, did=did)

    def _merged(self) -> Run:
        parts = [runs.load(folder) for folder in self.given.merge]
        head = {**parts[0].head, "number": self._number(), "shard": [1, 1]}
        if odd := next((part for part in parts if part.head["torch"] != head["torch"]), None):
            command.fail(f"shards of PyTorch {head['torch']} and {odd.head['torch']}", "merge shards of one run")
        head["seconds"] = sum(part.head["seconds"] for part in parts)
        run = Run(head, [outcome for part in parts for outcome in part.outcomes])
        self.folder.save(run)
        return run

    def _tell(self, run: Run, compared: Comparison | None, earlier: list[Run]) -> int:
        against = runs.compare(run, self.against) if self.against else None
        stale = self._stale(run)
        say = print if self.given.json != "-" else lambda _: None
        say(report.text(run, compared, against, stale, self.given.limit))
        folder = self.folder.path
        (folder / "junit.xml").write_text(report.junit(run), encoding="utf-8")
        page = report.page([*earlier, run], compared, against, stale)
        (folder / "index.html").write_text(page, encoding="utf-8")
        say(f"{folder}/results.json, {folder}/junit.xml, {folder}/index.html")
        if self.given.json is not None:
            command.put(self.given.json, (folder / "results.json").read_text(encoding="utf-8").rstrip())
        failures = run.failures()
        if self.given.write_exclusions:
            self._write(run)
        elif failures:
            again = f"{command.program('upstream')} --device {self.kind} --last --out {folder}"
            print(f"Next: fix one of them; or {again} --exclusions FILE.yaml --write-exclusions --reason 'why'")
        return command.Exit.NO if failures or stale else command.Exit.DONE

    def _stale(self, run: Run) -> list[Exclusion]:
        """Exclusions all of whose tests that ran pass."""
        did: dict[Exclusion, set[str]] = {}
        for outcome in run.outcomes:
            row = self.exclusions.find(outcome.group, outcome.name, outcome.origin)
            if row is not None and outcome.did:
                did.setdefault(row, set()).add(outcome.did)
        return [row for row, found in did.items() if runs.PASSED in found and runs.FAILED not in found]

    def _write(self, run: Run) -> None:
        path, choice = self.given.exclusions, self.choice.among({outcome.file for outcome in run.outcomes})
        chosen = [
            outcome
            for outcome in run.failures()
            if outcome.group
            and choice.file(outcome.file)
            and choice.test(outcome.file, outcome.group, outcome.name, outcome.origin)
            and (not self.given.category or outcome.category in self.given.category)
        ]
        rows = entries(run, chosen, self.given.reason or "")
        if not rows:
            print("nothing was added: no failure is left to exclude")
            return
        write(path, rows)
        print(f"{len(rows)} {'entry' if len(rows) == 1 else 'entries'} added to {path}")
        if not self.given.reason:
            print(f"Next: write each reason in {path}; a run with an empty one is refused")


def entries(run: Run, chosen: list[Outcome], reason: str) -> list[tuple[str, str, str]]:
    """Exclusions: (name, reason, comment). One for a method of the source if all its tests that ran fail, otherwise one for each."""
    passing = {(o.file, o.group, o.origin) for o in run.outcomes if o.state in (runs.PASSED, runs.FLAKY)}
    found: dict[str, tuple[str, str, str]] = {}
    for outcome in chosen:
        whole = (outcome.file, outcome.group, outcome.origin) not in passing
        name = f"{outcome.group}.{outcome.origin if whole else outcome.name}"
        found.setdefault(name, (name, reason, f"{outcome.category}: {outcome.detail}"))
    return list(found.values())


class Work:
    """The tasks of a run: each file is imported, which names its tests, and these are run."""

    def __init__(
        self, discovery: Discovery, plan: SuitePlan, journal: Journal, found: list[TestFile], hardware: list[str]
    ) -> None:
        self.discovery, self.plan, self.journal, self.found = discovery, plan, journal, found
        self.given, self.hardware = discovery.given, hardware
        self.tasks: list[Task] = []
        self.progress = Progress(plan.device, 0, "tests")
        self.failed = self.imported = 0

    def run(self, before: Run | None) -> None:
        for file in self.found:
            if file.name in self.journal.tests:
                self._add(file.name, str(file.path.resolve()), self.journal.tests[file.name], at_end=True)
            elif file.unreadable:
                self.journal.add(file.name, rows={NAME_OF_IMPORT: Row("failed", "import", file.unreadable, 0)})
            elif NAME_OF_IMPORT not in self.journal.rows.get(file.name, {}):
                self.tasks.append(Task(file.name, str(file.path.resolve())))
        self._through(second=False)
        if before is not None and not self.given.no_retry:
            self._second_try(before)

    def _through(self, second: bool) -> None:
        try:
            for task, outcome in workers.run(self.plan, self.tasks, self.given.jobs, self.given.timeout):
                self._take(task, outcome, second)
        finally:
            self.progress.end()

    def _take(self, task: Task, outcome: dict[str, Any], second: bool) -> None:
        rows = dict(outcome["rows"])
        for key, (category, detail) in outcome["lost"].items():
            rows[key] = Row("failed", CATEGORY_OF_LOSS[category], triage.last_words(detail, self.plan.root), 0)
        if "broken" in outcome:
            rows[NAME_OF_IMPORT] = Row("failed", "import", outcome["broken"], 0)
        if "skipped_file" in outcome:
            rows[NAME_OF_IMPORT] = Row("skipped", "", outcome["skipped_file"], 0)
        if task.tests is None:
            self.imported += 1
            if "tests" in outcome:
                tests = [test for test in outcome["tests"] if self._is_chosen(task.file, test)]
                self.journal.add(task.file, tests=tests)
                self._add(task.file, task.path, tests)
            else:
                self.journal.add(task.file, rows=rows)
                self.failed += rows[NAME_OF_IMPORT].state == "failed"
                self._step(task.file, 0)
            return
        lost = rows.pop(NAME_OF_IMPORT, None)  # the file could be imported before, and no longer
        if lost is not None:
            rows.update({test.key: lost for test in task.tests if test.key not in rows})
        self.journal.add(task.file, second, rows=rows)
        self.failed += sum(row[0] == "failed" for row in rows.values())
        self._step(task.file, len(task.tests))

    def _step(self, file: str, tests: int) -> None:
        left = len({task.file for task in self.tasks if task.tests is None})
        files_left = f", {left} files to import" if left else ""
        self.progress.step(file, f"{self.failed} failed{files_left}", tests)

    def _is_chosen(self, file: str, test: Test) -> bool:
        if self.hardware and test.hardware not in self.hardware:
            return False
        return self.discovery.choice.test(file, test.group, test.name, test.origin)

    def _add(self, file: str, path: str, tests: list[Test], at_end: bool = False) -> None:
        done = self.journal.rows.get(file, {})
        left = [
            test for test in tests if test.key not in done and not (self.given.skip_excluded and self._excluded(test))
        ]
        self.progress.total += len(left)
        place = len(self.tasks) if at_end else 0
        self.tasks[place:place] = runs.chunks(file, path, left, CHUNK)

    def _excluded(self, test: Test) -> bool:
        return self.discovery.exclusions.find(test.group, test.name, test.origin) is not None

    def _second_try(self, before: Run) -> None:
        """Tests that fail, and did not in the last run, run once more in a new process: those that pass are flaky."""
        for file in self.found:
            rows, done = self.journal.rows.get(file.name, {}), self.journal.second.get(file.name, {})
            again = [
                test
                for test in self.journal.tests.get(file.name, ())
                if test.key in rows
                and rows[test.key].state == "failed"
                and test.key not in done
                and not self._excluded(test)
                and (was := before.by_id.get(f"{file.name}::{test.key}")) is not None
                and was.state != runs.FAILED
            ]
            self.tasks += runs.chunks(file.name, str(file.path.resolve()), again, CHUNK)
        if self.tasks:
            self.progress = Progress("second try", sum(len(task.tests or ()) for task in self.tasks), "tests")
            self.failed = 0
            self._through(second=True)


def main(given: argparse.Namespace, kind: str) -> int:
    try:
        return Discovery(given, kind).main()
    except ExclusionError as error:
        command.fail("\nerror: ".join(str(error).splitlines()), error.hint)
    except RunError as error:
        command.fail(str(error), "name the results.json of a run, or the folder that has it")
    except (DeviceError, KeyboardInterrupt) as error:
        text = str(error) or "interrupted"
        command.fail(text, "the same command with --resume goes on from here", command.Exit.ENVIRONMENT)
