"""Worker processes for what may crash or hang: each crash and each hang costs one case, and the rest of its task goes on.

The sweep and `upstream --discover` give a Plan: what a worker does with a task. `run` keeps the workers busy, notices those that end
or do not answer, and starts others in their place, which leave out the cases that are done or lost.
"""

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Protocol, TypeVar

import torch

from .device import DeviceError

PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when its parent ends
STARTING = 300.0  # seconds in which a worker has to import PyTorch and open the device
WORDS = 400  # characters of a worker's last output that are kept

Case = str
T = TypeVar("T", bound=Hashable)
S = TypeVar("S", bound=Hashable, contravariant=True)


class ParentEnded(Exception):
    """The parent has ended. Its pipe doesn't show it: workers that were forked later hold its other end as well."""


class Report:
    """The messages of a worker about its task."""

    def __init__(self, pipe: Connection, parent: int) -> None:
        self.pipe, self.parent = pipe, parent

    def look(self) -> None:
        if os.getppid() != self.parent:
            raise ParentEnded

    def case(self, name: Case, seconds: float = 0) -> None:
        """A case begins. `seconds`: it may take so long, whatever the time-out is."""
        self.look()
        os.ftruncate(1, 0)  # its last words are about this case
        self.pipe.send(("case", (name, seconds)))

    def on_device(self) -> None:
        """The case has left the CPU."""
        self.look()
        self.pipe.send(("device", None))

    def row(self, name: Case, value: Any) -> None:
        """The outcome of a case. It is kept if the worker crashes later, and the case isn't run again."""
        self.pipe.send(("row", (name, value)))


class Plan(Protocol[S]):
    """The work of workers. It is pickled, unless workers are forked."""

    @property
    def start(self) -> str: ...  # "fork" or "spawn"
    @property
    def give_up(self) -> int: ...  # crashes and hangs of one task; 0: never
    @property
    def device(self) -> str: ...
    def group(self, task: S) -> Hashable:
        """Tasks of different groups don't share a process."""

    def first(self, task: S) -> Case:
        """The name of what a worker does before its first case."""

    def open(self) -> None:
        """Once in each worker. Raises DeviceError if the device can't be used."""

    def work(self, task: S, skipped: set[Case], report: Report) -> dict[str, Any]: ...


