"""Counts the operators that PyTorch calls, on all threads, with the device types of their arguments.

Note [Where calls are counted]
A dispatch mode sees `add.Tensor`, where a backend gets `add.out`, and nothing that a composite kernel calls. PyTorch's
execution trace is written one level below, by the dispatcher's own hook: it names each call with its overload, and backward's threads
are in it. PyTorch has one such trace per process, so recordings that overlap share it: wherever one of them begins or
ends, the trace ends, and its counts go to all that are open.

A kernel may call operators on a thread of its device. If it does so while one trace ends and another begins, its end falls into a trace
that has not seen its beginning: PyTorch then takes an element from an empty stack, and the process ends later, anywhere. So a trace ends
when the devices have nothing to do.
"""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.profiler import ExecutionTraceObserver

from .device import is_opaque, wait_for_all

Counts = Counter[tuple[str, tuple[str, ...], str]]
"""Calls by operator ("aten::add.out"), device types of its arguments ("cpu", "mine"), and the arguments as observed.py
writes them: "" where nobody asked for them."""

_PIPE = 1 << 20  # bytes, the most that Linux gives to users
_SECONDS = 60.0  # that the counting process may take for the end of a trace


def names_of(kind: str) -> frozenset[str]:
    """The device's name in the counts: PyTorch's trace names no device for tensors whose storage it can't access."""
    return frozenset((kind, "")) if is_opaque(kind) else frozenset((kind,))


class _Trace:
    """An execution trace that goes to a process which counts; begins at once."""

    def __init__(self, shapes: bool) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="openreg-gen-")
        self.pipe = Path(self._folder.name, "trace.json")
        os.mkfifo(self.pipe)
        end = os.open(self.pipe, os.O_RDONLY | os.O_NONBLOCK)  # a reader has to be there before the observer opens it
        with contextlib.suppress(OSError):  # a longer pipe: the traced threads wait for the reader less often
            fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE)
        try:
            self._observer = ExecutionTraceObserver().register_callback(str(self.pipe))
            os.set_blocking(end, True)
            reader = Path(__file__).with_name("observed.py")
            self._counting = subprocess.Popen(
                [sys.executable, "-I", "-S", str(reader), *(["--shapes"] if shapes else [])],
                stdin=end,
                stdout=subprocess.PIPE,
                text=True,
            )
        finally:
            os.close(end)
        with _without_notices():
            self._observer.start()

    def end(self) -> Counts:
        """Stop, and return the counts. Raises RuntimeError if the trace was lost."""
        with _without_notices():
            self._observer.stop()
            self._observer.unregister_callback()
        try:
            text, _ = self._counting.communicate(timeout=_SECONDS)
            return Counter({(op, tuple(devices), inputs): calls for op, devices, inputs, calls in json.loads(text)})
        except (subprocess.TimeoutExpired, ValueError) as error:
            self._counting.kill()
            raise RuntimeError("PyTorch's execution trace was lost: is another one being written?") from error
        finally:
            self._folder.cleanup()

    def leave_to_parent(self) -> None:
        """In a forked child: what the child inherited of the trace, and would write there, goes nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/self/fd/{name}") == str(self.pipe):
                    os.dup2(nowhere, int(name))
        os.close(nowhere)


@contextlib.contextmanager
def _without_notices() -> Iterator[None]:
    """PyTorch logs that the observer starts and stops; the rest of stderr is printed when the block ends."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            rest = [line for line in file if b"Execution Trace Observer" not in line]
            os.write(2, b"".join(rest))


class _Process:
    """The recordings of this process, and the trace that they share."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: list[tuple[Counts, bool]] = []  # with whether it wants arguments
        self._trace: _Trace | None = None
        os.register_at_fork(after_in_child=self._forked)

    def start(self, shapes: bool) -> Counts:
        with self._lock:
            self._cut()
            counts: Counts = Counter()
            self._open.append((counts, shapes))
            self._begin()
            return counts

    def stop(self, counts: Counts) -> None:
        with self._lock:
            try:
                self._cut()
            finally:
                self._open = [each for each in self._open if each[0] is not counts]
                if self._open:
                    self._begin()

    def _begin(self) -> None:
        self._trace = _Trace(any(shapes for _, shapes in self._open))

    def _cut(self) -> None:
        trace, self._trace = self._trace, None
        if trace is not None:
            try:
                wait_for_all(torch._C._get_privateuse1_backend_name())  # Note [Where calls are counted]
            finally:
                found = trace.end()
                for counts, _ in self._open:
                    counts.update(found)

    def _forked(self) -> None:
        if self._trace is not None:
            self._trace.leave_to_parent()


_process = _Process()


@contextlib.contextmanager
def counted(shapes: bool = False) -> Iterator[Counts]:
    """Count the calls in the block, on all threads; the counts are complete when it ended. `shapes`: with their arguments."""
    counts = _process.start(shapes)
    try:
        yield counts
    finally:
        _process.stop(counts)
