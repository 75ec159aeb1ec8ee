"""One call of an operator in a file: arguments, place, seeds, versions; `openreg-gen replay` reads it.

The file holds tensors and plain values only, so that reading one runs no code.
"""

import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten

from ..device import versions
from .findings import Difference
from .inputs import Call
from .placing import placed
from .rules import given

FORMAT = "openreg-gen call"
VERSION = 1


class StoreError(Exception):
    """A call that can't be stored, or a file that holds none; the text says why."""


class Origin(NamedTuple):
    """The comparison that stores a call: as `compare` takes them."""

    kind: str
    package: str | None
    twice: bool
    tolerance: tuple[float, float] | None


@dataclass
class StoredCall:
    """A call, with the difference that was found."""

    op: str
    device: str
    tensors: list[torch.Tensor]
    """On the CPU; those that shared memory still do."""
    places: list[int | None]
    """The index of each tensor's device; None for the CPU."""
    args: list[Any]
    kwargs: dict[str, Any]
    """Plain values; see _encoded()."""
    module: str = ""
    phase: str = ""
    step: int = 0
    line: str = ""
    problem: str = ""
    judged: str = ""
    outcome: int = 0
    """Which of the call's outcomes differs; see rules.outcomes()."""
    allowed: tuple[float, float] | None = None
    """The tolerance of that outcome, if its values differ."""
    tolerance: tuple[float, float] | None = None
    """The tolerance that was chosen for all operators; None: that which fits."""
    package: str | None = None
    twice: bool = False
    seeds: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def func(self) -> Any:
        """The operator. Raises StoreError if no library defines it."""
        namespace, name, overload = self.op.split(".")
        try:
            return getattr(getattr(getattr(torch.ops, namespace), name), overload)
        except AttributeError:
            raise StoreError(f"no operator {self.op}; --import names the module that defines it") from None

    def call(self, device: str) -> Call:
        """The arguments on a device, in memory of their own."""
        tensors = placed(self.tensors, self.places, device)
        args = [_decoded(each, tensors, device) for each in self.args]
        return args, {name: _decoded(each, tensors, device) for name, each in self.kwargs.items()}

    def restore(self) -> None:
        """Set what the process had set."""
        torch.set_default_dtype(getattr(torch, self.settings["default_dtype"]))
        torch.set_float32_matmul_precision(self.settings["float32_matmul_precision"])
        torch.use_deterministic_algorithms(self.settings["deterministic"])
        torch.manual_seed(self.seeds["torch"])
        torch.set_rng_state(self.seeds["cpu_state"])


def store(
    path: Path, func: Any, call: Call, before: Call, difference: Difference, outcome: int, origin: Origin
) -> None:
    """Write a call to a file. `before` is the call's arguments as they were, on the CPU. Raises StoreError and OSError."""
    tensors, places, kind = [], [], origin.kind
    for there, host in zip(tree_flatten(call)[0], tree_flatten(before)[0], strict=True):
        if isinstance(there, torch.Tensor):
            tensors.append(host.detach())
            places.append(there.device.index if there.device.type == kind and kind != "cpu" else None)
    numbers = iter(range(len(tensors)))
    # In the order of tree_flatten, which numbers the tensors: first positional arguments, then the named ones.
    args = [_encoded(each, numbers, kind) for each in call[0]]
    kwargs = {name: _encoded(each, numbers, kind) for name, each in call[1].items()}
    where = difference.where
    stored = StoredCall(
        op=str(func),
        device=kind,
        tensors=tensors,
        places=places,
        args=args,
        kwargs=kwargs,
        module=where.module,
        phase=where.phase,
        step=where.step,
        line=difference.line,
        problem=f"{difference.what} {difference.problem}",
        judged=difference.judged,
        outcome=outcome,
        allowed=difference.tolerance,
        tolerance=origin.tolerance,
        package=origin.package,
        twice=origin.twice,
        seeds={"torch": torch.initial_seed(), "cpu_state": torch.get_rng_state()},
        settings={
            "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
            "float32_matmul_precision": torch.get_float32_matmul_precision(),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
        },
        versions={
            "torch": str(torch.__version__),
            **versions(kind, origin.package),
            "python": platform.python_version(),
            "machine": platform.machine(),
        },
    )
    torch.save({"format": FORMAT, "version": VERSION, **vars(stored)}, path)


def load(path: Path) -> StoredCall:
    """Read such a file. Raises StoreError."""
    try:
        found = torch.load(path, weights_only=True)
    except Exception as error:  # whatever reading a file of another kind raises
        raise StoreError(
            f"{path}: can't be read: {str(error).partition(chr(10))[0] or type(error).__name__}"
        ) from error
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise StoreError(f"{path}: is not a call that `openreg-gen compare` wrote")
    if found.pop("version") != VERSION:
        raise StoreError(f"{path}: was written by another version of openreg-gen")
    return StoredCall(**found)


def _encoded(value: Any, numbers: Any, kind: str) -> Any:
    """Numbers, strings, None and lists as they are; {"tensor": 0}, {"torch": "float32"}, {"device": "cpu"}."""
    if isinstance(value, torch.Tensor):
        return {"tensor": next(numbers)}
    if isinstance(value, torch.SymInt):
        return int(value)
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    if isinstance(value, list | tuple):
        return [_encoded(each, numbers, kind) for each in value]
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return {"torch": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": None if value.type == kind else str(value)}
    raise StoreError(f"an argument of type {type(value).__name__} can't be stored")


def _decoded(value: Any, tensors: list[torch.Tensor], device: str) -> Any:
    if isinstance(value, list):
        return [_decoded(each, tensors, device) for each in value]
    if not isinstance(value, dict):
        return value
    ((sort, what),) = value.items()
    if sort == "tensor":
        return tensors[what]
    return getattr(torch, what) if sort == "torch" else torch.device(what or device)


def expression(stored: StoredCall, value: Any) -> str:
    """An argument as Python, where `t` are the tensors and `device` is the device."""
    if isinstance(value, list):
        return f"[{', '.join(expression(stored, each) for each in value)}]"
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return f'float("{value}")'
    if not isinstance(value, dict):
        return repr(value)
    ((sort, what),) = value.items()
    if sort == "tensor":
        return f"t[{what}]"
    return f"torch.{what}" if sort == "torch" else f"torch.device({'device' if what is None else repr(what)})"


def words(stored: StoredCall) -> str:
    """The arguments as Python, as a call has them."""
    named = [f"{name}={expression(stored, value)}" for name, value in stored.kwargs.items()]
    return ", ".join([expression(stored, value) for value in stored.args] + named)


def names(stored: StoredCall) -> list[str]:
    """The names of the arguments that were given."""
    return [name for name, _ in given(stored.func, (stored.args, stored.kwargs))]
