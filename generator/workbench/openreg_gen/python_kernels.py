"""Where kernels in Python are: PyTorch names one line for all of a torch.library.Library, the line that made the library, which
is in torch/library.py for those that come by the decorator torch.library.impl.

watch() has to be called before the backend is imported. It changes how torch.library.Library registers: the place of each function
is kept. `place()` returns it, for what PyTorch says about a kernel of an operator at a dispatch key.
"""

import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

_LIBRARY = "torch.library"
_OURS = "_openreg_gen_watched"


class Place(NamedTuple):
    """Where a kernel is. `line` is 0 where PyTorch does not say."""

    file: str
    line: int


_places: dict[tuple[str, str], Place] = {}


def watch() -> None:
    """Keep the places of functions that are registered from now on. Does not import PyTorch."""
    module = sys.modules.get(_LIBRARY)
    if module is not None:
        _change(module)
    elif not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def place(op: str, key: str, said: Place) -> Place:
    """The place of the kernel of "aten::add.out" at a key. `said`: what PyTorch says."""
    if not said.file.endswith(".py"):
        return said
    return _places.get((op, key)) or _places.get(("", key)) or said


class _Finder(importlib.abc.MetaPathFinder):
    """Changes torch.library as soon as it was imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != _LIBRARY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _change(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _change(module: ModuleType) -> None:
    library = getattr(module, "Library", None)
    if library is None or hasattr(library, _OURS):
        return
    setattr(library, _OURS, True)
    for name in ("impl", "fallback"):
        original = getattr(library, name, None)
        if original is not None:
            setattr(library, name, _watched(original, name == "fallback"))


def _watched(original: Callable[..., Any], fallback: bool) -> Callable[..., Any]:
    @functools.wraps(original)
    def register(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        given = dict(zip(("fn", "dispatch_key") if fallback else ("op_name", "fn", "dispatch_key"), args, strict=False))
        given |= kwargs
        key = given.get("dispatch_key") or self.dispatch_key or "CompositeImplicitAutograd"
        name = "" if fallback else _operator(self.ns, given["op_name"])
        if (found := _place_of(given["fn"])) is not None:
            _places[name, _key(key)] = found
        return result

    return register


def _operator(namespace: str, op: Any) -> str:
    """ "aten::add.out", of what Library.impl takes."""
    if not isinstance(op, str):
        schema = op._schema
        op = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
    op = op.removesuffix(".default")
    return op if "::" in op else f"{namespace}::{op}"


def _key(key: str) -> str:
    """A key's name as PyTorch prints it, whatever the backend is called."""
    import torch

    try:
        return str(torch._C._dispatch_key_parse(key).name)
    except (RuntimeError, AttributeError):
        return key


def code_of(function: Any) -> CodeType | None:
    """The code of a function that decorators and functools.partial may have wrapped; None of one in C."""
    for _ in range(20):
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None) or function
        if isinstance(function, staticmethod | classmethod):
            function = function.__func__
        if not (hasattr(function, "__wrapped__") or isinstance(function, functools.partial)):
            break
    if not hasattr(function, "__code__"):  # an object that can be called
        function = inspect.getattr_static(type(function), "__call__", None)
    found = getattr(function, "__code__", None)
    return found if isinstance(found, CodeType) else None


def _place_of(function: Any) -> Place | None:
    """The place of a function; of one in C or PyTorch's own, the line that registers it."""
    code = code_of(function)
    if code is not None and not _is_torchs(code.co_filename):
        return Place(code.co_filename, code.co_firstlineno)
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_torchs(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def _is_torchs(file: str) -> bool:
    folder = os.path.dirname(getattr(sys.modules.get("torch"), "__file__", None) or "")
    return bool(folder) and file.startswith(folder + os.sep)
