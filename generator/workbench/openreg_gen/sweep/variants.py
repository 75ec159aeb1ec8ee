"""The variants of each sample of an OpInfo: a variant makes calls from a sample, or none if it doesn't apply."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map

from ..device import count
from . import properties
from .compare import Call
from .copies import Copier, changed, tensors
from .factors import Seeds
from .quirks import UNREAD, LOOSER, UNFILLED, UNWRITTEN


class OpSample(NamedTuple):
    """A sample of an OpInfo, made on the CPU."""

    info: Any
    sample: Any
    dtype: torch.dtype
    number: int  # of the sample

    @property
    def args(self) -> tuple[Any, ...]:
        return (self.sample.input, *self.sample.args)

    @property
    def kwargs(self) -> dict[str, Any]:
        kwargs: dict[str, Any] = self.sample.kwargs
        return kwargs

    @property
    def floating(self) -> bool:
        return self.dtype.is_floating_point or self.dtype.is_complex

    @property
    def stays(self) -> tuple[torch.Tensor, ...]:
        """Tensors that PyTorch wants on the CPU, whatever the device of the others."""
        if self.info.name == "tensor_split":
            return tuple(tensors(self.args[1:]))
        return ()

    @property
    def filled(self) -> bool:
        return self.info.name not in UNFILLED or torch.are_deterministic_algorithms_enabled()

    def call(
        self, function: Callable[..., Any] | None = None, args: Any = None, kwargs: Any = None, **more: Any
    ) -> Call:
        args = self.args if args is None else args
        more = {"kept": self.stays, "values": self.filled, **properties.judges(self.info, function), **more}
        if self.info.name in LOOSER and self.dtype in (torch.float32, torch.complex64):
            more.setdefault("tolerance", LOOSER[self.info.name])
        return Call(function or self.info.op, args, self.kwargs if kwargs is None else kwargs, **more)

    def expected(self) -> Any:
        """The CPU's result; None if it raises."""
        copier = Copier(torch.device("cpu"))
        args, kwargs = copier((self.args, self.kwargs))
        try:
            return self.info.op(*args, **kwargs)
        except Exception:  # whatever it is
            return None


Maker = Callable[[OpSample], Iterator[Call]]


class Variant(NamedTuple):
    name: str
    make: Maker
    most: int | None  # samples; None: all of them
    grad: bool  # whether samples are made with requires_grad
    applies: Callable[[Any, torch.dtype], bool]
    named: bool = False  # whether it runs only if it is named


VARIANTS: dict[str, Variant] = {}


def variant(
    most: int | None = None,
    grad: bool = False,
    applies: Callable[[Any, torch.dtype], bool] = lambda info, dtype: True,
    named: bool = False,
) -> Callable[[Maker], Maker]:
    """Registers a variant under the function's name."""

    def register(make: Maker) -> Maker:
        VARIANTS[make.__name__] = Variant(make.__name__, make, most, grad, applies, named)
        return make

    return register


def differentiable(info: Any, dtype: torch.dtype) -> bool:
    return info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)


def twice_differentiable(info: Any, dtype: torch.dtype) -> bool:
    return differentiable(info, dtype) and info.supports_gradgrad


@variant()
def forward(given: OpSample) -> Iterator[Call]:
    yield given.call()


