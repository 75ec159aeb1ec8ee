"""Compares two outcomes of a call, within a tolerance that fits its dtype and the number of terms in its sums."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from ..device import storage_of
from .inputs import Call
from .rules import named

# Relative and absolute, of sums of up to _TERMS terms; those of more terms differ by more, as a random walk does.
TOLERANCES = {
    torch.float64: (1e-7, 1e-9),
    torch.complex128: (1e-7, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.complex64: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (3e-2, 1e-2),
}
_TERMS = 64
EXACT = (0.0, 0.0)

# The argument, and the dimensions of it over which an operator sums.
_SUMMED = {
    "mm": ("self", 1),
    "addmm": ("mat1", 1),
    "addmv": ("mat", 1),
    "mv": ("self", 1),
    "dot": ("self", 0),
    "vdot": ("self", 0),
    "bmm": ("self", 2),
    "baddbmm": ("batch1", 2),
    "linear": ("input", -1),
}


def terms(func: Any, call: Call, result: Any) -> int:
    """About how many terms an element of the result sums."""
    name, values = func.overloadpacket.__name__, named(func, call)
    if name in _SUMMED:
        argument, dimension = _SUMMED[name]
        return max(1, int(values[argument].shape[dimension]))
    tensors = [x for x in tree_flatten(call)[0] if isinstance(x, torch.Tensor)]
    if name.startswith("convolution"):
        weight, other = values["weight"], values.get("grad_output")
        each = weight[0].numel() if weight.dim() and weight.shape[0] else 1
        return max(1, each, 0 if other is None else other.numel() // max(1, other.shape[1]))
    results = [
        x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel()
    ]
    if not tensors or not results:
        return 1
    return max(1, max(x.numel() for x in tensors) // min(x.numel() for x in results))


def tolerance_of(expected: Any, sums: int) -> tuple[float, float]:
    """Relative and absolute; the latter is not more than the former of the largest element, as gradients may be small."""
    if not isinstance(expected, torch.Tensor):
        return TOLERANCES[torch.float64]
    rtol, atol = (x * math.sqrt(max(1.0, sums / _TERMS)) for x in TOLERANCES.get(expected.dtype, EXACT))
    if atol and expected.numel():
        atol = min(atol, rtol * float(wide(expected).abs().nan_to_num(nan=0.0, posinf=0.0).max()))
    return rtol, atol


def on_host(value: Any) -> Any:
    """A tensor's copy on the CPU, outside of autograd; other values as they are."""
    return value.detach().cpu() if isinstance(value, torch.Tensor) else value


def shapes_differ(actual: Any, expected: Any) -> str | None:
    """How views differ that are computed without data."""
    if not isinstance(actual, torch.Tensor) or not isinstance(expected, torch.Tensor):
        return None
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return _kinds_differ(actual, expected)
    if storage_of(actual) is None:
        return None
    if actual.numel() and _strides(actual) != _strides(expected):
        return f"has strides {actual.stride()}, not {expected.stride()}"
    if actual.numel() and actual.storage_offset() != expected.storage_offset():
        return f"begins at element {actual.storage_offset()} of its memory, not {expected.storage_offset()}"
    return None


def _strides(x: torch.Tensor) -> Sequence[int]:
    return [stride if size > 1 else 0 for size, stride in zip(x.shape, x.stride(), strict=True)]


def _kinds_differ(actual: torch.Tensor, expected: torch.Tensor) -> str | None:
    if actual.dtype != expected.dtype:
        return f"has dtype {actual.dtype}, not {expected.dtype}"
    if actual.shape != expected.shape:
        return f"has shape {list(actual.shape)}, not {list(expected.shape)}"
    return None


def differ(actual: Any, expected: Any, tolerance: tuple[float, float]) -> dict[str, Any] | None:
    """The faults of `actual`, as fields of Difference; tensors are on the CPU. `tolerance` is for floating point."""
    if not isinstance(actual, torch.Tensor) or not isinstance(expected, torch.Tensor):
        same = actual == expected or (actual != actual and expected != expected)
        if not same and isinstance(actual, float) and isinstance(expected, float):
            return differ(torch.tensor(actual), torch.tensor(expected), tolerance)
        return None if same else {"problem": f"is {actual!r}, not {expected!r}"}
    problem = _kinds_differ(actual, expected)
    if problem is not None:
        return {"problem": problem}
    if actual.layout != torch.strided or actual.numel() == 0 or torch.equal(actual, expected):
        return None
    rtol, atol = tolerance
    close = actual == expected
    a, e = wide(actual), wide(expected)
    if actual.is_floating_point() or actual.is_complex():
        close |= torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    if bool(close.all()):
        return None
    error = _finite((a - e).abs().masked_fill(close, 0))
    relative = _finite((error / e.abs()).masked_fill(close, 0))
    flat = int(error.argmax())
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), error.shape))
    largest, largest_relative = float(error.max()), float(relative.max())
    mismatched = int((~close).sum())
    values = (actual[index].item(), expected[index].item())
    return {
        "problem": (
            f"differs in {mismatched} of {close.numel()} elements: at {list(index)} it is {values[0]!r}, "
            f"not {values[1]!r}; largest error {largest:.6g} absolute, {largest_relative:.6g} relative "
            f"(allowed {atol:.3g} and {rtol:.3g})"
        ),
        "index": index,
        "actual": values[0],
        "expected": values[1],
        "max_abs_error": largest,
        "max_rel_error": largest_relative,
        "mismatched": mismatched,
        "tolerance": tolerance,
    }


def wide(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.complex128 if x.is_complex() else torch.float64)


def _finite(x: torch.Tensor) -> torch.Tensor:
    return x.nan_to_num(nan=math.inf, posinf=math.inf)


def distance(x: torch.Tensor, exact: torch.Tensor, where: torch.Tensor) -> float:
    """The largest error in the elements that `where` chooses; equal infinities and NaNs have none."""
    a, e = wide(x)[where], wide(exact)[where]
    error = (a - e).abs().masked_fill((a == e) | (a.isnan() & e.isnan()), 0)
    return float(_finite(error).max()) if error.numel() else 0.0


def non_finite(x: Any) -> tuple[bool, bool]:
    """Whether a value has NaN, and whether it has an infinity."""
    if isinstance(x, float):
        return math.isnan(x), math.isinf(x)
    if not isinstance(x, torch.Tensor) or not (x.is_floating_point() or x.is_complex()) or not x.numel():
        return False, False
    if x.dtype.itemsize == 1:
        x = x.float()
    if bool(x.isfinite().all()):
        return False, False
    return bool(x.isnan().any()), bool(x.isinf().any())
