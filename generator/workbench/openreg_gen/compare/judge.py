"""Finds what differs between two runs of a call, and says which is further from what the call gives with float64."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import torch

from .inputs import Call, widened
from .references import run
from .rules import outcomes
from .values import EXACT, differ, distance, terms, tolerance_of, wide


class Verdict(Enum):
    DEVICE = "the device is further off"
    REFERENCE = "the CPU is further off"
    ROUNDING = "both are about as far off"
    UNKNOWN = "the call can't be computed in float64"


class Judged(NamedTuple):
    verdict: Verdict
    text: str = ""


# A result is as near as another whose error is at most so many times smaller; with 16 bits, the last rounding decides.
_ABOUT, _ABOUT_16_BITS = 16.0, 4.0
# Results that are both further off than this, relative to the largest value, are no matter of rounding.
_ROUNDING = 0.1


class Found(NamedTuple):
    """An outcome that differs: its place among the call's outcomes, its name, and fields of Difference."""

    place: int
    what: str
    fields: dict[str, Any]
    judged: Judged

    def __str__(self) -> str:
        text = f"{self.what} {self.fields['problem']}"
        return f"{text}\n  {self.judged.text}" if self.judged.text else text


Outcomes = Sequence[tuple[str, Any]]  # on the CPU


def found_in(
    func: Any,
    before: Call,
    ours: Outcomes,
    theirs: Outcomes,
    tolerance: tuple[float, float] | None,
    twice: bool = False,
) -> Iterator[Found]:
    """What differs between the outcomes of a call on the device and on the CPU; rounding is found too.

    before: the arguments as they were, on the CPU. tolerance: None for that which fits. twice: both ran on the device.
    """
    sums = terms(func, before, [value for _, value in theirs])
    for place, ((what, actual), (_, expected)) in enumerate(zip(ours, theirs, strict=True)):
        allowed = tolerance or (EXACT if twice else tolerance_of(expected, sums))
        fields = differ(actual, expected, allowed)
        if fields is not None:
            judged = Judged(Verdict.UNKNOWN)
            if "index" in fields and not twice:
                judged = judge(func, before, place, actual, expected)
            yield Found(place, what, fields, judged)


def judge(func: Any, before: Call, place: int, actual: Any, expected: Any) -> Judged:
    """Compare both with float64. `before`: the call's arguments on the CPU; `place`: which of the call's outcomes."""
    if not isinstance(actual, torch.Tensor) or not isinstance(expected, torch.Tensor):
        return Judged(Verdict.UNKNOWN)
    exact = _exact(func, before, place)
    if exact is None or not actual.shape == expected.shape == exact.shape:
        return Judged(Verdict.UNKNOWN)
    if not (expected.is_floating_point() or expected.is_complex()):
        return _judge_exact(actual, expected, exact)
    everywhere = ~(wide(actual) == wide(expected))
    ours, theirs = distance(actual, exact, everywhere), distance(expected, exact, everywhere)
    text = f"the device's error is {ours:.3g}, the CPU's error {theirs:.3g}"
    about = _ABOUT if expected.dtype.itemsize >= 4 else _ABOUT_16_BITS
    if theirs > about * ours:
        return _judged(Verdict.REFERENCE, text)
    largest = float(wide(exact).abs().nan_to_num(posinf=0.0).max())
    if ours > about * theirs or theirs > _ROUNDING * largest:
        return _judged(Verdict.DEVICE, text)
    return _judged(Verdict.ROUNDING, text)


def _exact(func: Any, before: Call, place: int) -> torch.Tensor | None:
    try:
        call = widened(before)
        exact = outcomes(func, call, run(func, *call))[place][1]
    except Exception:  # an operator may not take numbers of 64 bits, or any that it has not seen
        return None
    return exact.detach() if isinstance(exact, torch.Tensor) else None


def _judge_exact(actual: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor) -> Judged:
    ours, theirs = (differ(each.to(exact.dtype), exact, EXACT) for each in (actual, expected))
    off = [0 if each is None else int(each["mismatched"]) for each in (ours, theirs)]
    text = f"{off[0]} elements of the device are wrong, {off[1]} of the CPU"
    if off[0] == off[1]:
        return Judged(Verdict.UNKNOWN)
    return _judged(Verdict.DEVICE if off[0] > off[1] else Verdict.REFERENCE, text)


def _judged(verdict: Verdict, text: str) -> Judged:
    return Judged(verdict, f"judged by float64: {verdict.value}: {text}")
