"""Tasks in worker processes: a crash or a hang costs one case.

Where a backend says "fork", the parent imports PyTorch's samples and forks workers before it has used the device, since a child
can't use one that its parent used. Elsewhere workers start anew and import the samples themselves.
"""

import contextlib
import faulthandler
import gc
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

from ..device import DeviceError, count, open_device
from . import cases
from .cases import Selection, Task
from .compare import Call, Difference, check
from .context import Context, enter

GIVE_UP = 12  # crashes and hangs of one task
COLLECT = 32  # cases between two collections of garbage


class ParentEnded(Exception):
    """The parent has ended. Its pipe doesn't show it: workers that were forked later hold its other end as well."""


def devices_for(call: Call) -> int:
    """How many devices a call wants."""
    return 1 + max(call.device, call.current, 1 if call.elsewhere else 0)


def collect() -> None:
    """Frees what cases left in reference cycles. Fake tensors that raise leave a block suspended that sets the dispatcher's state back
    when it is freed: in the midst of a later case, autograd was off for the rest of the worker's life, on the CPU, too, and nothing
    differed. So garbage is collected here only, and the state is kept."""
    with torch._C._PreserveDispatchKeyGuard():  # type: ignore[attr-defined]
        gc.collect()
    gc.freeze()  # what lives on isn't looked at again


def work(
    context: Context, task: Task, selection: Selection, skipped: set[str], report: Callable[[str], None]
) -> dict[str, Any]:
    """Runs a task: how many cases of each variant ran, and those that differ. A case that wants more devices than there are
    is left out."""
    counts: Counter[str] = Counter()
    found: list[tuple[str, str, str]] = []
    there = count(context.device)
    try:
        for case in cases.cases(task, selection):
            if case.name in skipped or devices_for(case.call) > there:
                continue
            report(case.name)
            if sum(counts.values()) % COLLECT == 0:
                collect()
            difference = check(case.call, case.seed, context.place(case.call.device), lambda: report("device"))
            counts[case.name.rsplit("/", 3)[1]] += 1
            if difference is not None:
                found.append((case.name, *difference))
    except (ParentEnded, BrokenPipeError):
        raise
    except Exception:  # samples that PyTorch can't make, or a variant's own error
        text = " ".join(traceback.format_exc(limit=-2).split())
        found.append((f"{task.subject}/samples/{task.dtype}/0", "structure", text[-400:]))
    return {"counts": dict(counts), "found": found}


def serve(pipe: Connection, context: Context, selection: Selection, log_file: str) -> None:
    """A worker: receives tasks with the cases to leave out, sends names of cases and what was found. A device that does not
    answer is all that it sends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = os.open(log_file, os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faulthandler.enable()
    torch.set_num_threads(1)
    enter(context)
    parent = os.getppid()

    def look() -> None:
        if os.getppid() != parent:
            raise ParentEnded

    def report(name: str) -> None:
        look()
        pipe.send(("case", name))

    with contextlib.suppress(EOFError, BrokenPipeError, ParentEnded):
        try:
            open_device(context.device, context.package)
        except DeviceError as error:
            pipe.send(("refused", str(error)))
            return
        gc.disable()
        pipe.send(("ready", ""))
        while True:
            while not pipe.poll(1):
                look()
            task, skipped = pipe.recv()
            os.ftruncate(log, 0)
            pipe.send(("done", work(context, task, selection, skipped, report)))


class Worker:
    """A process, and the case that it is at."""

    def __init__(self, context: Context, selection: Selection) -> None:
        self.log = tempfile.NamedTemporaryFile(buffering=0)  # noqa: SIM115  (lives as long as the worker)
        self.pipe, child = multiprocessing.Pipe()
        processes = multiprocessing.get_context(context.start)
        arguments = (child, context, selection, self.log.name)
        self.process = processes.Process(target=serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
        self.process.start()
        child.close()
        self.task: Task | None = None
        self.case = ""
        self.ready = False
        self.on_device = False
        self.heard = time.monotonic()

    def give(self, task: Task, skipped: set[str]) -> None:
        self.task, self.case, self.heard = task, "", time.monotonic()
        self.pipe.send((task, skipped))

    def last_words(self) -> str:
        """The last output of a worker, without the Python frames that all have in common."""
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
    context: Context, tasks: list[Task], selection: Selection, jobs: int, timeout: float
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Each task with what was found, in the order in which they end. Raises DeviceError if the device does not answer."""
    waiting = list(reversed(tasks))
    lost: dict[Task, dict[str, Difference]] = {}
    workers: list[Worker] = []

    def next_task(worker: Worker) -> None:
        worker.task = None
        if waiting:
            task = waiting.pop()
            worker.give(task, set(lost.get(task, ())))

    def ended(worker: Worker, task: Task, category: str) -> Iterator[tuple[Task, dict[str, Any]]]:
        """A worker that crashed or hangs: another one does the rest of its task."""
        case = worker.case or f"{task.subject}/samples/{task.dtype}/0"
        if category == "crash":
            worker.process.join()
            if not worker.ready:
                code = worker.process.exitcode
                raise DeviceError(f"a process that opened {context.device!r} ended with {code}: {worker.last_words()}")
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
                workers.append(Worker(context, selection))
                next_task(workers[-1])
            ready = set(wait([worker.pipe for worker in workers if worker.task], timeout=0.5))
            for worker in list(workers):
                task = worker.task
                if task is not None and worker.pipe in ready:
                    try:
                        kind, message = worker.pipe.recv()
                    except (EOFError, ConnectionResetError):
                        yield from ended(worker, task, "crash")
                        continue
                    if kind == "refused":
                        raise DeviceError(message)
                    worker.heard = time.monotonic()
                    if kind == "ready":
                        worker.ready = True
                        continue
                    if kind == "case":
                        worker.on_device = message == "device"
                        worker.case = worker.case if worker.on_device else message
                        continue
                    message["found"] += [(name, *found) for name, found in lost.get(task, {}).items()]
                    next_task(worker)
                    yield task, message
                elif task is not None and overdue(worker, timeout):
                    yield from ended(worker, task, "hang")
                elif task is None and waiting:
                    next_task(worker)
    finally:
        for worker in workers:
            worker.end()
