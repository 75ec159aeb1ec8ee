"""Judges of results that select elements of the input: the indices have to select the values."""

from collections.abc import Callable
from typing import Any

import torch

from .compare import values_differ
from .question import FIRST, Question, Tie, Unjudged, Wrong, same


def line(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(1) if x.dim() == 0 else x


def picked(x: torch.Tensor, dim: int, indices: torch.Tensor) -> torch.Tensor:
    """The elements that indices select along a dimension. Both have that dimension."""
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype == torch.bool:
        raise Unjudged  # out= of another dtype
    x, indices = line(x), line(indices).long()
    if indices.dim() != x.dim():
        raise Unjudged
    outside = (indices < 0) | (indices >= x.size(dim))
    if outside.any():
        raise Wrong(f"index {int(indices[outside][0])} is outside of dimension {dim}, which has {x.size(dim)} elements")
    return x.gather(dim, indices)


def alike(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b) | ((a != a) & (b != b))


def select(q: Question, dim: int, values: torch.Tensor, indices: torch.Tensor) -> None:
    found = picked(q.input, dim, indices).to(values.dtype)
    wrong = ~alike(found, line(values))
    if wrong.any():
        raise Wrong(
            f"the indices select {found[wrong][0].item()} where the values have {line(values)[wrong][0].item()}; "
            f"{int(wrong.sum())} of {wrong.numel()} elements"
        )


def distinct(indices: torch.Tensor, dim: int) -> None:
    listed = line(indices).sort(dim).values
    if (
        listed.narrow(dim, 1, max(listed.size(dim) - 1, 0)) == listed.narrow(dim, 0, max(listed.size(dim) - 1, 0))
    ).any():
        raise Wrong("an index occurs twice")


def kept(q: Question, dim: int, results: list[torch.Tensor]) -> list[torch.Tensor]:
    """Results of a reduction with the reduced dimension, whatever keepdim is."""
    return [x.unsqueeze(dim) if x.dim() < q.input.dim() else x for x in results]


def dim_of(q: Question, place: int, default: Any = -1) -> int:
    dim = q.argument(place, "dim", default)
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise Unjudged
    return dim % max(q.input.dim(), 1)


def topk(q: Question) -> None:
    dim, ours, theirs = dim_of(q, 2), q.ours[0], q.theirs[0]
    if not q.argument(4, "sorted", True):
        ours, theirs = (line(x).sort(dim).values for x in (ours, theirs))
    text = values_differ(ours, theirs, (0.0, 0.0))
    if text is not None:
        raise Wrong(f"values: {text}")
    select(q, dim, q.ours[0], q.ours[1])
    distinct(q.ours[1], dim)


def sorted_flags(q: Question) -> tuple[int, bool]:
    """The dimension of sort() and argsort(), which have an overload with stable= in the second place."""
    if len(q.args) > 1 and isinstance(q.args[1], bool):
        raise Unjudged
    return dim_of(q, 1), bool(q.kwargs.get("stable"))


def sort(q: Question) -> None:
    dim, stable = sorted_flags(q)
    if stable:
        raise Wrong("stable=True: the order of equal elements is part of the result")
    same(q, 0, "values")
    select(q, dim, *q.ours)
    distinct(q.ours[1], dim)


def argsort(q: Question) -> None:
    dim, stable = sorted_flags(q)
    if stable:
        raise Wrong("stable=True: the order of equal elements is part of the result")
    select(q, dim, picked(q.input, dim, q.theirs[0]), q.ours[0])
    distinct(q.ours[0], dim)


def reduced(place: int, first: bool = False) -> Callable[[Question], None]:
    """kthvalue, median, and max and min along a dimension: a value and where it is."""

    def judge(q: Question) -> None:
        if len(q.ours) != 2 or len(q.args) > place and isinstance(q.args[place], torch.Tensor):
            raise Unjudged  # without a dimension it returns values only
        dim = dim_of(q, place)
        same(q, 0, "values")
        select(q, dim, *kept(q, dim, q.ours))
        if first:
            raise Tie(FIRST)

    return judge


def mode(q: Question) -> None:
    """Any of the most frequent values."""
    dim = dim_of(q, 1)
    ours, theirs = kept(q, dim, q.ours), kept(q, dim, q.theirs)

    def times(values: torch.Tensor) -> torch.Tensor:
        return (line(q.input).to(values.dtype) == line(values)).sum(dim)

    if (times(ours[0]) != times(theirs[0])).any():
        raise Wrong("a value is less frequent than the one that the CPU found")
    select(q, dim, *ours)


def argument_of_extremum(q: Question) -> None:
    x, dim = q.input, q.argument(1, "dim")
    if dim is None:
        x, dim = x.reshape(-1), 0
        ours, theirs = q.ours[0].reshape(1), q.theirs[0].reshape(1)
    else:
        dim = dim_of(q, 1)
        ours, theirs = kept(q, dim, [q.ours[0]])[0], kept(q, dim, [q.theirs[0]])[0]
    mask = q.kwargs.get("mask")
    if mask is not None and not (mask if mask.dtype == torch.bool else mask.bool()).all():
        raise Unjudged
    if (wrong := ~alike(picked(x, dim, ours), picked(x, dim, theirs))).any():
        raise Wrong(f"{int(wrong.sum())} of {wrong.numel()} indices don't select the extremum")
    raise Tie(FIRST)


def cumulated(q: Question) -> None:
    dim = dim_of(q, 1)
    same(q, 0, "values")
    select(q, dim, *q.ours)
    place = torch.arange(line(q.input).size(dim)).view([-1 if i == dim else 1 for i in range(max(q.input.dim(), 1))])
    if (line(q.ours[1]) > place).any():
        raise Wrong("an index is behind its own place")


def tuple_of(value: Any, count: int) -> tuple[int, ...]:
    listed = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return listed * count if len(listed) == 1 else listed


def ends(q: Question, dims: int, adaptive: bool) -> list[tuple[torch.Tensor, torch.Tensor, int]]:
    """Of each dimension of a pool the first and the last place of each window, and the step between."""
    found = []
    sizes, outs = q.input.shape[-dims:], q.ours[1].shape[-dims:]
    kernel = tuple_of(q.argument(1, "kernel_size", 1), dims)
    stride, padding, dilation = (
        tuple_of(q.argument(place, name, default) or default, dims)
        for place, name, default in ((2, "stride", kernel), (3, "padding", 0), (4, "dilation", 1))
    )
    for i, (size, out) in enumerate(zip(sizes, outs, strict=True)):
        at = torch.arange(out)
        if adaptive:
            found.append((at * size // out, -(-(at + 1) * size // out) - 1, 1))
        else:
            begin = at * stride[i] - padding[i]
            found.append((begin, begin + (kernel[i] - 1) * dilation[i], dilation[i]))
    return found


def pool(dims: int, adaptive: bool = False) -> Callable[[Question], None]:
    def judge(q: Question) -> None:
        if len(q.ours) != 2:
            raise Unjudged  # without indices the result is unique
        same(q, 0, "values")
        indices = q.ours[1]
        flat = [x.flatten(-dims) for x in (q.input, *q.ours)]
        select(Question((flat[0],), {}, [], []), flat[0].dim() - 1, flat[1], flat[2])
        rest = indices
        for i in reversed(range(dims)):
            first, last, step = ends(q, dims, adaptive)[i]
            shape = [-1 if j == i else 1 for j in range(dims)]
            size = q.input.size(i - dims)
            at, rest = rest % size, rest // size
            begin = first.view(shape)
            if ((at < begin) | (at > last.view(shape)) | ((at - begin) % step != 0)).any():
                raise Wrong("an index is outside of its window")

    return judge


def scattered(dim_place: int, dims: int = 0) -> Callable[[Question, torch.Tensor], torch.Tensor]:
    """The gradient of a selection: each seed at the place that the device chose."""

    def gradient(q: Question, seed: torch.Tensor) -> torch.Tensor:
        x = q.input
        if dims:
            flat = torch.zeros(x.flatten(-dims).shape, dtype=x.dtype)
            return flat.scatter_add(-1, q.ours[1].flatten(-dims), seed.flatten(-dims)).view(x.shape)
        dim = dim_of(q, dim_place)
        indices, seed = kept(q, dim, [q.ours[1], seed])
        return torch.zeros_like(line(x)).scatter_add(dim, line(indices), line(seed)).view(x.shape)

    return gradient
