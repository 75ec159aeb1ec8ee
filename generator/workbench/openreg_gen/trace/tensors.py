"""Tensors as a trace shows them: which memory each uses, and what that memory is called."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .events import TensorInfo


def tensors_in(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    """The tensors in an argument: itself, or those in lists, tuples and dicts, `depth` of them within each other."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item, depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth - 1)


class Memory:
    """Numbers storages in the order in which they are seen. Keeps none alive; a number is never reused."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._references: list[StorageWeakRef] = []  # their addresses are not reused while these are held
        self._names: dict[int, str] = {}

    def number(self, tensor: torch.Tensor) -> int | None:
        """The number of the tensor's storage; None where it has none, as a sparse tensor."""
        try:
            reference = StorageWeakRef(tensor.untyped_storage())
        except (NotImplementedError, RuntimeError):
            return None
        if reference.cdata not in self._numbers:
            self._references.append(reference)
            self._numbers[reference.cdata] = len(self._references)
        return self._numbers[reference.cdata]

    def call(self, tensor: torch.Tensor, name: str) -> None:
        """Give the tensor's storage a name, unless it has one."""
        number = self.number(tensor)
        if number is not None:
            self._names.setdefault(number, name)

    def describe(self, tensor: torch.Tensor, name: str = "") -> TensorInfo:
        number = self.number(tensor)
        label = "" if number is None else self._names.get(number, f"#{number}")
        dtype = str(tensor.dtype).removeprefix("torch.")
        return TensorInfo(name, label, dtype, tuple(tensor.shape), str(tensor.device), number)


def aliases(inputs: list[tuple[str, torch.Tensor]], outputs: list[torch.Tensor], memory: Memory) -> list[str]:
    """What outputs share with inputs: sentences."""
    notes = []
    for output in outputs:
        number = memory.number(output)
        for name, tensor in inputs:
            if output is tensor:
                notes.append(f"writes into `{name}` ({memory.describe(tensor).label})")
                break
            if number is not None and memory.number(tensor) == number:
                notes.append(f"the result is a view of `{name}` ({memory.describe(tensor).label})")
                break
    return notes
