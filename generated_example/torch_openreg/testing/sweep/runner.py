# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Tasks in worker processes: what a crash or a hang takes along is one case.

The parent imports PyTorch's samples and forks workers before it has touched the device, which no fork outlives.
"""

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from . import PREFIX, cases
from .cases import Selection, Task
from .compare import Difference, check

START = "fork"  # of workers, as multiprocessing has it
GIVE_UP = 12  # crashes and hangs of one task


class Orphaned(Exception):
    """The parent has ended. Its pipe doesn't show it: workers that were forked later hold its other end as well."""


def work(task: Task, selection: Selection, skipped: set[str], report: Callable[[Any], None]) -> dict[str, Any]:
    """Runs a task; what it found."""
    counts: Counter[str] = Counter()
    found = []
    try:
        for case in cases.cases(task, selection):
            if case.name in skipped:
                continue
            report(case.name)
            difference = check(case.call, case.seed, lambda: report("device"))
            counts[case.name.rsplit("/", 3)[1]] += 1
            if difference is not None:
                found.append((case.name, *difference))
    except (Orphaned, BrokenPipeError):
        raise
    except Exception:  # samples that PyTorch can't make, or a variant's own error
        text = " ".join(traceback.format_exc(limit=-2).split())
        found.append((f"{task.subject}/samples/{task.dtype}/0", "structure", text[-400:]))
    return {"counts": dict(counts), "found": found}


def serve(pipe: Connection, selection: Selection, log_file: str) -> None:
    """A worker: receives tasks with the cases to leave out, sends names of cases and what was found."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = os.open(log_file, os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faulthandler.enable()
    torch.set_num_threads(1)
    if os.environ.get(f"{PREFIX}_SWEEP_DETERMINISTIC"):
        torch.use_deterministic_algorithms(True)
    parent = os.getppid()

    def look() -> None:
        if os.getppid() != parent:
            raise Orphaned

    def report(name: str) -> None:
        look()
        pipe.send(("case", name))

    with contextlib.suppress(EOFError, BrokenPipeError, Orphaned):
        while True:
            while not pipe.poll(1):
                look()
            task, skipped = pipe.recv()
            os.ftruncate(log, 0)
            pipe.send(("done", work(task, selection, skipped, report)))


class Worker:
    def __init__(self, selection: Selection) -> None:
        self.log = tempfile.NamedTemporaryFile(buffering=0)  # noqa: SIM115  (lives as long as the worker)
        self.pipe, child = multiprocessing.Pipe()
        context = multiprocessing.get_context(START)
        self.process = context.Process(target=serve, args=(child, selection, self.log.name), daemon=True)
        self.process.start()
        child.close()
        self.task: Task | None = None
        self.case = ""
        self.on_device = False
        self.heard = time.monotonic()

    def give(self, task: Task, skipped: set[str]) -> None:
        self.task, self.case, self.heard = task, "", time.monotonic()
        self.pipe.send((task, skipped))

    def last_words(self) -> str:
        """What a worker wrote at its end, without the frames of Python that all have in common."""
        self.log.seek(0)
        lines = self.log.read()[-20000:].decode(errors="replace").splitlines()
        kept = [line.strip() for line in lines if line.strip() and "/lib/python" not in line]
        return " | ".join(kept[:6])[:400]

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.log.close()


def overdue(worker: Worker, timeout: float) -> bool:
    return time.monotonic() - worker.heard > timeout


def run(
    tasks: list[Task], selection: Selection, jobs: int, timeout: float, beat: Callable[[], None] = lambda: None
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Each task with what was found, in the order in which they end."""
    waiting = list(reversed(tasks))
    lost: dict[Task, dict[str, Difference]] = {}
    workers: list[Worker] = []

    def next_task(worker: Worker) -> None:
        worker.task = None
        if waiting:
            task = waiting.pop()
            worker.give(task, set(lost.get(task, ())))

    def ended(worker: Worker, category: str) -> Iterator[tuple[Task, dict[str, Any]]]:
        """A worker that crashed or hangs: another one does the rest of its task."""
        task, case = worker.task, worker.case or f"{worker.task.subject}/samples/{worker.task.dtype}/0"
        if category == "crash":
            worker.process.join()
            where = "" if worker.on_device else "on the CPU, "
            detail = f"{where}the process ended with {worker.process.exitcode}: {worker.last_words()}"
        else:
            detail = f"no answer within {timeout:g} s"
        worker.end()
        workers.remove(worker)
        lost.setdefault(task, {})[case] = Difference(category, detail)
        if len(lost[task]) < GIVE_UP and worker.case:
            waiting.append(task)
        else:
            found = [(name, *difference) for name, difference in lost[task].items()]
            yield task, {"counts": {}, "found": found, "given_up": True}

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        while waiting or any(worker.task for worker in workers):
            while waiting and len(workers) < jobs:
                workers.append(Worker(selection))
                next_task(workers[-1])
            ready = set(wait([worker.pipe for worker in workers if worker.task], timeout=0.5))
            for worker in list(workers):
                if worker.pipe in ready:
                    try:
                        kind, message = worker.pipe.recv()
                    except (EOFError, ConnectionResetError):
                        yield from ended(worker, "crash")
                        continue
                    worker.heard = time.monotonic()
                    if kind == "case":
                        worker.on_device = message == "device"
                        worker.case = worker.case if worker.on_device else message
                        continue
                    task = worker.task
                    message["found"] += [(name, *found) for name, found in lost.get(task, {}).items()]
                    next_task(worker)
                    yield task, message
                elif worker.task and overdue(worker, timeout):
                    yield from ended(worker, "hang")
                elif not worker.task and waiting:
                    next_task(worker)
            beat()
    finally:
        for worker in workers:
            worker.end()
