"""Which samples of an operator a short sweep takes: those in which most kernels' faults show.

PyTorch's first sample is often one number, which shows nothing of strides, dimensions or broadcasting. So the first pick is the largest
sample that is small, and each further pick has most of what the picks before did not have. The variants take turns: each begins
with another pick.
"""

from collections.abc import Hashable, Iterator
from typing import Any

import torch

from .copies import tensors

DRAWN = 16  # samples that are looked at, at least
PICKS = 8
SMALL = 5_000  # elements
LONG = 32  # elements of a row, above which kernels loop
# They show nothing on tensors of less than two dimensions.
OF_STRIDES = ("noncontiguous", "transposed", "expanded_inputs", "overlapping_inputs", "out_strided", "inplace_strided")

# They make many calls of one sample, and take the one whose turn it is.
MANY = ("numbers", "wide_numbers", "zero_dim_cpu", "mixed_dtypes", "out_dtype")


def inputs_of(sample: Any) -> list[torch.Tensor]:
    return list(tensors((sample.input, sample.args, sample.kwargs)))


def rank(sample: Any) -> int:
    return max((x.dim() for x in inputs_of(sample) if x.numel()), default=-1)


def size(sample: Any) -> int:
    return sum(x.numel() for x in inputs_of(sample))


def _repeated(x: torch.Tensor, shape: torch.Size) -> Hashable:
    """How a tensor is broadcast to a shape: along leading, middle or last dimensions."""
    own = (1,) * (len(shape) - x.dim()) + tuple(x.shape)
    repeated = [i for i, (a, b) in enumerate(zip(own, shape, strict=True)) if a != b]
    if not repeated:
        return "whole"
    return (repeated[-1] == len(shape) - 1, repeated == list(range(len(repeated))))


def _features(sample: Any) -> Iterator[Hashable]:
    listed = inputs_of(sample)
    yield "rank", rank(sample)
    yield "empty", any(x.numel() == 0 for x in listed)
    yield "long", any(length > LONG for x in listed for length in x.shape)
    yield "dense", all(x.layout != torch.strided or x.is_contiguous() for x in listed)
    if len(listed) > 1:
        try:
            shape = torch.broadcast_shapes(*(x.shape for x in listed))
        except RuntimeError:  # they aren't broadcast
            pass
        else:
            yield from ((place, _repeated(x, shape)) for place, x in enumerate(listed))
    for name, value in (*enumerate(sample.args), *sample.kwargs.items()):
        if not any(True for _ in tensors(value)):
            yield name, repr(value)[:80], min(rank(sample), 2)


def picks(samples: list[Any], least: int = 1) -> list[int]:
    """Indices of the samples that show most, the best first; at least so many if there are."""
    features = [frozenset(_features(sample)) for sample in samples]
    sizes = [size(sample) for sample in samples]

    def weight(index: int) -> int:
        return sizes[index] if sizes[index] <= SMALL else -sizes[index]

    left = set(range(len(samples)))
    found: list[int] = []
    seen: set[Hashable] = set()
    while left and len(found) < max(PICKS, least):
        if found:
            best = max(left, key=lambda index: (len(features[index] - seen), weight(index), -index))
            if features[best] <= seen and len(found) >= least:
                break
        else:
            best = max(left, key=lambda index: (min(rank(samples[index]), 2), weight(index), -index))
        found.append(best)
        seen |= features[best]
        left.remove(best)
    return found


def turn(samples: list[Any], picked: list[int], variant: str, number: int, most: int) -> list[int]:
    """The picks in the order in which a variant tries them. `number`: of the variant."""
    begin = number % max(len(picked), 1)
    order = picked[begin:] + picked[:begin]
    if variant in OF_STRIDES:
        order.sort(key=lambda index: -min(rank(samples[index]), 2))
    return order[:most] if variant in MANY else order
