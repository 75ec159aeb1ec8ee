"""Counts the work that a sanitizer could not see, so that its report does not call that free of races."""

import functools
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

import torch

from .patches import Patches


class Unseen(Enum):
    COMPILED = "calls of compiled graphs: what their kernels use"
    REPLAYS = "replays of graphs"
    CAPTURED = "operators that a graph captured, which run when it is replayed"
    EARLIER_THREADS = "threads that started before the sanitizer"
    OTHER_THREADS = "threads that Python did not start"
    PROCESSES = "other processes"
    POINTERS = "pinned buffers that numpy or a pointer reaches, too"
    HIGHER_ORDER = "calls of higher-order operators"
    LAYOUTS = "tensors that are sparse or nested"
    FORGOTTEN = "accesses that were forgotten, since a block had too many"


_OUTPUT_CODE = "torch._inductor.output_code"


class Watch:
    """Counts calls of compiled graphs and replays of graphs while it is open."""

    def __init__(self, module: Any, note: Callable[[Unseen], None]) -> None:
        self._module, self._note = module, note
        self._patches = Patches()
        self._finder = _Finder(self._watch_compiled)

    def open(self) -> None:
        if _OUTPUT_CODE in sys.modules:
            self._watch_compiled(sys.modules[_OUTPUT_CODE])
        else:  # it takes seconds, so it is not imported for this
            sys.meta_path.insert(0, self._finder)
        members = [*vars(torch.accelerator).values(), *vars(self._module).values()]
        graphs = {each for each in members if isinstance(each, type) and hasattr(each, "replay")}
        for each in graphs:
            if not graphs & set(each.__mro__[1:]):
                self._count(each, "replay", Unseen.REPLAYS)

    def close(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        self._patches.undo()

    def _watch_compiled(self, module: Any) -> None:
        members = list(vars(module).values())
        for each in {each for each in members if isinstance(each, type) and issubclass(each, module.OutputCode)}:
            if "__call__" in vars(each):
                self._count(each, "__call__", Unseen.COMPILED)

    def _count(self, owner: type, name: str, what: Unseen) -> None:
        def counting(original: Any) -> Any:
            @functools.wraps(original)
            def counted(*arguments: Any, **named: Any) -> Any:
                self._note(what)
                return original(*arguments, **named)

            return counted

        self._patches.wrap(owner, name, counting)


class _Finder(importlib.abc.MetaPathFinder):
    """Calls `ready` with Inductor's module once that is imported."""

    def __init__(self, ready: Callable[[Any], None]) -> None:
        self._ready = ready

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != _OUTPUT_CODE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                self._ready(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
