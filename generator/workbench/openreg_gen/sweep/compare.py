"""One call on the CPU and on the device, and the first thing in which they differ."""

import contextlib
import copy
import functools
import math
import random
import unittest.mock
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten, tree_map

from .copies import BY_STORAGE, BY_VALUE, Copier, changed, key_of, reached, tensors

# Two kernels that round at other steps differ by more than assert_close takes near zero.
TOLERANCES = {
    torch.float16: (4e-3, 2e-3),
    torch.bfloat16: (3.2e-2, 1.6e-2),
    torch.float32: (1e-4, 5e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (4e-3, 2e-3),
    torch.complex64: (1e-4, 5e-5),
    torch.complex128: (1e-7, 1e-7),
}
# What a device may say of tensors on the CPU, and of targets whose elements share memory.
REFUSED = (
    *("same device", "expected all tensors to be on", "is on cpu", "devicetype, but got tensor with"),
    "more than one element of the written-to",
)


class Call(NamedTuple):
    """A call to run on both: `function(*args, **kwargs)`, with copies of the arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kept: tuple[torch.Tensor, ...] = ()  # tensors that stay on the CPU
    elsewhere: tuple[torch.Tensor, ...] = ()  # tensors on the other device
    device: int = 0
    current: int = 0  # the current device meanwhile
    refusable: bool = False  # the device may refuse it, see REFUSED
    tolerance: tuple[float, float] | None = None
    reference: Callable[..., Any] | None = None  # another function for the CPU
    dtypes: bool = True  # whether dtypes and strides have to agree
    values: bool = True
    # Where values differ: what differs after all, see properties.Judge.
    judge: "Callable[[Call, Result, Result, Difference], Difference | None] | None" = None
    second: "Callable[[Call, Result, Result, Difference], Difference] | None" = (
        None  # a second opinion, see opinion.Opinion
    )


class Result(NamedTuple):
    value: Any
    error: BaseException | None
    inputs: list[torch.Tensor]  # as the call left them
    where: torch.device
    home: torch.device | None  # where results have to be


class Difference(NamedTuple):
    category: str
    detail: str


def synchronize(device: torch.device) -> None:
    """Waits for the device, so that an error that it reports late belongs to this call. A backend may lack the function."""
    wait = getattr(getattr(torch, device.type, None), "synchronize", None)
    if wait is not None:
        wait(device)


def run(call: Call, device: torch.device, seed: int) -> Result:
    """The call's outcome on a device, with copies of its arguments; whatever it raises is part of it."""
    copier = Copier(device, call.kept, call.elsewhere)
    args, kwargs = copier((call.args, call.kwargs))
    inputs = list(tensors((args, kwargs)))
    function = call.reference if device.type == "cpu" and call.reference is not None else call.function
    random.seed(seed)
    torch.manual_seed(seed)
    there = (
        torch.device(device.type, call.current) if device.type != "cpu" and call.current else contextlib.nullcontext()
    )
    try:
        with there, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, error = function(*args, **kwargs), None
            if device.type != "cpu":
                synchronize(device)
    except Exception as raised:  # whatever a call raises is its outcome
        value, error = None, raised.with_traceback(raised.__traceback__)
    home = device if copier.named or any(x.device == device for x in inputs) else None
    return Result(value, error, inputs, device, home)


def said(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def storages(result: Result) -> list[tuple[int, int | torch.SymInt]]:
    """Which inputs and results share memory, whatever its address, and where in it they begin."""
    numbers: dict[int, int] = {}
    listed = [*result.inputs, *tensors(result.value)]
    return [
        (numbers.setdefault(key_of(x), len(numbers)), x.storage_offset()) if x.layout == torch.strided else (-1, 0)
        for x in listed
    ]


def significant(x: torch.Tensor) -> tuple[int, ...]:
    """Strides, without those of dimensions that have one element."""
    if x.numel() == 0:
        return tuple(x.stride())
    return tuple(stride if size > 1 else 0 for size, stride in zip(x.size(), x.stride(), strict=True))


def host(x: torch.Tensor) -> torch.Tensor:
    x = x.detach()
    if x.layout != torch.strided:
        x = x.to("cpu").to_dense()
    elif x.is_quantized:
        x = x.to("cpu").dequantize()
    return x.to("cpu").resolve_conj().resolve_neg()


def comparable(x: torch.Tensor) -> torch.Tensor:
    """Few functions take numbers of 8 bits, or complex ones of 16."""
    if x.dtype == torch.complex32:
        return x.to(torch.complex64)
    return x.float() if x.dtype.is_floating_point and x.dtype.itemsize == 1 else x


def values_differ(actual: torch.Tensor, expected: torch.Tensor, tolerance: tuple[float, float] | None) -> str | None:
    a, e = comparable(host(actual)), comparable(host(expected))
    if a.dtype == e.dtype and torch.equal(a, e):
        return None
    rtol, atol = tolerance or TOLERANCES.get(expected.dtype, (0.13, 0.13))
    if not (e.dtype.is_floating_point or e.dtype.is_complex):
        rtol, atol = 0.0, 0.0
    try:
        torch.testing.assert_close(a, e, rtol=rtol, atol=atol, equal_nan=True, check_dtype=False)
    except AssertionError as error:
        return " ".join(str(error).split())[:300]
    return None


def about(call: Call, a: torch.Tensor, e: torch.Tensor, home: torch.device | None, what: str) -> Difference | None:
    """The visible differences of two tensors, except values and memory."""
    if home is not None and a.device != home:
        return Difference("device", f"{what} is on {a.device}, not {home}")
    if a.shape != e.shape:
        return Difference("shape", f"{what} has shape {tuple(a.shape)}, not {tuple(e.shape)}")
    if not call.dtypes:
        return None
    if a.dtype != e.dtype:
        return Difference("dtype", f"{what} is {a.dtype}, not {e.dtype}")
    if a.layout != e.layout:
        return Difference("structure", f"{what} is {a.layout}, not {e.layout}")
    if a.requires_grad != e.requires_grad:
        return Difference("structure", f"{what}: requires_grad is {a.requires_grad}, not {e.requires_grad}")
    return None


def stridden(a: torch.Tensor, e: torch.Tensor, what: str) -> Difference | None:
    if e._is_zerotensor():
        return None  # zeros without memory, with strides of 0: a device may give zeros that have memory
    if e.layout == torch.strided and significant(a) != significant(e):
        return Difference("strides", f"{what} has strides {a.stride()}, not {e.stride()}, shape {tuple(e.shape)}")
    if (a.is_conj(), a.is_neg()) != (e.is_conj(), e.is_neg()):
        return Difference("aliasing", f"{what}: conj, neg {a.is_conj(), a.is_neg()}, not {e.is_conj(), e.is_neg()}")
    return None


def numbers_differ(a: Any, e: Any, tolerance: tuple[float, float] | None) -> bool:
    if isinstance(e, (float, complex)) and type(a) is type(e):
        rtol, atol = tolerance or (1e-4, 5e-5)
        pairs = [(a.real, e.real), (a.imag, e.imag)]
        return any(
            x != y and not (math.isnan(x) and math.isnan(y)) and abs(x - y) > atol + rtol * abs(y) for x, y in pairs
        )
    return not isinstance(e, torch.device) and type(e).__module__ != "torch" and (type(a) is not type(e) or a != e)


def refused(call: Call, error: BaseException | None) -> bool:
    """Whether the device refused what it may refuse, whatever the CPU says of it."""
    if error is None:
        return False
    return bool(call.elsewhere) or (call.refusable and any(words in str(error).lower() for words in REFUSED))


def differ(call: Call, actual: Result, expected: Result, any_value: bool) -> Difference | None:
    if refused(call, actual.error):
        return None
    ours, theirs = actual.error, expected.error
    if ours is not None and theirs is not None:
        return None if type(ours) is type(theirs) else Difference("error", f"{said(ours)}, not {said(theirs)}")
    if theirs is not None:
        return Difference("raising", f"the CPU raises {said(theirs)}; {actual.where.type} does not")
    if ours is not None:
        return Difference("raising", f"{actual.where.type} raises {said(ours)}; the CPU does not")
    found, spec = tree_flatten(actual.value)
    wanted, wanted_spec = tree_flatten(expected.value)
    if len(found) != len(wanted) or spec.type is not wanted_spec.type:
        return Difference("structure", f"{spec}, not {wanted_spec}")
    pairs = [(f"result {i}", a, e) for i, (a, e) in enumerate(zip(found, wanted, strict=True))]
    pairs += [(f"argument {i}", a, e) for i, (a, e) in enumerate(zip(actual.inputs, expected.inputs, strict=True))]
    stays = {id(a) for a in actual.inputs}
    # A view of a CPU tensor is where that tensor is.
    on_cpu = {key_of(a) for a in actual.inputs if a.device.type == "cpu" and a.layout == torch.strided}
    both = []
    for what, a, e in pairs:
        if isinstance(a, torch.Tensor) and isinstance(e, torch.Tensor):
            both.append((what, a, e))
            free = id(a) in stays or (a.layout == torch.strided and key_of(a) in on_cpu)
            found_here = about(call, a, e, None if free else actual.home, what)
            if found_here is not None:
                return found_here
        elif isinstance(a, torch.Tensor) or isinstance(e, torch.Tensor):
            return Difference("structure", f"{what} is {type(a).__name__}, not {type(e).__name__}")
        elif not any_value and numbers_differ(a, e, call.tolerance):
            return Difference("value", f"{what} is {str(a)[:100]}, not {str(e)[:100]}")
    for what, a, e in both if call.values and not any_value else ():
        text = values_differ(a, e, call.tolerance)
        if text is not None:
            return Difference("value", f"{what}: {text}")
    way = BY_STORAGE if actual.where.type == "cpu" else reached(actual.where)
    if not call.dtypes or way == BY_VALUE:
        return None
    for what, a, e in both:
        found_here = stridden(a, e, what)
        if found_here is not None:
            return found_here
    if way == BY_STORAGE and storages(actual) != storages(expected):
        return Difference("aliasing", f"storages and offsets {storages(actual)}, not {storages(expected)}")
    return None


def is_random(call: Call, first: Result, seed: int) -> bool:
    """Whether the CPU draws random numbers, and gives something else with another seed, those that a sample's function sets included."""
    plain, cpu = torch.manual_seed, torch.device("cpu")
    random.seed(seed)
    start = random.getstate(), plain(seed).get_state()
    with unittest.mock.patch.object(torch, "manual_seed", side_effect=plain) as seeds:
        run(call, cpu, seed)
    drew = start[0] != random.getstate() or not torch.equal(start[1], torch.get_rng_state())
    if not drew and seeds.call_count == 1:  # a function that seeds may put back what was there
        return False
    for step in range(1, 65):  # some draw one of a few values
        with unittest.mock.patch.object(torch, "manual_seed", lambda value, step=step: plain(value + step)):
            if differ(call, run(call, cpu, seed), first, False) is not None:
                return True
    return False


def is_chance(call: Call, first: Result, seed: int) -> bool:
    """Whether the CPU itself gives another result where no two elements share memory: it read what it had written."""

    def alone(x: Any) -> Any:
        return x.clone() if isinstance(x, torch.Tensor) and x.layout == torch.strided else x

    args, kwargs = tree_map(alone, (call.args, call.kwargs))
    plain = run(call._replace(args=args, kwargs=kwargs), torch.device("cpu"), seed)
    pairs = zip(tensors(plain.value), tensors(first.value), strict=False)
    return plain.error is None and any(values_differ(a, e, call.tolerance) is not None for a, e in pairs)


WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.complex32: torch.complex128}
NOT_AS_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def is_rounding(call: Call, actual: Result, expected: Result, seed: int) -> bool:
    """Whether 16 bits, of a result or an argument, or in a network's many layers 32, are the difference: the device is about as near as
    the CPU to what it gives with 64, in each element; of functions that take no 64 bits, with 32."""
    returned = tensors((expected.value, expected.inputs))
    wider = WIDE if call.dtypes else {**WIDE, torch.float32: torch.float64}
    if any(x.dtype in (torch.float64, torch.complex128) for x in returned):  # of numbers of 32 bits, maybe
        wider = {**WIDE, torch.float32: torch.float64, torch.complex64: torch.complex128}
    exact = in_wider(call, wider, seed)
    if exact.error is not None:
        wider = NOT_AS_WIDE
        exact = in_wider(call, wider, seed)
    results = [list(tensors((each.value, each.inputs))) for each in (actual, expected, exact)]
    if exact.error is not None or len(results[1]) != len(results[2]):
        return False
    return all(is_as_near(call, wider, *each) for each in zip(*results, strict=True))


def in_wider(call: Call, wider: dict[torch.dtype, torch.dtype], seed: int) -> Result:
    """By the CPU, with all tensors and parameters of these dtypes converted."""

    def widened(x: Any) -> Any:
        if isinstance(x, torch.nn.Module):
            return copy.deepcopy(x).to(wider[torch.bfloat16])
        return wider.get(x, x) if isinstance(x, torch.dtype) else x

    args, kwargs = changed(tree_map(widened, (call.args, call.kwargs)), lambda x: x.to(wider.get(x.dtype, x.dtype)))
    return run(call._replace(args=args, kwargs=kwargs), torch.device("cpu"), seed)


def is_as_near(
    call: Call, wider: dict[torch.dtype, torch.dtype], actual: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor
) -> bool:
    """Each element of `actual` to `exact`, as the farthest of `expected`."""
    dtype = expected.dtype
    if dtype not in wider:
        # Of 16 and 64 bits: the result has 64, and is no more exact than the step before it, such as log_softmax in 16. So it is of
        # 32 and 64; of two kinds of 16 it has 32.
        given = {x.dtype for x in tensors((call.args, call.kwargs)) if x.is_floating_point() or x.is_complex()}
        mixed = given & wider.keys() and dtype == functools.reduce(torch.promote_types, given)
        if (
            not mixed or values_differ(exact, expected, call.tolerance) is None
        ):  # the CPU computes it in the wide dtype: so must others
            return values_differ(actual, expected, call.tolerance) is None
        dtype = max(given & wider.keys(), key=lambda each: TOLERANCES[each])
    common = torch.promote_types(expected.dtype, wider[dtype])
    ours, theirs, wide = (host(each).to(common) for each in (actual, expected, exact))
    if wide.shape != theirs.shape:
        return False
    tolerance = call.tolerance if dtype == torch.float32 else None
    rtol, atol = tolerance or TOLERANCES[dtype]
    known = wide.isfinite() & theirs.isfinite()
    off = (theirs - wide)[known].abs().max() if known.any() else 0.0
    near = (ours - wide).abs() <= (2 if call.dtypes else 4) * off + atol + rtol * wide.abs()
    same = (ours == theirs) | (ours.isnan() & theirs.isnan())
    # The CPU pads some products of 16 bits with zeros, and infinity times 0 is NaN.
    exactly = ~theirs.isfinite() & ((ours == wide) | (ours.isnan() & wide.isnan()))
    return bool((near | ~known & (same | exactly)).all())


def poison(expected: Result, device: torch.device) -> None:
    """Leaves other numbers than the expected ones in memory that the device frees, for a kernel that doesn't write all of its result."""
    wrong = []
    with contextlib.suppress(Exception):  # of a layout or dtype that can't be poisoned
        for x in tensors(expected.value):
            if x.layout == torch.strided and not x.is_quantized and x.numel():
                y = host(x).reshape(-1)
                other = y.logical_not() if y.dtype == torch.bool else y.view(torch.uint8).bitwise_not().view(y.dtype)
                wrong.append(other.to(device))
        synchronize(device)


def check(
    call: Call,
    seed: int,
    device: torch.device,
    on_device: Callable[[], None] = lambda: None,
    poisons: bool = False,
) -> Difference | None:
    """The first difference between the CPU and a device; None if there is none. `on_device` is called between the two."""
    expected = run(call, torch.device("cpu"), seed)
    on_device()
    if poisons and device.type != "cpu":
        poison(expected, device)
    actual = run(call, device, seed)
    try:
        found = differ(call, actual, expected, False)
        if found is None or found.category != "value":
            return found
        judged = call.judge(call, actual, expected, found) if call.judge is not None else found
        if (
            judged is None
            or judged.category == "tie"
            or is_random(call, expected, seed)
            or is_chance(call, expected, seed)
            or is_rounding(call, actual, expected, seed)
        ):
            judged = judged if judged is not None and judged.category == "tie" else None
            return differ(call, actual, expected, True) or judged
        other = call.second(call, actual, expected, judged) if call.second is not None else judged
        return other if other is judged else differ(call, actual, expected, True) or other
    except Exception as error:  # reading a result may be what fails
        return Difference("raising", f"reading the result: {said(error)}")