def seeds(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Gradients to begin with, the same on each device."""
    return [
        torch.linspace(0.1, 1, x.numel(), dtype=torch.float64).reshape(x.shape).to(x.dtype).to(x.device)
        for x in outputs
    ]


def gradients_of(given: OpSample, order: int, change: Seeds = list) -> Callable[..., Any]:
    """`change`: what is done to the seeds of the outputs."""

    def function(*args: Any, **kwargs: Any) -> Any:
        leaves = [x for x in tensors((args, kwargs)) if x.requires_grad]
        value = given.info.op(*args, **kwargs)
        outputs = [x for x in tensors(given.sample.output_process_fn_grad(value)) if x.requires_grad]
        found = []
        for step in range(order):
            if not outputs or not leaves:
                break
            # Tensors that don't require a gradient end here; the CPU's graph is the same as the device's graph.
            again = step + 1 < order
            weights = seeds(outputs) if step else change(seeds(outputs))
            grads = torch.autograd.grad(outputs, leaves, weights, create_graph=again, allow_unused=True)
            found.append(grads)
            outputs = [x for x in grads if x is not None and x.requires_grad]
        return value, found

    return function


def gradient_call(given: OpSample, order: int, **more: Any) -> Call:
    judge = properties.of(
        given.info.name, "gradients", weigh=seeds, again=lambda change: gradients_of(given, order, change)
    )
    return given.call(gradients_of(given, order), judge=judge, **more)


@variant(grad=True, applies=differentiable)
def backward(given: OpSample) -> Iterator[Call]:
    yield gradient_call(given, 1)


@variant(most=3, grad=True, applies=twice_differentiable)
def second_order(given: OpSample) -> Iterator[Call]:
    if sum(x.numel() for x in tensors(given.args)) <= 2000:
        yield gradient_call(given, 2)


# --- other ways to call it


@variant(most=12, applies=lambda info, dtype: info.method_variant is not None)
def method(given: OpSample) -> Iterator[Call]:
    yield given.call(given.info.method_variant)


@variant(most=12, applies=lambda info, dtype: info.operator_variant is not None)
def operator(given: OpSample) -> Iterator[Call]:
    yield given.call(given.info.operator_variant)


@variant(most=12, applies=lambda info, dtype: info.inplace_operator_variant is not None)
def inplace_operator(given: OpSample) -> Iterator[Call]:
    yield given.call(given.info.inplace_operator_variant)


@variant(most=2, applies=lambda info, dtype: bool(info.aliases))
def alias(given: OpSample) -> Iterator[Call]:
    for other in given.info.aliases:
        yield given.call(other.op)
        if other.inplace_variant is not None:
            yield given.call(other.inplace_variant)


# --- inputs as op_db does not have them


def spread(x: torch.Tensor) -> torch.Tensor:
    """The same elements with gaps between them, in memory that begins elsewhere."""
    if x.dim() == 0:
        return torch.stack([x, x])[1]
    return torch.stack([x, x], -1)[..., 1]


def turned(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(0, -1).clone(memory_format=torch.contiguous_format).transpose(0, -1) if x.dim() > 1 else x


def channels(x: torch.Tensor) -> torch.Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.contiguous(memory_format=formats[x.dim()]) if x.dim() in formats else x


def conjugated(x: torch.Tensor) -> torch.Tensor:
    return x.conj().resolve_conj().conj() if x.is_complex() else x


def negated(x: torch.Tensor) -> torch.Tensor:
    return torch._neg_view(x.neg()) if x.dtype.itemsize > 1 and (x.is_floating_point() or x.is_complex()) else x


def emptied(x: torch.Tensor) -> torch.Tensor:
    return x.narrow(0, 0, 0).clone() if x.dim() > 0 else x


def restrided(x: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """With elements that share memory. Below them is memory for all, since some kernels of the CPU don't look."""
    return x.clone(memory_format=torch.contiguous_format).as_strided(x.shape, strides)


def expanded(x: torch.Tensor) -> torch.Tensor:
    """All along the first dimension are the first one."""
    if x.dim() == 0 or x.size(0) < 2 or x.numel() == 0:
        return x
    return restrided(x, (0, *x.contiguous().stride()[1:]))


def overlapping(x: torch.Tensor) -> torch.Tensor:
    """Neighbours share elements, as in as_strided((3, 3), (1, 1))."""
    return restrided(x, (1,) * x.dim()) if x.dim() > 1 and x.numel() > 1 else x


def with_inputs(given: OpSample, change: Callable[[torch.Tensor], torch.Tensor], **more: Any) -> Iterator[Call]:
    """The call with all its tensors changed, if any was."""
    done = []

    def note(x: torch.Tensor) -> torch.Tensor:
        y = change(x)
        done.append(y is not x)
        return y

    args, kwargs = changed((given.args, given.kwargs), note)
    if any(done) and not given.stays:
        yield given.call(args=args, kwargs=kwargs, **more)


@variant()
def noncontiguous(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, spread)


@variant(most=12)
def transposed(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, turned)


@variant(most=12)
def channels_last(given: OpSample) -> Iterator[Call]:
    if any(x.dim() in (4, 5) for x in tensors(given.args)):
        yield from with_inputs(given, channels)


@variant(most=12, applies=lambda info, dtype: dtype.is_complex)
def conj(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, conjugated)


@variant(most=12, applies=lambda info, dtype: dtype.is_floating_point or dtype.is_complex)
def neg(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, negated)


UFUNCS = ("UnaryUfuncInfo", "BinaryUfuncInfo")
INTEGERS = (*UFUNCS, "ReductionOpInfo")  # elsewhere an integer may be an index or a size


def specials(x: torch.Tensor, begin: int, extremes: bool = True) -> torch.Tensor:
    """With the values that kernels forget among the elements, from the one with a number on."""
    if x.dtype == torch.bool or x.dtype.is_complex or x.layout != torch.strided or x.numel() < 4:
        return x
    if x.is_floating_point():
        info = torch.finfo(x.dtype)
        listed = [math.nan, -0.0, info.max, math.inf, info.min, -math.inf, info.tiny]
        if not extremes:
            listed = [value for value in listed if abs(value) != info.max]
    else:
        listed = [torch.iinfo(x.dtype).max, torch.iinfo(x.dtype).min]
    y = x.detach().clone(memory_format=torch.contiguous_format)
    step = max(y.numel() // len(listed), 1)
    for place, index in enumerate(range(0, y.numel(), step)):
        if place < len(listed):
            y.view(-1)[index] = listed[(place + begin) % len(listed)]
    return y


@variant(most=3, applies=lambda info, dtype: dtype.is_floating_point or type(info).__name__ in INTEGERS)
def special_values(given: OpSample) -> Iterator[Call]:
    """NaN, infinities, -0.0, the least and the greatest numbers; in each tensor in another order. Sums with the greatest floats are
    infinite, finite or NaN by the order of their terms, and by what an FMA rounds: only operators without sums get these."""
    begins = itertools.count(0, 3)
    dtype, extremes = given.dtype, type(given.info).__name__ in UFUNCS
    yield from with_inputs(given, lambda x: specials(x, next(begins), extremes) if x.dtype == dtype else x)


@variant(most=6)
def zero_size(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, emptied, values=given.filled and given.info.name not in UNWRITTEN)


@variant(most=6)
def expanded_inputs(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, expanded, refusable=True)


@variant(most=6)
def overlapping_inputs(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, overlapping, refusable=True)


# --- what torch.compile believes


def as_fakes_say(function: Callable[..., Any]) -> Callable[..., Any]:
    """Each operator that it calls must return the sizes, strides and dtypes that fake tensors promise, and be a view where they do.

    Values aren't compared: on the CPU, linalg.pinv of complex numbers has others in such a mode.
    """
    from torch._subclasses import CrossRefFakeMode

    def checked(*args: Any, **kwargs: Any) -> Any:
        with CrossRefFakeMode():
            return function(*args, **kwargs)

    return checked


def by_heads(x: torch.Tensor) -> torch.Tensor:
    """With the memory of what attention is given: the last dimension but two is before it."""
    if x.dim() < 3 or x.layout != torch.strided:
        return x
    y = x.detach().transpose(-3, -2).contiguous().transpose(-3, -2)
    return y.requires_grad_(x.requires_grad)


@variant(most=3)
def fakes(given: OpSample) -> Iterator[Call]:
    yield given.call(as_fakes_say(given.info.op), values=False)


@variant(most=3, grad=True, applies=differentiable)
def backward_fakes(given: OpSample) -> Iterator[Call]:
    yield given.call(as_fakes_say(gradients_of(given, 1)), values=False)


@variant(most=6, grad=True, applies=differentiable)
def backward_fakes_by_heads(given: OpSample) -> Iterator[Call]:
    yield from with_inputs(given, by_heads, function=as_fakes_say(gradients_of(given, 1)), values=False)


# --- devices


@variant(most=6)
def device_1(given: OpSample) -> Iterator[Call]:
    """Inputs on device 1, device 0 is current."""
    yield given.call(device=1)


@variant(most=6, grad=True, applies=differentiable)
def backward_device_1(given: OpSample) -> Iterator[Call]:
    yield gradient_call(given, 1, device=1)


@variant(most=6)
def current_1(given: OpSample) -> Iterator[Call]:
    """Inputs on device 0, device 1 is current."""
    yield given.call(current=1)


def refuse(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("Expected all tensors to be on the same device")


def places(given: OpSample) -> list[int]:
    """Which arguments are tensors, where there are at least two."""
    found = [i for i, x in enumerate(given.args) if isinstance(x, torch.Tensor) and x.layout == torch.strided]
    return found if len(found) > 1 else []


@variant(most=1)
def two_devices(given: OpSample) -> Iterator[Call]:
    """One tensor on the other device: refused."""
    if given.info.name in UNREAD and not given.args[0].numel():
        return
    for place in places(given)[1:]:
        yield given.call(elsewhere=(given.args[place],), reference=refuse)


# --- what becomes of results


@variant(most=1)
def copied_results(given: OpSample) -> Iterator[Call]:
    """deepcopy, pickle and torch.load(map_location) of results, with their devices."""
    import copy
    import io

    def function(*args: Any, **kwargs: Any) -> Any:
        value = given.info.op(*args, **kwargs)
        value = tree_map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, value)
        # PyTorch saves no compressed tensors, on the CPU either.
        listed = [x for x in tensors(value) if x.layout in (torch.strided, torch.sparse_coo)]
        if not listed:
            return None
        buffer = io.BytesIO()
        torch.save(listed, buffer)

        def loaded(**where: Any) -> list[torch.Tensor]:
            buffer.seek(0)
            again: list[torch.Tensor] = torch.load(buffer, **where)
            return again

        home = listed[0].device
        there = torch.device(home.type, 1) if count(home.type) > 1 else home
        on_cpu, elsewhere = loaded(map_location="cpu"), loaded(map_location=there)
        places = [x.device == torch.device("cpu") for x in on_cpu], [x.device == there for x in elsewhere]
        back = [x.to(home, copy=True) for x in (*on_cpu, *elsewhere)]
        return copy.deepcopy(listed), loaded(), back, places

    yield given.call(function, judge=properties.of(given.info.name, "copies"))