def serve(pipe: Connection, plan: Plan[Any], log_file: str) -> None:
    """A worker: receives tasks with the cases to leave out, and sends what a Report sends. A device that does not answer is all that
    it sends."""
    os.setpgid(0, 0)  # processes that a case starts end with it
    with contextlib.suppress(AttributeError):  # so does a case that hangs while the parent is killed
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = os.open(log_file, os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    torch.set_num_threads(1)
    report = Report(pipe, os.getppid())
    with contextlib.suppress(EOFError, BrokenPipeError, ParentEnded):
        try:
            plan.open()
        except DeviceError as error:
            pipe.send(("refused", str(error)))
            return
        pipe.send(("ready", None))
        while True:
            while not pipe.poll(1):
                report.look()
            task, skipped = pipe.recv()
            pipe.send(("done", plan.work(task, skipped, report)))


class Worker(Generic[T]):
    """A process, and the case that it is at."""

    def __init__(self, plan: Plan[T], group: Hashable) -> None:
        self.group = group
        self.log = tempfile.NamedTemporaryFile(buffering=0)  # noqa: SIM115  (lives as long as the worker)
        self.pipe, child = multiprocessing.Pipe()
        processes = multiprocessing.get_context(plan.start)
        self.process = processes.Process(target=serve, args=(child, plan, self.log.name))  # type: ignore[attr-defined]
        self.process.start()
        child.close()
        self.task: T | None = None
        self.case = ""
        self.ready = False
        self.on_device = False
        self.seconds = STARTING  # that its case may take, if the time-out is shorter
        self.heard = time.monotonic()

    def give(self, task: T, skipped: set[Case]) -> None:
        self.task, self.case, self.on_device = task, "", False
        self.heard = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it ended meanwhile: its pipe says so
            self.pipe.send((task, skipped))

    def hear(self) -> tuple[str, Any]:
        """Its next message. Raises EOFError or ConnectionResetError if it has ended."""
        kind, message = self.pipe.recv()
        self.heard = time.monotonic()
        if kind == "ready":
            self.ready, self.seconds = True, 0
        elif kind == "case":
            (self.case, self.seconds), self.on_device = message, False
        elif kind == "device":
            self.on_device = True
        return kind, message

    def last_words(self) -> str:
        """The last output of a worker, without the Python frames that all have in common."""
        self.log.seek(0)
        lines = self.log.read()[-20000:].decode(errors="replace").splitlines()
        kept = [line.strip() for line in lines if line.strip() and "/lib/python" not in line]
        return " | ".join(kept[:6])[:WORDS]

    def where(self) -> str:
        """The innermost Python frame of a worker that hangs, and "" if it doesn't say even that."""
        size = os.fstat(self.log.fileno()).st_size
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid or 0, signal.SIGUSR1)
        for _ in range(10):
            time.sleep(0.1)
            self.log.seek(size)
            lines = self.log.read().decode(errors="replace").splitlines()
            frames = [line.strip() for line in lines if line.strip().startswith("File ")]
            if frames:
                return frames[0]
        return ""

    def end(self) -> None:
        """Ends it, and what it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.log.close()


def ending(code: int | None) -> str:
    """An exit code, with the name of the signal that it stands for."""
    return f"{code} ({signal.Signals(-code).name})" if code is not None and code < 0 else str(code)


def overdue(worker: Worker[Any], timeout: float) -> bool:
    return time.monotonic() - worker.heard > max(timeout, worker.seconds)


def run(
    plan: Plan[T],
    tasks: list[T],
    jobs: int,
    timeout: float,
    late: Callable[[Worker[Any], float], bool] = overdue,
) -> Iterator[tuple[T, dict[str, Any]]]:
    """Each task with what its work returned, in the order in which they end, and beside that "rows": what became of its cases by
    Report.row, "lost": (category, detail) of those that crashed or hung, and "given_up", if so many did that the rest was left.

    Tasks that the caller appends to `tasks` meanwhile are done as well. Raises DeviceError if the device does not answer.
    """
    lost: dict[T, dict[Case, tuple[str, str]]] = {}
    rows: dict[T, dict[Case, Any]] = {}
    workers: list[Worker[T]] = []

    def outcome(task: T, answer: dict[str, Any]) -> tuple[T, dict[str, Any]]:
        return task, {**answer, "rows": rows.pop(task, {}), "lost": lost.pop(task, {})}

    def give(worker: Worker[T], task: T) -> None:
        tasks.remove(task)
        worker.give(task, {*lost.get(task, ()), *rows.get(task, ())})

    def hand_out() -> None:
        """Idle workers get tasks of their group; those for which there is none make room for others."""
        for worker in [worker for worker in workers if worker.task is None]:
            if same := next((task for task in tasks if plan.group(task) == worker.group), None):
                give(worker, same)
            elif tasks:
                worker.end()
                workers.remove(worker)
        while tasks and len(workers) < jobs:
            groups = {worker.group for worker in workers}
            task = next((task for task in tasks if plan.group(task) not in groups), tasks[0])
            workers.append(Worker(plan, plan.group(task)))
            give(workers[-1], task)

    def ended(worker: Worker[T], task: T, category: str) -> Iterator[tuple[T, dict[str, Any]]]:
        """A worker that crashed or hangs: another one does the rest of its task."""
        case = worker.case or plan.first(task)
        if category == "crash":
            worker.process.join(timeout=10)
            if not worker.ready:
                code = worker.process.exitcode
                raise DeviceError(f"a process that opened {plan.device!r} ended with {code}: {worker.last_words()}")
            where = "" if worker.on_device else "on the CPU, "
            detail = f"{where}the process ended with {ending(worker.process.exitcode)}: {worker.last_words()}"
        else:
            where = worker.where()
            detail = f"no answer within {max(timeout, worker.seconds):g} s" + (f" | {where}" if where else "")
        worker.end()
        workers.remove(worker)
        lost.setdefault(task, {})[case] = (category, detail)
        if worker.case and (not plan.give_up or len(lost[task]) < plan.give_up):
            tasks.insert(0, task)
        else:
            yield outcome(task, {"given_up": True})

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        while True:
            hand_out()
            busy = [worker for worker in workers if worker.task is not None]
            if not busy:
                return
            ready = set(wait([worker.pipe for worker in busy], timeout=0.5))
            for worker in busy:
                task = worker.task
                if task is not None and worker.pipe in ready:
                    try:
                        kind, message = worker.hear()
                    except (EOFError, ConnectionResetError):
                        yield from ended(worker, task, "crash")
                        continue
                    if kind == "refused":
                        raise DeviceError(message)
                    if kind == "row":
                        name, value = message
                        rows.setdefault(task, {})[name] = value
                    elif kind == "done":
                        worker.task = None
                        yield outcome(task, message)
                elif task is not None and not worker.process.is_alive() and not worker.pipe.poll():
                    yield from ended(worker, task, "crash")  # a process that it started holds the pipe
                elif task is not None and late(worker, timeout):
                    yield from ended(worker, task, "hang")
    finally:
        for worker in workers:
            worker.end()
