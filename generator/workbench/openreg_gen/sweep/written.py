"""Variants that write: in-place forms and out=, with targets as people and PyTorch make them."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from .compare import TOLERANCES, Call
from .copies import changed
from .variants import OpSample, conjugated, expanded, negated, overlapping, spread, turned, variant


def has_inplace(info: Any, dtype: torch.dtype) -> bool:
    return info.inplace_variant is not None


def has_out(info: Any, dtype: torch.dtype) -> bool:
    return bool(info.supports_out)


def inplace_call(
    given: OpSample, change: Callable[[torch.Tensor], torch.Tensor] | None = None, **more: Any
) -> Iterator[Call]:
    if change is None:
        yield given.call(given.info.inplace_variant)
    elif isinstance(given.sample.input, torch.Tensor) and given.sample.input.layout == torch.strided:
        target = changed(given.sample.input, change)
        if target is not given.sample.input:
            yield given.call(given.info.inplace_variant, (target, *given.sample.args), **more)


@variant(applies=has_inplace)
def inplace(given: OpSample) -> Iterator[Call]:
    yield from inplace_call(given)


@variant(most=12, applies=has_inplace)
def inplace_strided(given: OpSample) -> Iterator[Call]:
    yield from inplace_call(given, spread)
    yield from inplace_call(given, turned)


@variant(most=6, applies=lambda info, dtype: has_inplace(info, dtype) and dtype.is_complex)
def inplace_conj(given: OpSample) -> Iterator[Call]:
    yield from inplace_call(given, conjugated)


@variant(most=6, applies=lambda info, dtype: has_inplace(info, dtype) and (dtype.is_floating_point or dtype.is_complex))
def inplace_neg(given: OpSample) -> Iterator[Call]:
    yield from inplace_call(given, negated)


@variant(most=6, applies=has_inplace)
def inplace_small(given: OpSample) -> Iterator[Call]:
    """A self that would have to grow."""
    yield from inplace_call(given, lambda x: x.narrow(0, 0, 1).clone() if x.dim() > 0 and x.size(0) > 1 else x)


@variant(most=6, applies=has_inplace)
def inplace_expanded(given: OpSample) -> Iterator[Call]:
    yield from inplace_call(given, expanded, refusable=True)


@variant(most=6, applies=has_inplace)
def inplace_overlapping(given: OpSample) -> Iterator[Call]:
    yield from inplace_call(given, overlapping, refusable=True)


@variant(most=6, applies=has_inplace)
def inplace_shared(given: OpSample) -> Iterator[Call]:
    """self is an argument as well, as a whole and shifted by one element."""
    x, others = given.sample.input, given.sample.args
    if not isinstance(x, torch.Tensor) or not others or not isinstance(others[0], torch.Tensor):
        return
    if x.layout != torch.strided or x.shape != others[0].shape or x.dtype != others[0].dtype:
        return
    yield given.call(given.info.inplace_variant, (x, x, *others[1:]))
    base = torch.cat([x.detach().reshape(-1), x.detach().reshape(-1)[-1:]])
    if x.numel() > 1:
        pair = base[:-1].view(x.shape), base[1:].view(x.shape)
        yield given.call(given.info.inplace_variant, (*pair, *others[1:]))


def out_calls(given: OpSample, target: Callable[[torch.Tensor], torch.Tensor | None], **more: Any) -> Iterator[Call]:
    """out= for each of the CPU's results; none if a result is not a tensor, or a target is None."""
    expected = given.expected()
    single = isinstance(expected, torch.Tensor)
    results = (expected,) if single else expected
    if not isinstance(results, (tuple, list)) or not results:
        return
    if not all(isinstance(x, torch.Tensor) and x.layout == torch.strided for x in results):
        return
    with torch.no_grad():
        targets = [target(x.detach()) for x in results]
    if all(x is not None for x in targets):
        outs = targets[0] if single else type(expected)(targets) if type(expected) in (tuple, list) else tuple(targets)
        yield given.call(kwargs={**given.kwargs, "out": outs}, **more)


