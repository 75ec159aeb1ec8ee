"""Which operators can be compared, and in which of their results."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from .inputs import Call
from .references import results_of

_UNDECIDED = {
    "uninitialized memory": {"empty_like", "empty", "empty_strided", "new_empty", "new_empty_strided"},
    "uninitialized memory where it grew": {"resize_", "resize_as_", "_resize_output_"},
    "memory only": {"set_"},
    "several right answers": {"linalg_eig", "_linalg_eigh", "_linalg_svd", "linalg_qr", "geqrf", "linalg_lstsq"},
}
# The values decide; which of several equal elements is meant does not, nor what is kept for backward.
_FIRST_RESULT_ONLY = {
    "sort",
    "topk",
    "kthvalue",
    "mode",
    "median",
    "nanmedian",
    "msort",
    "_embedding_bag",
    "_embedding_bag_forward_only",
}


def why_not(func: Any, call: Call) -> str | None:
    """Why a call is not compared; None if it is."""
    packet = func.overloadpacket.__name__
    if packet == "native_dropout" or (
        torch.Tag.nondeterministic_seeded in func.tags and not _drops_nothing(func, call)
    ):
        return "random"
    if any(isinstance(x, torch.Tensor) and x.layout != torch.strided for x in tree_flatten(call)[0]):
        return "sparse tensors"
    return next((why for why, ops in _UNDECIDED.items() if packet in ops), None)


def _drops_nothing(func: Any, call: Call) -> bool:
    """Whether an operator is random only by its dropout, which is 0 in this call."""
    return named(func, call).get("dropout_p", 1.0) == 0.0


def named(func: Any, call: Call) -> dict[str, Any]:
    """The arguments by their names, with the defaults of those that aren't given."""
    defaults = {each.name: each.default_value for each in func._schema.arguments if each.has_default_value()}
    return {**defaults, **dict(given(func, call))}


def given(func: Any, call: Call) -> Iterator[tuple[str, Any]]:
    """Name and value of each argument that the call gives."""
    yield from zip((argument.name for argument in func._schema.arguments), call[0], strict=False)
    yield from call[1].items()


def writes(func: Any) -> bool:
    """Whether an operator writes into its arguments."""
    return bool(func._schema.is_mutable)


def is_view(func: Any) -> bool:
    """Whether an operator returns a part of its argument's memory and computes nothing."""
    if func.has_kernel_for_dispatch_key(torch.DispatchKey.CompositeImplicitAutograd):
        return False  # to(), reshape() and the like: some copy
    aliases = [each.alias_info for each in func._schema.returns]
    return bool(aliases) and all(info is not None and not info.is_write for info in aliases)


def results(func: Any) -> int | None:
    """How many results are compared; None for all."""
    return 1 if func.overloadpacket.__name__ in _FIRST_RESULT_ONLY else results_of(func)


def outcomes(func: Any, call: Call, result: Any) -> list[tuple[str, Any]]:
    """The outcomes of a call, by names: its results, and the arguments that it writes."""
    found = [(f"result {i}", each) for i, each in enumerate(tree_flatten(result)[0])]
    found = found[: results(func)]
    values = dict(given(func, call))
    for argument in func._schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write:
            tensors = tree_flatten(values.get(argument.name))[0]
            found += [(f"argument {argument.name}", each) for each in tensors if isinstance(each, torch.Tensor)]
    return found


def described(func: Any, call: Call) -> tuple[str, ...]:
    """The arguments as text: dtypes, shapes and devices of tensors, values of all others."""
    return tuple(f"{name}={_text(value)}" for name, value in given(func, call))


def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)} on {value.device}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return repr(value)
