"""Copies of a call's arguments on a device, which keep all that PyTorch can see of a tensor but its device.

Note [Devices without set_]
A backend may have tensors whose storage nobody can access, or no set_ and no empty_strided. There, each argument is copied alone,
with what every backend has: its values, its shape and, where the device has empty_strided, its strides are those of the sample, but
memory is not shared, and offsets are 0. `reached()` says which way a device allows.
"""

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_iter, tree_map

from ..device import DeviceError, first_line, storage_of

BY_STORAGE, BY_STRIDES, BY_VALUE = "set_", "empty_strided", "to"


@functools.cache
def reached(device: torch.device) -> str:
    """How arguments get to a device: BY_STORAGE, BY_STRIDES or BY_VALUE. Raises DeviceError if none of them works."""
    sample = torch.arange(6.0).view(2, 3)
    last: Exception = RuntimeError("it comes back with other values")
    for name, way in {BY_STORAGE: _by_storage, BY_STRIDES: _by_strides, BY_VALUE: _by_value}.items():
        try:
            if torch.equal(way(sample, device).cpu(), sample):
                return name
        except Exception as error:  # foreign code
            last = error
    raise DeviceError(f"a tensor can't be copied to device {str(device)!r} and back: {first_line(last)}") from last


def _by_storage(sample: torch.Tensor, device: torch.device) -> torch.Tensor:
    memory = sample.to(device, copy=True).untyped_storage()
    return torch.empty(0, dtype=sample.dtype, device=device).set_(memory, 0, sample.size(), sample.stride())


def _by_strides(sample: torch.Tensor, device: torch.device) -> torch.Tensor:
    there = torch.empty_strided(sample.size(), (1, sample.size(0)), dtype=sample.dtype, device=device)
    if there.stride() != (1, sample.size(0)):
        raise RuntimeError("empty_strided gives other strides")
    return there.copy_(sample)


def _by_value(sample: torch.Tensor, device: torch.device) -> torch.Tensor:
    return sample.to(device, copy=True)


def key_of(x: torch.Tensor) -> int:
    """A number of the tensor's memory, by which tensors that share some are known; where it can't be accessed, the tensor's own."""
    storage = storage_of(x)
    return id(x) if storage is None else storage._cdata


def tensors(tree: Any) -> Iterator[torch.Tensor]:
    """The tensors of nested lists, tuples and dicts, in order; of modules their parameters and buffers."""
    for leaf in tree_iter(tree):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif isinstance(leaf, torch.nn.Module):
            yield from leaf.parameters()
            yield from leaf.buffers()


def changed(tree: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The tree with its strided tensors changed; a tensor that occurs twice stays one tensor."""
    memo: dict[int, torch.Tensor] = {}

    def leaf(x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or x.layout != torch.strided or x.is_quantized:
            return x
        if id(x) not in memo:
            memo[id(x)] = change(x.detach()).detach().requires_grad_(x.requires_grad)
        return memo[id(x)]

    return tree_map(leaf, tree)


class Copier:
    """Copies to one device. Strides, offsets, shared storages, conjugate and negative bits stay as they are."""

    def __init__(
        self, device: torch.device, kept: tuple[torch.Tensor, ...] = (), elsewhere: tuple[torch.Tensor, ...] = ()
    ) -> None:
        self.device = device
        other = torch.device(device.type, 1 - device.index) if device.index is not None else device
        self.places = {**{id(x): torch.device("cpu") for x in kept}, **{id(x): other for x in elsewhere}}
        self.named = False  # whether the device itself was an argument
        self.storages: dict[tuple[int, torch.device], torch.UntypedStorage] = {}
        self.seen: dict[int, torch.Tensor] = {}
        self.alive: list[Any] = []  # an id means something as long as its object lives

    def __call__(self, tree: Any) -> Any:
        self.alive.append(tree)
        return tree_map(self.leaf, tree)

    def leaf(self, x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            if id(x) not in self.seen:
                self.seen[id(x)] = self.tensor(x)
                self.alive.append(x)
            return self.seen[id(x)]
        if isinstance(x, torch.nn.Module):
            return copy.deepcopy(x).to(self.device)
        if isinstance(x, torch.device) or (isinstance(x, str) and x == "cpu"):
            self.named = True
            return self.device
        return x

    def storage(self, x: torch.Tensor, device: torch.device) -> torch.UntypedStorage:
        source = x.untyped_storage()
        key = (source._cdata, device)
        if key not in self.storages:
            self.alive.append(source)
            flat = torch.empty(0, dtype=torch.uint8).set_(source, 0, (source.nbytes(),), (1,))
            self.storages[key] = flat.to(device, copy=True).untyped_storage()
        return self.storages[key]

    def tensor(self, x: torch.Tensor) -> torch.Tensor:
        device = self.places.get(id(x), self.device)
        y = x.detach()
        if x.is_meta:
            return y
        if x.layout != torch.strided or x.is_quantized or x.is_nested or x.device.type != "cpu":
            return y.to(device, copy=True).requires_grad_(x.requires_grad)
        if device.type != "cpu" and (way := reached(device)) != BY_STORAGE:
            plain = x.resolve_conj().resolve_neg().detach()
            if way == BY_STRIDES and not _overlaps(x):
                there = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=device)
                return there.copy_(plain).detach().requires_grad_(x.requires_grad)
            return plain.to(device, copy=True).detach().requires_grad_(x.requires_grad)
        place = torch.empty(0, dtype=x.dtype, device=device)
        result = place.set_(self.storage(x, device), x.storage_offset(), x.size(), x.stride())
        if x.is_conj():
            result = result.conj()
        if x.is_neg():
            result = torch._neg_view(result)
        return result.detach().requires_grad_(x.requires_grad)


def _overlaps(x: torch.Tensor) -> bool:
    return any(size > 1 and stride == 0 for size, stride in zip(x.size(), x.stride(), strict=True))