def ones(x: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(x)


@variant(applies=has_out)
def out(given: OpSample) -> Iterator[Call]:
    yield from out_calls(given, ones)


@variant(applies=has_out)
def out_empty(given: OpSample) -> Iterator[Call]:
    yield from out_calls(given, lambda x: torch.empty(0, dtype=x.dtype))


@variant(most=6, applies=has_out)
def out_strided(given: OpSample) -> Iterator[Call]:
    yield from out_calls(given, lambda x: spread(ones(x)))
    yield from out_calls(given, lambda x: turned(ones(x)))


@variant(most=6, applies=has_out)
def out_resized(given: OpSample) -> Iterator[Call]:
    """Of another shape: PyTorch warns and resizes."""
    yield from out_calls(given, lambda x: torch.ones((2, *x.shape), dtype=x.dtype))
    yield from out_calls(given, lambda x: torch.ones(1, dtype=x.dtype) if x.numel() > 1 else None)


@variant(most=4, applies=has_out)
def out_dtype(given: OpSample) -> Iterator[Call]:
    """Of another dtype: what was computed is converted, so it is no more exact than what was computed."""
    exact = given.expected()
    tolerance = TOLERANCES.get(exact.dtype) if isinstance(exact, torch.Tensor) else None
    for dtype in (torch.float64, torch.int64, torch.complex128, torch.bool):

        def target(x: torch.Tensor, dtype: torch.dtype = dtype) -> torch.Tensor | None:
            return x.to(dtype).zero_() if x.dtype != dtype else None

        yield from out_calls(given, target, tolerance=tolerance)


@variant(most=6, applies=has_out)
def out_conj(given: OpSample) -> Iterator[Call]:
    yield from out_calls(given, lambda x: ones(x).conj() if x.is_complex() else None)


@variant(most=6, applies=has_out)
def out_neg(given: OpSample) -> Iterator[Call]:
    yield from out_calls(given, lambda x: negated(ones(x)) if x.is_floating_point() or x.is_complex() else None)


# PyTorch's kernels of these don't look at the strides of out=, and write past the end of its memory (_scaled_mm on some processors).
CARELESS = ("nn.functional.avg_pool3d", "narrow_copy", "torch._scaled_mm")


@variant(most=4, applies=lambda info, dtype: has_out(info, dtype) and info.name not in CARELESS)
def out_expanded(given: OpSample) -> Iterator[Call]:
    def shared(x: torch.Tensor) -> torch.Tensor | None:
        return expanded(ones(x)) if x.dim() > 0 and x.size(0) > 1 else None

    yield from out_calls(given, shared, refusable=True)


@variant(most=6, applies=has_out)
def out_is_input(given: OpSample) -> Iterator[Call]:
    """The first output that fits. Two that are one tensor make PyTorch's sort write past the end of memory."""
    x = given.sample.input
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided:
        return
    inputs = [x]

    def target(y: torch.Tensor) -> torch.Tensor:
        return inputs.pop() if inputs and (x.shape, x.dtype) == (y.shape, y.dtype) else ones(y)

    yield from (call for call in out_calls(given, target) if not inputs)


@variant(most=6, applies=has_out)
def out_overlaps_input(given: OpSample) -> Iterator[Call]:
    """out= begins one element after the first input."""
    x = given.sample.input
    expected = given.expected()
    if not isinstance(x, torch.Tensor) or not isinstance(expected, torch.Tensor):
        return
    if x.layout != torch.strided or expected.layout != torch.strided or x.dtype != expected.dtype:
        return
    if x.numel() < 2 or expected.numel() < 1:
        return
    size = x.numel()
    base = torch.cat([x.detach().reshape(-1), torch.ones(expected.numel() + 1, dtype=x.dtype)])
    out = base[1 : 1 + expected.numel()].view(expected.shape)
    yield given.call(args=(base[:size].view(x.shape), *given.sample.args), kwargs={**given.kwargs, "out": out})
