"""Runs many small jobs in child processes: a job that crashes or does not end costs that job, not the audit.

A child runs its jobs in order; after a crash, a new child starts. See `child`, which is the
program that runs there.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

CRASHED, HUNG, ENDED = "crashed", "hung", "ended"
PATIENCE = 3


class ChildError(RuntimeError):
    """A child ended before it began with its first job; the text is what it wrote last."""


@dataclass(frozen=True)
class Result:
    """What became of one job. answer: what the job returned, if it ended; else `message` says how the process died."""

    name: str
    how: str
    answer: Any = None
    message: str = ""


@dataclass(frozen=True)
class Limits:
    """Seconds: for a child to import PyTorch and the backend, and for one job."""

    start: float = 300.0
    job: float = 60.0


@dataclass(frozen=True)
class Jobs:
    """kind: what `child` knows the jobs by. device, package: as all tools take them."""

    kind: str
    device: str
    package: str | None = None
    limits: Limits = Limits()

    def command(self) -> list[str]:
        words = [sys.executable, "-m", "openreg_gen.audit.child", "--device", self.device, "--jobs", self.kind]
        return [*words, "--import", self.package] if self.package else words


def run(jobs: Jobs, names: Sequence[str], done: Callable[[Result], None] = lambda result: None) -> list[Result]:
    """Run jobs by their names, and hand each result to `done` as it comes.

    A job that took its process with it runs once more in a process of its own: only if it dies there, too, it is the one
    that crashes. So does a sample that did not end, with PATIENCE times the time: its kernel may have been compiled.
    Raises ChildError if no job can be begun.
    """
    results: list[Result] = []
    patient = replace(jobs, limits=replace(jobs.limits, job=jobs.limits.job * PATIENCE))

    def note(result: Result) -> None:
        results.append(result)
        done(result)

    left = list(names)
    while left:
        ended = 0
        for result in _run_child(jobs, left):
            ended += 1
            if result.how == CRASHED and len(left) > 1:
                result = _alone(jobs, result)
            elif result.how == HUNG and jobs.kind == "samples":
                result = _alone(patient, result)
            note(result)
        left = left[ended:]
    return results


def _alone(jobs: Jobs, first: Result) -> Result:
    (again,) = _run_child(jobs, [first.name])
    return again


def _run_child(jobs: Jobs, names: Sequence[str]) -> Iterator[Result]:
    """Results of one child, until all jobs ended or one took the process with it."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said, os.fdopen(reading, "rb", buffering=0) as answers:
        command = [*jobs.command(), "--answers", str(writing)]
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # what a backend prints there is not why it died
            stderr=said,
            pass_fds=[writing],
            env=_environment(),
            start_new_session=True,
        )
        os.close(writing)
        try:
            assert child.stdin is not None
            _give(child.stdin, names)
            yield from _read(child, answers, said, jobs.limits)
        finally:
            _end(child)


def _environment() -> dict[str, str]:
    """The child finds this package where the parent has it. One thread each: children run side by side."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    others = os.environ.get("PYTHONPATH")
    return {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": root + (os.pathsep + others if others else "")}


def _give(stdin: IO[bytes], names: Sequence[str]) -> None:
    try:
        stdin.write(json.dumps(list(names)).encode())
        stdin.close()
    except BrokenPipeError:  # it is dead already, which reading its answers shows
        pass


def _read(child: "subprocess.Popen[bytes]", answers: IO[bytes], said: IO[bytes], limits: Limits) -> Iterator[Result]:
    current: str | None = None
    part = ""  # of the job, which the child names: a dtype
    for line in _lines(answers, limits):
        if line is None:
            if current is None:
                raise ChildError(f"a child process did not begin within {limits.start:g} s{_last_words(said)}")
            yield Result(current, HUNG, message=f"{part}no end within {limits.job:g} s")
            return
        message = json.loads(line)
        if "begin" in message:
            current, part = message["begin"], ""
        elif "at" in message:
            part = f"{message['at']}: "
        elif "all" in message:
            return
        else:
            yield Result(message["end"], ENDED, message["answer"])
    code = child.wait()
    if current is None:
        raise ChildError(f"a child process {_death(code)} before its first job{_last_words(said)}")
    yield Result(current, CRASHED, message=part + _death(code) + _last_words(said))


def _lines(answers: IO[bytes], limits: Limits) -> Iterator[bytes | None]:
    """Lines as they come; None if none came in time, after which nothing is read."""
    with selectors.DefaultSelector() as selector:
        selector.register(answers, selectors.EVENT_READ)
        rest = b""
        end = time.monotonic() + limits.start
        while True:
            if not selector.select(max(0.0, end - time.monotonic())):
                yield None
                return
            read = os.read(answers.fileno(), 1 << 16)
            if not read:
                return
            *lines, rest = (rest + read).split(b"\n")
            yield from lines
            end = time.monotonic() + limits.job


def _death(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _last_words(said: IO[bytes]) -> str:
    said.seek(0)
    lines = [line.strip() for line in said.read().decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line or "terminate" in line or "what()" in line]
    last = (errors or lines)[-1:]
    return f": {last[0][:300]}" if last else ""


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Kill the child with whatever it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
