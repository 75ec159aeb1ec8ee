"""Which memory a call reads and writes, as far as its schema says."""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves

from .memory import Geometry

# They return or change sizes and storages, and reach no elements.
_METADATA = frozenset(
    (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
        *("set_", "_resize_output_", "_unsafe_view", "record_stream"),
        *("is_pinned", "is_same_size", "is_set_to", "_has_same_storage_numel", "_version"),
    )
)
# They read no elements of their arguments; results are written.
_FACTORIES = frozenset(
    (
        *("zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"),
        *("new_zeros", "new_ones", "new_full"),
    )
)
_COPIES = frozenset(
    ("copy_", "_to_copy", "_copy_from", "_copy_from_and_resize", "copy", "_foreach_copy_", "_foreach_copy")
)
# They copy the elements to other memory if they need more.
_RESIZES = frozenset(("resize_", "resize_as_"))
# Batch normalization writes them in training, and its older schemas don't say so.
_STATISTICS = frozenset(("running_mean", "running_var"))


def _updates(operator: str) -> bool:
    return "batch_norm" in operator and "backward" not in operator and "no_training" not in operator


class Use(NamedTuple):
    """A tensor of a call."""

    argument: str
    tensor: torch.Tensor
    write: bool


class Rule(NamedTuple):
    """What an operator does with its arguments."""

    arguments: tuple[tuple[str, bool], ...]
    """Names, and which are written."""
    by_name: dict[str, bool]
    skipped: frozenset[str]
    """Arguments of which no elements are used."""
    results: tuple[bool, ...]
    """Which results are new memory that was written; the last stands for those that follow."""
    copies: bool
    resizes: bool
    non_blocking: int
    """The place of this argument; -1 without one."""
    device: int
    training: int
    """The place of this argument of batch normalization."""
    ends: bool
    """It gets what torch.tensor() has made, and waited for, behind the dispatcher."""


@functools.cache
def rule(func: Any) -> Rule | None:
    """None if the operator touches no elements."""
    name = func._schema.name.partition("::")[2]
    if name in _METADATA or func.namespace == "prim":
        return None
    writes, skipped = [], []
    for argument in func._schema.arguments:
        alias = argument.alias_info
        write = name == "lift_fresh" or (alias is not None and alias.is_write)
        writes.append((argument.name, write or (argument.name in _STATISTICS and _updates(name))))
        if name == "lift_fresh":
            continue
        if name in _FACTORIES or (alias is not None and not alias.is_write):
            skipped.append(argument.name)
    results = tuple(each.alias_info is None for each in func._schema.returns)
    if len(skipped) == len(writes) and not any(results):
        return None
    names = [argument.name for argument in func._schema.arguments]
    return Rule(
        tuple(writes),
        dict(writes),
        frozenset(skipped),
        results,
        copies=name in _COPIES,
        resizes=name in _RESIZES,
        non_blocking=names.index("non_blocking") if "non_blocking" in names else -1,
        device=names.index("device") if "device" in names else -1,
        training=names.index("training") if "training" in names and _updates(name) else -1,
        ends=name == "lift_fresh",
    )


@functools.cache
def is_composite(func: Any) -> bool:
    """Whether PyTorch computes it by other operators, on a backend that has no kernel for it. Seen in inference mode only."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return has(func.name(), "CompositeImplicitAutograd") and not has(func.name(), "PrivateUse1")


def grows(args: tuple[Any, ...]) -> bool:
    """Whether resize_() or resize_as_() needs more memory than there is."""
    tensor, size = args[:2]
    sizes = size.shape if isinstance(size, torch.Tensor) else size
    found = storage_of(tensor)
    needed = (int(tensor.storage_offset()) + math.prod(map(int, sizes))) * tensor.element_size()
    return found is not None and needed > found[0].nbytes()


def arguments(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Use]:
    """The tensors among the arguments whose elements are used."""
    evaluates = rule.training >= 0 and not kwargs.get("training", rule.training < len(args) and args[rule.training])
    for (name, write), value in zip(rule.arguments, args, strict=False):
        if name not in rule.skipped:
            yield from _uses(name, value, write and not (evaluates and name in _STATISTICS))
    for name, value in kwargs.items():
        if name not in rule.skipped:
            yield from _uses(name, value, rule.by_name.get(name, False) and not (evaluates and name in _STATISTICS))


def results(rule: Rule, value: Any) -> Iterator[Use]:
    """The tensors among the results that the call wrote."""
    if not rule.results:
        return
    several = isinstance(value, tuple | list) and len(rule.results) > 1
    for place, each in enumerate(value if several else (value,)):
        if rule.results[min(place, len(rule.results) - 1)]:
            yield from _uses(f"result {place}" if several else "result", each, True)


def _uses(name: str, value: Any, write: bool) -> Iterator[Use]:
    if isinstance(value, torch.Tensor):
        yield Use(name, value, write)
    elif isinstance(value, list | tuple):
        for each in tree_leaves(value):
            if isinstance(each, torch.Tensor):
                yield Use(name, each, write)


def storage_of(tensor: torch.Tensor) -> tuple[torch.UntypedStorage, int] | None:
    """The tensor's storage and its address; None if it has no memory of its own, such as a sparse or a fake one."""
    if tensor.layout != torch.strided or tensor.is_nested:
        return None
    try:
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
    except (RuntimeError, NotImplementedError):
        return None
    return (storage, start) if start and tensor.numel() else None


def is_unseen(value: Any) -> bool:
    """Whether it is a tensor with memory that storage_of() doesn't find."""
    return isinstance(value, torch.Tensor) and (value.layout != torch.strided or value.is_nested)


def is_pinned(tensor: torch.Tensor) -> bool:
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        return tensor.is_pinned()


def geometry(tensor: torch.Tensor, storage: int) -> Geometry:
    itemsize = tensor.element_size()
    start = storage + int(tensor.storage_offset()) * itemsize
    sizes, strides = tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return Geometry(start, start + (last + 1) * itemsize, sizes, strides, itemsize)


def described(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
