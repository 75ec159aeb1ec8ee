"""Variants with numbers: Python numbers and 0-dim CPU tensors in the place of tensors, tensors of other dtypes."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from .compare import Call
from .variants import OpSample, places, variant

NUMBERS = (2, 2.5, True, 1.5 + 2j)
SIZES = ("scale_factor",)  # of which more would be more memory
ZERO_DIM = (torch.float64, torch.int64, torch.float32, torch.bool)


def replaced(args: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*args[:place], value, *args[place + 1 :])


def functions(given: OpSample) -> list[Callable[..., Any]]:
    return [f for f in (given.info.op, given.info.operator_variant) if f is not None]


@variant(most=2)
def numbers(given: OpSample) -> Iterator[Call]:
    """A Python number for each tensor in turn, by the function and by the operator."""
    for place in places(given):
        for function in functions(given):
            for number in NUMBERS:
                yield given.call(function, replaced(given.args, place, number))


def too_wide(dtype: torch.dtype) -> float | int:
    """A number that the dtype cannot hold."""
    if dtype.is_floating_point or dtype.is_complex:
        return 2 * torch.finfo(dtype).max
    return 2 if dtype == torch.bool else 2 ** (8 * dtype.itemsize)


# No number of Python's is wider than 64 bits.
@variant(most=2, applies=lambda info, dtype: dtype not in (torch.float64, torch.complex128))
def wide_numbers(given: OpSample) -> Iterator[Call]:
    """A number that the dtype cannot hold, for each tensor and each real number in turn: refused at the call, as on the CPU."""
    wide = too_wide(given.dtype)
    reals = [i for i, x in enumerate(given.args) if isinstance(x, float)]
    for place in (*places(given), *reals):
        for function in functions(given):
            yield given.call(function, replaced(given.args, place, wide))
    for name, value in given.kwargs.items():
        if isinstance(value, float) and name not in SIZES:
            yield given.call(kwargs={**given.kwargs, name: wide})


@variant(most=2)
def zero_dim_cpu(given: OpSample) -> Iterator[Call]:
    """A 0-dim CPU tensor for each tensor in turn."""
    for place in places(given):
        for function in functions(given):
            for dtype in dict.fromkeys((given.args[place].dtype, *ZERO_DIM)):
                scalar = torch.tensor(2, dtype=dtype)
                yield given.call(function, replaced(given.args, place, scalar), kept=(scalar,), refusable=True)


@variant(most=2)
def mixed_dtypes(given: OpSample) -> Iterator[Call]:
    """Another dtype for each tensor in turn."""
    for place in places(given):
        for dtype in (torch.float64, torch.float16, torch.int32, torch.bool, torch.complex64):
            if dtype == given.args[place].dtype or (given.args[place].is_complex() and not dtype.is_complex):
                continue
            yield given.call(args=replaced(given.args, place, given.args[place].to(dtype)))
            if given.info.inplace_variant is not None and not place:
                yield given.call(given.info.inplace_variant, replaced(given.args, 0, given.args[0].to(dtype)))
