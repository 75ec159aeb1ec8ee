"""Takes a sanitizer into the threads that Python starts, since a TorchDispatchMode sees its own thread only.

Autograd's threads need nothing: they take the modes of the thread that calls backward().
"""

import _thread
import concurrent.futures
import multiprocessing.process
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from .patches import Patches


class Threads:
    """While open, `inside()` surrounds what each new thread runs. `process_started` is called for each process of multiprocessing."""

    def __init__(self, inside: Callable[[], AbstractContextManager[None]], process_started: Callable[[], None]) -> None:
        self._inside, self._process_started = inside, process_started
        self._patches = Patches()
        self.earlier: dict[int, str] = {}
        """Ids and names of the threads that ran before."""

    def open(self) -> None:
        mine = threading.get_ident()
        self.earlier = {each.ident or 0: each.name for each in threading.enumerate() if each.ident != mine}
        self._patches.wrap(threading.Thread, "start", self._start)
        self._patches.wrap(_thread, "start_new_thread", self._start_new)
        self._patches.wrap(concurrent.futures.ThreadPoolExecutor, "submit", self._submit)
        self._patches.wrap(multiprocessing.process.BaseProcess, "start", self._start_process)

    def close(self) -> None:
        self._patches.undo()

    def _surrounded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def inside(*arguments: Any, **named: Any) -> Any:
            with self._inside():
                return function(*arguments, **named)

        return inside

    def _start(self, original: Any) -> Any:
        def start(thread: threading.Thread) -> None:
            run = thread.run

            def inside() -> None:
                del thread.run  # the instance's: a cycle would keep the thread
                with self._inside():
                    run()

            thread.run = inside  # type: ignore[method-assign]
            original(thread)

        return start

    def _start_new(self, original: Any) -> Any:
        return lambda function, *arguments: original(self._surrounded(function), *arguments)

    def _submit(self, original: Any) -> Any:
        """A pool's threads may be older than the sanitizer."""
        return lambda pool, function, /, *arguments, **named: original(
            pool, self._surrounded(function), *arguments, **named
        )

    def _start_process(self, original: Any) -> Any:
        def start(process: Any) -> None:
            self._process_started()
            original(process)

        return start


_forgotten_in_child: weakref.WeakSet[Any] = weakref.WeakSet()


def forget_in_child(each: Any) -> None:
    """Call each.forget() in a forked child: another thread may have held its locks."""
    _forgotten_in_child.add(each)


def _after_fork() -> None:
    for each in list(_forgotten_in_child):
        each.forget()


os.register_at_fork(after_in_child=_after_fork)
