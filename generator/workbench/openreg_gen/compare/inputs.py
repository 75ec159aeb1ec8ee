"""Copies of a call's arguments: as they are now, with more digits, or without data."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

Call = tuple[Sequence[Any], Mapping[str, Any]]  # positional arguments and named ones

WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}


class Snapshot:
    """Copies of tensors, as they are now; those that share memory still do.

    kind: the type of the device whose tensors and device arguments are moved. to: "cpu"; "meta", for shapes and strides
    without data; or "same", for copies on the device that each tensor is on.
    """

    def __init__(self, kind: str, to: str = "cpu") -> None:
        self._kind, self._to = kind, to
        self._storages: dict[int, torch.UntypedStorage] = {}

    def of(self, tree: Any) -> Any:
        return tree_map(self._copy, tree)

    def _copy(self, value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == self._kind and self._to != "same":
            return torch.device(self._to)
        if isinstance(value, torch.Generator) or not isinstance(value, torch.Tensor):
            return value
        storage = value.untyped_storage()
        key = storage._cdata
        if key not in self._storages:
            self._storages[key] = self._moved(storage)
        copied = self._storages[key]
        host = torch.empty(0, dtype=value.dtype, device=copied.device)
        host.set_(copied, value.storage_offset(), value.size(), value.stride())
        if value.is_conj():
            host = torch._conj(host)
        if value.is_neg():
            host = torch._neg_view(host)
        return host

    def _moved(self, storage: torch.UntypedStorage) -> torch.UntypedStorage:
        if self._to == "meta":
            return torch.UntypedStorage(storage.nbytes(), device="meta")
        return storage.cpu() if self._to == "cpu" and storage.device.type != "cpu" else storage.clone()


def widened(call: Call) -> Call:
    """The call with numbers of 64 bits; a tensor that comes twice still does."""
    known: dict[int, torch.Tensor] = {}

    def wide(value: Any) -> Any:
        if isinstance(value, torch.dtype):
            return WIDE.get(value, value)
        if isinstance(value, torch.Tensor) and id(value) not in known:
            known[id(value)] = value.to(WIDE.get(value.dtype, value.dtype), copy=True)
        return known[id(value)] if isinstance(value, torch.Tensor) else value

    args, kwargs = tree_map(wide, call)
    return args, kwargs
