# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Inductor's kinds of reductions, as code that looks like C: accumulators, the step for one more value, how two are combined.

A loop that one work item runs needs steps alone; lanes, work-groups and two stages combine what they have.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Reduction(NamedTuple):
    """One kind of reduction for one dtype. Names and values are texts."""

    accumulators: list[tuple[str, str, torch.dtype]]  # type, what it begins with, dtype
    step: Callable[[list[str], Any, str], list[str]]  # (accumulators, value or values, its place): statements
    combine: Callable[[list[str], list[str]], list[str]]  # (accumulators, others): statements that change the first
    result: slice | int  # which of the accumulators are the result


# By one accumulator: what it begins with, and what becomes of `a` and one more value, or another accumulator, `b`.
_PLAIN = {
    "sum": ("0", "{a} + {b}"),
    "prod": ("1", "{a} * {b}"),
    "any": ("0", "({a} || {b})"),
    "xor_sum": ("0", "{a} ^ {b}"),
    "max": ("{low}", "({b} != {b} || {a} < {b} ? {b} : {a})"),
    "min": ("{high}", "({b} != {b} || {a} > {b} ? {b} : {a})"),
}
_OF_PLACES = ("argmax", "argmin", "argmax_value", "argmin_value", "argmax_with_value", "argmin_with_value")


def limits(dtype: torch.dtype) -> tuple[str, str]:
    """The lowest and the highest number."""
    if dtype.is_floating_point:
        return "-INFINITY", "INFINITY"
    if dtype is torch.bool:
        return "0", "1"
    info = torch.iinfo(dtype)
    return f"({info.min + 1} - 1)", str(info.max)


def reduction_of(
    how: str, dtype: torch.dtype, src: torch.dtype, names: Callable[[torch.dtype], str], place: str
) -> Reduction:
    """What `how` does with values of dtype `src`. `names`: of types; `place`: the type of indices."""
    if how in _PLAIN:
        return _plain(how, dtype, src, names)
    if how in _OF_PLACES:
        return _of_places(how, dtype, src, names(src), place)
    if how in ("welford_reduce", "welford_combine"):
        return _welford(how, dtype, names(dtype))
    if how == "online_softmax_reduce":
        return _softmax(dtype, names(dtype))
    raise NotImplementedError(f"a kernel of work items that reduces by {how}")


def _plain(how: str, dtype: torch.dtype, src: torch.dtype, names: Callable[[torch.dtype], str]) -> Reduction:
    begin, text = _PLAIN[how]
    low, high = limits(src)
    kind = names(dtype if how in ("sum", "prod") else src)

    def combine(mine: list[str], others: list[str]) -> list[str]:
        return [f"{mine[0]} = {text.format(a=mine[0], b=others[0])};"]

    begins = begin.format(low=low, high=high)
    return Reduction([(kind, begins, dtype)], lambda mine, value, _: combine(mine, [str(value)]), combine, 0)


def _of_places(how: str, dtype: torch.dtype, src: torch.dtype, kind: str, place: str) -> Reduction:
    low, high = limits(src)
    most = how.startswith("argmax")
    sign = ">" if most else "<"

    def step(mine: list[str], value: Any, where: str) -> list[str]:
        best, at = mine
        nan = f"({value} != {value} && {best} == {best})" if src.is_floating_point else "0"
        better = f"{at} < 0 || {value} {sign} {best} || {nan}"
        return [
            f"const bool better_{at} = {better};",
            f"{best} = better_{at} ? {value} : {best};",
            f"{at} = better_{at} ? {where} : {at};",
        ]

    def combine(mine: list[str], others: list[str]) -> list[str]:
        """The first of equal values; NaN wins over any number."""
        (best, at), (other, there) = mine, others
        nan = f"({other} != {other} && {best} == {best})" if src.is_floating_point else "0"
        both = f" || ({other} != {other} && {best} != {best})" if src.is_floating_point else ""
        first = f"(({other} == {best}{both}) && {there} < {at})"
        better = f"{there} >= 0 && ({at} < 0 || {other} {sign} {best} || {nan} || {first})"
        return [f"if ({better})", "{", f"    {best} = {other};", f"    {at} = {there};", "}"]

    result = slice(0, 2) if how.endswith("with_value") else 0 if how.endswith("value") else 1
    places = dtype if result == 1 else torch.int64
    return Reduction([(kind, low if most else high, src), (place, "-1", places)], step, combine, result)


def _welford(how: str, dtype: torch.dtype, kind: str) -> Reduction:
    def step(mine: list[str], value: Any, _: str) -> list[str]:
        mean, m2, count = mine
        return [
            f"{count} += 1;",
            f"const {kind} delta_{mean} = {value} - {mean};",
            f"{mean} += delta_{mean} / {count};",
            f"{m2} += delta_{mean} * ({value} - {mean});",
        ]

    def combine(mine: list[str], others: list[str]) -> list[str]:
        (mean, m2, count), (mean_b, m2_b, count_b) = mine, others
        lines = [
            f"const {kind} all = {count} + {count_b};",
            f"const {kind} part = all == 0 ? 0 : {count_b} / all;",
            f"const {kind} apart = {mean_b} - {mean};",
            f"{mean} += apart * part;",
            f"{m2} += {m2_b} + apart * apart * {count} * part;",
            f"{count} = all;",
        ]
        return ["{", *(f"    {line}" for line in lines), "}"]

    def combine_values(mine: list[str], values: Any, _: str) -> list[str]:
        return combine(mine, [str(value) for value in values])

    accumulators = [(kind, "0", dtype)] * 3
    return Reduction(accumulators, step if how == "welford_reduce" else combine_values, combine, slice(0, 3))


def _softmax(dtype: torch.dtype, kind: str) -> Reduction:
    """The largest, and the sum of exp(value - largest)."""

    def combine(mine: list[str], others: list[str]) -> list[str]:
        (most, total), (most_b, total_b) = mine, others
        larger = f"{most_b} != {most_b} || {most} < {most_b} ? {most_b} : {most}"
        lines = [
            f"const {kind} larger = {larger};",
            f"const {kind} here = {most} == larger ? {total} : {total} * exp({most} - larger);",
            f"const {kind} there = {most_b} == larger ? {total_b} : {total_b} * exp({most_b} - larger);",
            f"{total} = here + there;",
            f"{most} = larger;",
        ]
        return ["{", *(f"    {line}" for line in lines), "}"]

    def step(mine: list[str], value: Any, _: str) -> list[str]:
        return combine(mine, [str(value), f"(({kind})1)"])

    return Reduction([(kind, "-INFINITY", dtype), (kind, "0", dtype)], step, combine, slice(0, 2))
