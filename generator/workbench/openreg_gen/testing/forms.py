"""The forms of an operator (functional, in-place, out) and calls of them with arguments by name."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_map_only


class Operator(Protocol):
    """An operator that a backend serves: `forms` are the other overloads of its group, `serves` those that end in its kernel."""

    @property
    def name(self) -> str: ...
    @property
    def forms(self) -> Sequence[str]: ...
    @property
    def serves(self) -> Sequence[str]: ...
    @property
    def tolerance(self) -> tuple[float, float] | None: ...  # relative, absolute


def find(name: str) -> torch._ops.OpOverload:
    """The overload of "add.Tensor" or "relu"."""
    base, _, overload = name.partition(".")
    found: torch._ops.OpOverload = getattr(getattr(torch.ops.aten, base), overload or "default")
    return found


def kind(overload: torch._ops.OpOverload) -> str:
    """One of functional, inplace, out and mutable (writes another argument than the first)."""
    schema = overload._schema
    if any(argument.is_out for argument in schema.arguments):
        return "out"
    if not schema.is_mutable:
        return "functional"
    first = schema.arguments[0]
    return "inplace" if first.alias_info is not None and first.alias_info.is_write else "mutable"


class Forms:
    """An operator of the spec with the other overloads of its group."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.own = find(operator.name)
        self.group = {self.own, *(find(name) for name in operator.forms)}
        self.served = {self.own, *(find(name) for name in operator.serves)}
        self.kind = kind(self.own)

    def form(self, wanted: str) -> torch._ops.OpOverload | None:
        """The form of a kind that the operator's kernel serves; None if there is none."""
        return self.own if self.kind == wanted else self._of_kind(self.served, wanted)

    def relative(self, wanted: str) -> torch._ops.OpOverload | None:
        """The form of a kind, whatever kernel serves it."""
        return self._of_kind(self.group, wanted)

    @staticmethod
    def _of_kind(group: set[torch._ops.OpOverload], wanted: str) -> torch._ops.OpOverload | None:
        return next((form for form in sorted(group, key=str) if kind(form) == wanted), None)

    @property
    def main(self) -> torch._ops.OpOverload:
        """The form that a user calls: the functional one if the kernel serves it, else the operator itself."""
        return self.form("functional") or self.own


def out_names(overload: torch._ops.OpOverload) -> list[str]:
    return [argument.name for argument in overload._schema.arguments if argument.is_out]


def bind(overload: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, defaults filled in, out arguments left out."""
    bound = {}
    for index, argument in enumerate(overload._schema.arguments):
        if argument.is_out:
            continue
        if index < len(args):
            bound[argument.name] = args[index]
        elif argument.name in kwargs:
            bound[argument.name] = kwargs[argument.name]
        else:
            bound[argument.name] = argument.default_value
    return bound


def call(overload: torch._ops.OpOverload, inputs: dict[str, Any], outs: dict[str, Any] | None = None) -> Any:
    args, kwargs = [], dict(outs or {})
    for argument in overload._schema.arguments:
        if argument.is_out:
            continue
        if argument.kwarg_only:
            kwargs[argument.name] = inputs[argument.name]
        else:
            args.append(inputs[argument.name])
    return overload(*args, **kwargs)


def written(overload: torch._ops.OpOverload, inputs: dict[str, Any]) -> list[Any]:
    """The arguments that a call writes, out arguments apart."""
    found = []
    for argument in overload._schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write and not argument.is_out:
            found.append(inputs[argument.name])
    return found


def copied(value: Any, device: torch.device | str) -> Any:
    """Deep copies on a device; tensors keep strides, gaps and elements that share memory."""

    def copy(x: torch.Tensor) -> torch.Tensor:
        x = x.detach().resolve_conj().resolve_neg()
        length = 1 + sum((size - 1) * stride for size, stride in zip(x.size(), x.stride(), strict=True))
        flat = torch.as_strided(x, (0 if x.numel() == 0 else length,), (1,))
        return torch.as_strided(flat.to(device, copy=True), x.size(), x.stride(), 0)

    value = tree_map_only(torch.Tensor, copy, value)
    return tree_map_only(torch.device, lambda _: torch.device(device), value)


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of nested lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))
