"""What `openreg-gen try` runs a kernel on beside PyTorch's own samples: sizes around tile borders, a model's recorded arguments,
more than 2^31 elements, and inputs that PyTorch's samples don't have. The sweep runs these only if they are named.

Subjects "borders:add" and "large:add" are an OpInfo with other samples; "recorded:ops.json:add.out" is an operator of a file.
"""

import copy
import functools
import itertools
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .. import shapes
from ..record import load
from ..testing import forms, opinfos
from .compare import Call
from .copies import changed, tensors
from .variants import OpSample, variant, with_inputs

BORDERS, LARGE, RECORDED = "borders:", "large:", "recorded:"
SIZES = (0, 1, 31, 32, 33, 127, 128, 129)
LONG = 8191  # so many small numbers add up to nothing more in 16 bits
HUGE = 2**31 + 33
MOST_ELEMENTS = 100_000
MOST_RECORDED = 1 << 27
FOUR = (2, 33, 3, 5)  # what channels_last is tried with

Shape = tuple[int, ...]
Resize = Callable[[Shape], Shape]


# --- variants


def shifted(x: torch.Tensor) -> torch.Tensor:
    """The same dense elements in memory that begins elsewhere, behind other numbers."""
    memory = torch.cat([x.detach().new_ones(3), x.detach().reshape(-1), x.detach().new_ones(2)])
    return memory[3 : 3 + x.numel()].view(x.shape)


