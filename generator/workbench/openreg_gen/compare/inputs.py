"""Copies of a call's arguments: as they are now, with more digits, or without data."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from ..device import storage_of

Call = tuple[Sequence[Any], Mapping[str, Any]]  # positional arguments and named ones

WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}


class Snapshot:
    """Copies of tensors, as they are now; those that share memory still do, if the device lets PyTorch copy a storage.

    kind: the type of the device whose tensors and device arguments are moved. to: "cpu"; "meta", for shapes and strides
    without data; or "same", for copies on the device that each tensor is on.
    """

    def __init__(self, kind: str, to: str = "cpu") -> None:
        self._kind, self._to = kind, to
        self._storages: dict[int, torch.UntypedStorage] = {}
        self._tensors: dict[
            int, tuple[torch.Tensor, torch.Tensor]
        ] = {}  # those without such a storage, with their copies

    def of(self, tree: Any) -> Any:
        return tree_map(self._copy, tree)

    def _copy(self, value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == self._kind and self._to != "same":
            return torch.device(self._to)
        if isinstance(value, torch.Generator) or not isinstance(value, torch.Tensor):
            return value
        host = self._by_storage(value)
        if host is None:
            if id(value) not in self._tensors:
                self._tensors[id(value)] = value, self._alone(value)
            return self._tensors[id(value)][1]
        if value.is_conj():
            host = torch._conj(host)
        if value.is_neg():
            host = torch._neg_view(host)
        return host

    def _by_storage(self, value: torch.Tensor) -> torch.Tensor | None:
        """The tensor in a copy of its storage; None if there can't be one."""
        storage = storage_of(value)
        if storage is None:
            return None
        key = storage._cdata
        try:
            if key not in self._storages:
                self._storages[key] = self._moved(storage)
            copied = self._storages[key]
            host = torch.empty(0, dtype=value.dtype, device=copied.device)
            return host.set_(copied, value.storage_offset(), value.size(), value.stride())
        except (NotImplementedError, RuntimeError):
            if value.device.type == "cpu":
                raise
            return None

    def _alone(self, value: torch.Tensor) -> torch.Tensor:
        """A copy of one tensor, by what every backend has."""
        value = value.detach()
        if self._to == "same":
            return value.clone()
        return value.to(self._to, copy=True)

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
