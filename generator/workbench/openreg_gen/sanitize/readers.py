"""What reaches memory of the CPU without an operator.

A TorchFunctionMode would see that, too, but Dynamo traces such a mode, and under one `tensor.NAME(non_blocking=True)` of PyTorch waits.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch

from .accesses import Use
from .patches import Patches

_READERS = ("numpy", "__array__", "tolist", "__repr__", "__deepcopy__", "__reduce_ex__", "apply_", "map_")
_POINTERS = ("numpy", "__array__", "data_ptr", "__dlpack__")


class Readers:
    """While open, calls `reached` with a tensor of the CPU that such a method reads, or whose address it gives away."""

    def __init__(self, reached: Callable[[Use, str, bool, bool], None]) -> None:
        self._reached = reached
        self._patches = Patches()

    def open(self) -> None:
        for name in dict.fromkeys((*_READERS, *_POINTERS)):
            self._patches.wrap(torch.Tensor, name, functools.partial(self._seen, name))

    def close(self) -> None:
        self._patches.undo()

    def _seen(self, name: str, original: Any) -> Any:
        reads, points = name in _READERS, name in _POINTERS

        @functools.wraps(original)
        def method(tensor: torch.Tensor, *arguments: Any, **named: Any) -> Any:
            if not torch.compiler.is_compiling() and tensor.is_cpu:
                self._reached(Use("self", tensor, name in ("apply_", "map_")), f"Tensor.{name}", reads, points)
            return original(tensor, *arguments, **named)

        return method