def special(x: torch.Tensor) -> torch.Tensor:
    """With NaN and infinities among the elements."""
    if not (x.is_floating_point() or x.is_complex()) or x.numel() < 4:
        return x
    y = x.detach().clone(memory_format=torch.contiguous_format)
    flat = y.view(-1)
    flat[0], flat[flat.numel() // 2], flat[-1] = math.nan, math.inf, -math.inf
    return y


@variant(most=12, named=True)
def offset(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, shifted)


@variant(most=12, named=True)
def not_finite(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, special)


@variant(most=12, named=True)
def ignored_input(given: OpSample) -> Iterator[Call]:
    """beta=0: the first tensor isn't read, so a NaN there doesn't matter."""
    if "beta" in given.kwargs and isinstance(given.sample.input, torch.Tensor) and given.floating:
        nothing = torch.full_like(given.sample.input, math.nan)
        yield given.call(args=(nothing, *given.sample.args), kwargs={**given.kwargs, "beta": 0})


def takes_dim(info: Any, place: int) -> bool:
    """Whether an overload has a dimension as its argument number `place`."""
    packet = getattr(torch.ops.aten, info.aten_name or info.name, None)
    for name in () if packet is None else packet.overloads():
        arguments = getattr(packet, name)._schema.arguments
        if place < len(arguments) and arguments[place].name == "dim":
            return True
    return False


@variant(most=12, named=True)
def dim_from_end(given: OpSample) -> Iterator[Call]:
    """Dimensions counted from the end."""
    x = given.sample.input
    rank = x.dim() if isinstance(x, torch.Tensor) else 0

    def turned(dim: Any) -> Any:
        if isinstance(dim, (tuple, list)):
            return type(dim)(turned(each) for each in dim)
        return dim - rank if isinstance(dim, int) and not isinstance(dim, bool) and 0 <= dim < rank else dim

    args = tuple(
        turned(value) if takes_dim(given.info, place + 1) else value for place, value in enumerate(given.sample.args)
    )
    kwargs = {name: turned(value) if name == "dim" else value for name, value in given.kwargs.items()}
    if (args, kwargs) != (given.sample.args, given.kwargs) and rank:
        yield given.call(args=(x, *args), kwargs=kwargs)


# --- samples of other sizes


def tiled(x: torch.Tensor, shape: Shape) -> torch.Tensor:
    """With another size in some dimensions, or of another rank; the elements repeat."""
    if len(shape) != x.dim():
        return x.reshape(-1)[torch.arange(math.prod(shape)) % x.numel()].view(shape)
    for dim, size in enumerate(shape):
        if size != x.size(dim):
            x = x.index_select(dim, torch.arange(size) % x.size(dim))
    return x


def all_of_size(old: int, new: int) -> Resize:
    return lambda shape: tuple(new if size == old else size for size in shape)


def along(end: int, new: int) -> Resize:
    def resize(shape: Shape) -> Shape:
        if not shape or shape[end] <= 1:
            return shape
        return (*shape[:-1], new) if end else (new, *shape[1:])

    return resize


def small(x: torch.Tensor) -> torch.Tensor:
    """Positive numbers between 0.05 and 0.45, which don't cancel."""
    return (x.abs() % 0.4 + 0.05).to(x.dtype) if x.is_floating_point() else x


def resized(sample: Any, resize: Resize) -> Any | None:
    """The sample with tensors of other sizes; None if they would be too large."""
    if sum(math.prod(resize(tuple(x.shape))) for x in inputs_of(sample)) > MOST_ELEMENTS:
        return None
    return with_tensors(sample, lambda x: tiled(x, resize(tuple(x.shape))))


def with_tensors(sample: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    made = copy.copy(sample)
    made.input, made.args, made.kwargs = changed((sample.input, sample.args, sample.kwargs), change)
    return made


def inputs_of(sample: Any) -> list[torch.Tensor]:
    return list(tensors((sample.input, sample.args, sample.kwargs)))


def accepted(info: Any, sample: Any) -> bool:
    """Whether the CPU computes it, and the result isn't huge."""
    arguments = changed((sample.input, sample.args, sample.kwargs), torch.Tensor.clone)
    try:
        with torch.no_grad():
            result = info.op(arguments[0], *arguments[1], **arguments[2])
    except Exception:  # whatever it is
        return False
    return sum(x.numel() for x in tensors(result)) <= max(10 * MOST_ELEMENTS, sum(x.numel() for x in inputs_of(sample)))


def resizes_of(sample: Any) -> Iterator[tuple[int, Resize]]:
    """Each size with a way to get it."""
    given = inputs_of(sample)
    sizes = sorted({size for x in given for size in x.shape if size > 1})[:3]
    for size in (*SIZES, LONG):
        for resize in (*(all_of_size(old, size) for old in sizes), along(-1, size), along(0, size)):
            yield size, resize
    if len({x.shape for x in given}) == 1:
        yield 0, lambda shape: FOUR


class OtherSamples:
    """An OpInfo with other samples, and no error inputs."""

    error_inputs_func = None

    def __init__(self, info: Any) -> None:
        self.info = info

    def __getattr__(self, name: str) -> Any:
        return getattr(self.info, name)

    def different(self, dtype: torch.dtype, grad: bool) -> list[Any]:
        """PyTorch's samples of different ranks and keywords, those with several tensors first."""
        found: dict[Any, Any] = {}
        for sample in itertools.islice(self.info.sample_inputs("cpu", dtype, requires_grad=grad), 64):
            given = inputs_of(sample)
            if given and all(x.layout == torch.strided and not x.is_quantized and x.numel() for x in given):
                found.setdefault((tuple(x.dim() for x in given), tuple(sorted(sample.kwargs))), sample)
        return sorted(found.values(), key=lambda sample: -sum(x.dim() for x in inputs_of(sample)))


class Borders(OtherSamples):
    def sample_inputs(self, device: str, dtype: torch.dtype, requires_grad: bool = False) -> Iterator[Any]:
        seen = set()
        for sample in self.different(dtype, requires_grad)[:6]:
            for size, resize in resizes_of(sample):
                made = resized(sample, resize)
                if made is None:
                    continue
                key = repr([(x.shape, x.requires_grad) for x in inputs_of(made)]) + repr(sorted(sample.kwargs))
                if key in seen:
                    continue
                seen.add(key)
                made = with_tensors(made, small) if size == LONG else made
                if accepted(self.info, made):
                    yield made


class Large(OtherSamples):
    """One sample with more than 2^31 elements, in one dimension."""

    def sample_inputs(self, device: str, dtype: torch.dtype, requires_grad: bool = False) -> Iterator[Any]:
        for sample in reversed(self.different(dtype, False)):
            line = with_tensors(sample, lambda x: tiled(x, (64,)) if x.dim() else x)
            if accepted(self.info, line):
                yield with_tensors(line, lambda x: x.repeat(HUGE // 64 + 1)[:HUGE] if x.dim() else x)
                return


# --- recorded arguments


def relative(own: torch._ops.OpOverload, wanted: str) -> torch._ops.OpOverload | None:
    """The overload of a kind with the same arguments, out= apart."""

    def arguments(overload: torch._ops.OpOverload) -> list[tuple[str, str]]:
        return [(each.name, str(each.real_type)) for each in overload._schema.arguments if not each.is_out]

    base = own._schema.name.split("::")[1].removesuffix("_")
    for name in (base, base + "_"):
        packet = getattr(torch.ops.aten, name, None)
        for each in () if packet is None else packet.overloads():
            overload = getattr(packet, each)
            if forms.kind(overload) == wanted and arguments(overload) == arguments(own):
                return overload  # type: ignore[no-any-return]
    return None


class Recorded:
    """An operator of a file that `record --shapes` wrote, as an OpInfo."""

    error_inputs_func = None
    supports_autograd = supports_gradgrad = False
    method_variant = operator_variant = inplace_operator_variant = None
    aliases = ()

    def __init__(self, path: str, name: str) -> None:
        self.name, self.aten_name = name, name.partition(".")[0]
        found = next((op for op in load(path).ops if op.op == name), None)
        self.rows = [json.loads(text) for text in found.shapes] if found is not None else []
        own = forms.find(opinfos.INSIDE.get(name, name))
        self.main = own if forms.kind(own) == "functional" else relative(own, "functional") or own
        self.out, place = relative(own, "out"), relative(own, "inplace")
        self.supports_out = self.out is not None
        self.inplace_variant = functools.partial(self._call, place) if place is not None else None
        self.dtypes = {dtype for row in self.rows if (dtype := self._dtype(row)) is not None}

    @staticmethod
    def _dtype(row: Any) -> Any:
        """That of the first tensor."""
        each = (value for argument in row for value in (argument if isinstance(argument, list) else [argument]))
        name = next((value["tensor"] for value in each if isinstance(value, dict) and "tensor" in value), None)
        return None if name is None else getattr(torch, name)

    def _call(self, overload: torch._ops.OpOverload, *args: Any, **outs: Any) -> Any:
        names = [argument.name for argument in overload._schema.arguments if not argument.is_out]
        return forms.call(overload, dict(zip(names, args, strict=True)), outs)

    def op(self, *args: Any, out: Any = None) -> Any:
        if out is None or self.out is None:
            return self._call(self.main, *args)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        return self._call(self.out, *args, **dict(zip(forms.out_names(self.out), outs, strict=True)))

    def sample_inputs(self, device: str, dtype: torch.dtype, requires_grad: bool = False) -> Iterator[Any]:
        """Those whose first tensor has this dtype. Integers are indices into the smallest dimension, or else 0."""
        from torch.testing._internal.opinfo.core import SampleInput

        for row in self.rows:
            if self._dtype(row) != dtype:
                continue
            sizes = [size for x in _tensors_of(row) for size in x["shape"] if size > 0 and "int" not in x["tensor"]]
            for below in (min(sizes, default=8), 1):
                args = shapes.made(row, functools.partial(filled, below))
                sample = SampleInput(args[0], args=tuple(args[1:]))
                if sum(x.numel() for x in tensors(args)) <= MOST_RECORDED and accepted(self, sample):
                    yield sample
                    break


def _tensors_of(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for each in value:
            yield from _tensors_of(each)
    elif isinstance(value, dict) and "tensor" in value:
        yield value


def filled(below: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.randint(2, shape).bool()
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
    return torch.randint(below, shape).to(dtype)


@functools.cache
def find(subject: str) -> Any | None:
    """The OpInfo, or what stands for one, of a subject with a prefix; None without one. Raises record.RecordingError."""
    if subject.startswith(RECORDED):
        return Recorded(*subject.removeprefix(RECORDED).rsplit(":", 1))
    for prefix, kind in ((BORDERS, Borders), (LARGE, Large)):
        if subject.startswith(prefix):
            return kind(opinfos.database()[subject.removeprefix(prefix)])
    return None


def limit(subject: str, variant_name: str, usual: int) -> int:
    """How many elements a sample may have."""
    if subject.startswith(LARGE):
        return 1 << 40
    return MOST_RECORDED if subject.startswith(RECORDED) and variant_name == "forward" else usual
