"""Checks each operator's result on a device against the CPU's.

    openreg-gen compare --device NAME script.py [arguments]

    from openreg_gen.compare import compare
    with compare("mybackend") as comparison: ...

Each operator that has a tensor of the device runs a second time, on the CPU, on copies of the arguments as they were
before; results and arguments that it writes are compared. Backward is checked too: its threads run with the modes of the
thread that called it. Other threads are not; open a comparison there as well.

Operators are seen below autograd: `x @ w + b` is `mm` and `add`. Operators are not compared if their arguments don't
decide their values: random ones, `empty`, those whose result has several right answers, and those that the CPU doesn't
have.
"""

import argparse
import collections
import contextlib
import math
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from . import command, device

# Relative and absolute: sums in another order differ by more than a rounding.
_TOLERANCES = {
    torch.float64: (1e-7, 1e-9),
    torch.complex128: (1e-7, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.complex64: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (3e-2, 1e-2),
}

_UNDECIDED = {
    "uninitialized memory": {"empty_like", "empty", "empty_strided", "new_empty", "new_empty_strided"},
    "uninitialized memory where it grew": {"resize_", "resize_as_", "_resize_output_"},
    "several right answers": {"linalg_eig", "_linalg_eigh", "_linalg_svd", "linalg_qr", "geqrf", "linalg_lstsq"},
    "random": {"native_dropout"},
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


_Call = tuple[Sequence[Any], Mapping[str, Any]]  # positional arguments and named ones


class CompareError(AssertionError):
    """An operator's result on the device differs from the CPU's result. `difference` says where."""

    def __init__(self, difference: "Difference") -> None:
        super().__init__(str(difference))
        self.difference = difference


@dataclass(frozen=True)
class Difference:
    """One result that differs from the CPU's result."""

    op: str
    """Such as "aten.mm.default"."""
    what: str
    """Which tensor: "result 0", or "argument self" of an operator that writes it."""
    arguments: tuple[str, ...]
    """The arguments: dtypes, shapes and devices of tensors, values of all others."""
    problem: str
    """What differs; for values, with the numbers below."""
    index: tuple[int, ...] | None = None
    """Where the absolute error is largest."""
    actual: object = None
    expected: object = None
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    mismatched: int = 0
    """Elements outside the tolerance."""

    def __str__(self) -> str:
        return f"{self.op}({', '.join(self.arguments)}): {self.what} {self.problem}"


@dataclass
class Comparison:
    """The findings of a comparison; kept up to date while it runs."""

    compared: collections.Counter[str] = field(default_factory=collections.Counter)
    """Calls by operator."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Operators that were called and not compared, and why."""
    differences: list[Difference] = field(default_factory=list)
    """The first of each operator, in the order in which they were found."""

    @property
    def first(self) -> Difference | None:
        return self.differences[0] if self.differences else None

    def __str__(self) -> str:
        calls = sum(self.compared.values())
        lines = [f"{calls} calls of {len(self.compared)} operators compared, {len(self.differences)} differ"]
        lines += [f"  {difference}" for difference in self.differences]
        lines += [f"  not compared: {op}: {why}" for op, why in sorted(self.skipped.items())]
        return "\n".join(lines)


class compare(TorchDispatchMode):  # noqa: N801  (a context manager, named as it is used)
    """Check each operator in the block against the CPU; `with compare("mybackend") as comparison: ...`.

    `kind` is the device's type. `rtol` and `atol`: both or neither; by default they go by the dtype. `raise_on_first` raises CompareError at the first
    difference; otherwise the first of each operator is warned of and kept in `comparison.differences`.
    """

    def __init__(
        self,
        kind: str,
        rtol: float | None = None,
        atol: float | None = None,
        raise_on_first: bool = True,
    ) -> None:
        super().__init__()
        if (rtol is None) != (atol is None):
            raise ValueError("give both rtol and atol, or neither")
        given = None if rtol is None or atol is None else (rtol, atol)
        if given is not None and not min(given) >= 0:
            raise ValueError("tolerances must not be negative")
        self._kind = kind
        self._tolerances = given
        self._raise_on_first = raise_on_first
        self._lock = threading.Lock()  # backward runs on threads of its own
        self.result = Comparison()

    def __enter__(self) -> Comparison:
        super().__enter__()
        return self.result

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not _has_tensor_of(self._kind, (args, kwargs)):
            return func(*args, **kwargs)
        name = str(func)
        why = _why_not(func)
        if why is None:
            with torch.no_grad():
                host_args, host_kwargs = _Snapshot(self._kind).of((args, kwargs))
        actual = func(*args, **kwargs)
        if why is None:
            try:
                expected = func(*host_args, **host_kwargs)
            except NotImplementedError:
                why = "the CPU has no kernel for it"
        if why is not None:
            with self._lock:
                self.result.skipped.setdefault(name, why)
            return actual
        difference = self._check(func, (args, kwargs), actual, (host_args, host_kwargs), expected)
        with self._lock:
            self.result.compared[name] += 1
            if difference is not None and all(known.op != name for known in self.result.differences):
                self.result.differences.append(difference)
            else:
                difference = None if not self._raise_on_first else difference
        if difference is not None:
            if self._raise_on_first:
                raise CompareError(difference)
            warnings.warn(f"not as on the CPU: {difference}", stacklevel=2)
        return actual

    def _check(self, func: Any, given: _Call, actual: Any, host_given: _Call, expected: Any) -> Difference | None:
        packet = func.overloadpacket.__name__
        pairs = [
            (f"result {i}", a, e)
            for i, (a, e) in enumerate(zip(tree_flatten(actual)[0], tree_flatten(expected)[0], strict=True))
        ]
        if packet in _FIRST_RESULT_ONLY:
            pairs = pairs[:1]
        for argument, a, e in _written(func, given, host_given):
            pairs.append((f"argument {argument}", a, e))
        for what, a, e in pairs:
            found = _difference(a, e, self._tolerances)
            if found is not None:
                return Difference(str(func), what, _described(func, *given), **found)
        return None


def _has_tensor_of(kind: str, tree: Any) -> bool:
    tensors = (x for x in tree_flatten(tree)[0] if isinstance(x, torch.Tensor))
    return any(x.device.type == kind for x in tensors)


def _why_not(func: Any) -> str | None:
    if torch.Tag.nondeterministic_seeded in func.tags:
        return "random"
    packet = func.overloadpacket.__name__
    return next((why for why, ops in _UNDECIDED.items() if packet in ops), None)


class _Snapshot:
    """Copies of arguments on the CPU, as they are now; what shares memory still does."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._storages: dict[int, torch.UntypedStorage] = {}

    def of(self, tree: Any) -> Any:
        return tree_map(self._copy, tree)

    def _copy(self, value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == self._kind:
            return torch.device("cpu")
        if isinstance(value, torch.Generator) or not isinstance(value, torch.Tensor):
            return value
        storage = value.untyped_storage()
        key = storage._cdata
        if key not in self._storages:
            self._storages[key] = storage.cpu() if value.device.type != "cpu" else storage.clone()
        host = torch.empty(0, dtype=value.dtype)
        host.set_(self._storages[key], value.storage_offset(), value.size(), value.stride())
        if value.is_conj():
            host = torch._conj(host)
        if value.is_neg():
            host = torch._neg_view(host)
        return host


def _written(func: Any, given: _Call, host_given: _Call) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """(name, on the device, on the host) of the tensors that the operator writes."""
    for i, argument in enumerate(func._schema.arguments):
        info = argument.alias_info
        if info is None or not info.is_write:
            continue
        both = []
        for args, kwargs in (given, host_given):
            both.append(args[i] if i < len(args) else kwargs.get(argument.name))
        for a, e in zip(*(tree_flatten(value)[0] for value in both), strict=True):
            if isinstance(a, torch.Tensor):
                yield argument.name, a, e


def _described(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    names = [argument.name for argument in func._schema.arguments]
    named = {**dict(zip(names, args, strict=False)), **kwargs}
    return tuple(f"{name}={_text(value)}" for name, value in named.items())


def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)} on {value.device}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return repr(value)


def _difference(actual: Any, expected: Any, tolerances: tuple[float, float] | None) -> dict[str, Any] | None:
    """The faults of `actual`, as fields of Difference."""
    if not isinstance(actual, torch.Tensor) or not isinstance(expected, torch.Tensor):
        same = actual == expected or (actual != actual and expected != expected)
        if not same and isinstance(actual, float) and isinstance(expected, float):
            return _difference(torch.tensor(actual), torch.tensor(expected), tolerances)
        return None if same else {"problem": f"is {actual!r}, not {expected!r}"}
    if actual.dtype != expected.dtype:
        return {"problem": f"has dtype {actual.dtype}, not {expected.dtype}"}
    if actual.shape != expected.shape:
        return {"problem": f"has shape {list(actual.shape)}, not {list(expected.shape)}"}
    if actual.layout != torch.strided or actual.numel() == 0:
        return None
    rtol, atol = tolerances or _TOLERANCES.get(actual.dtype, (0.0, 0.0))
    wide = torch.complex128 if actual.is_complex() else torch.float64
    with torch.no_grad():
        host = actual.detach().cpu()
        reference = expected.detach().cpu()
        close = host == reference
        if actual.is_floating_point() or actual.is_complex():
            a, e = host.to(wide), reference.to(wide)
            close |= torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
        if bool(close.all()):
            return None
        a, e = host.to(wide), reference.to(wide)
        error = (a - e).abs().masked_fill(close, 0)
        error = error.nan_to_num(nan=float("inf"), posinf=float("inf"))
        relative = (error / e.abs()).masked_fill(close, 0).nan_to_num(nan=float("inf"), posinf=float("inf"))
        flat = int(error.argmax())
        index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), error.shape))
        largest, largest_relative = float(error.max()), float(relative.max())
        mismatched = int((~close).sum())
        values = (host[index].item(), reference[index].item())
    return {
        "problem": (
            f"differs in {mismatched} of {close.numel()} elements: at {list(index)} it is {values[0]!r}, "
            f"not {values[1]!r}; largest error {largest:.6g} absolute, {largest_relative:.6g} relative "
            f"(allowed {atol:g} and {rtol:g})"
        ),
        "index": index,
        "actual": values[0],
        "expected": values[1],
        "max_abs_error": largest,
        "max_rel_error": largest_relative,
        "mismatched": mismatched,
    }


def _tolerance(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (value := float(text)) < math.inf:
            return value
    raise argparse.ArgumentTypeError(f"{text}: not a number from 0 on")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.Parser(
        prog=command.program("compare"),
        description="Run a script and compare each operator's result on a device with the CPU's result.",
        epilog="Exit codes: 0 nothing differs, 1 something does; otherwise the script's own.",
    )
    device.add_arguments(parser)
    parser.add_argument("--first", action="store_true", help="stop at the first difference, with a traceback")
    parser.add_argument("--rtol", type=_tolerance, metavar="X", help="relative tolerance; default: by the dtype")
    parser.add_argument("--atol", type=_tolerance, metavar="X", help="absolute tolerance; give both or neither")
    command.add_script(parser)
    options = parser.parse_args(arguments)
    if (options.rtol is None) != (options.atol is None):
        command.fail("--rtol and --atol go together", "give both, or neither")
    command.check_script(options.script)
    kind = device.open_device(options.device, options.package)
    with compare(kind, options.rtol, options.atol, raise_on_first=options.first) as comparison:
        try:
            command.run_script(options.script, options.arguments)
        finally:
            print(comparison, file=sys.stderr)
    return command.Exit.NO if comparison.differences else command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
