# Written by openreg-gen 0.1.0 from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Each operator of the spec against the CPU: dtypes, shapes, strides, 0-dim, empty, out=, in-place, backward.

Arguments are made from the operator's schema. What the CPU refuses (a dtype it has no kernel for, shapes that do not
fit) is no sample; an operator for which no sample is left is skipped, and says so.
"""

import pytest
import torch
from torch.utils._pytree import tree_map_only

NAME = "openreg"
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")

# Operator, overload, the dtypes that the spec gives it (none: all that the CPU takes).
OPERATORS = [
    ("maximum", "out", ()),
    ("hypot", "out", ("float32", "float64")),
    ("abs", "out", ()),
    ("relu", "default", ()),
    ("relu_", "default", ()),
    ("sub", "Tensor", ()),
]
UNSUPPORTED = [
    ("poisson", "default", "the device has no Poisson sampler"),
]
SHAPES = {"matrix": (3, 4), "scalar": (), "empty": (0, 3), "one": (1,), "cube": (2, 3, 5)}


def has_out(operator):
    return any(argument.is_out for argument in operator._schema.arguments)


def find(base, overload):
    return getattr(getattr(torch.ops.aten, base), overload)


def cases(wanted=lambda operator: True):
    found = [case for case in OPERATORS if wanted(find(*case[:2]))]
    ids = [f"{base}.{overload}" for base, overload, _ in found]
    return pytest.mark.parametrize(("base", "overload", "dtypes"), found, ids=ids)


def tensor(shape, dtype, layout, seed):
    generator = torch.Generator().manual_seed(seed)
    if layout == "broadcast" and seed % 2 and shape:
        shape = (1,) + tuple(shape[1:])
    value = torch.rand(shape, generator=generator, dtype=torch.float64) * 4 - 2
    if not dtype.is_floating_point and dtype != torch.bool:
        value = value * 10
        value = value.abs() if dtype == torch.uint8 else value
    value = (value > 0) if dtype == torch.bool else value.to(dtype)
    if layout == "transposed" and value.dim() > 1:
        value = value.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "strided" and value.dim() > 0:
        value = torch.stack([value, value], -1)[..., 0]
    return value


def number(kind, name):
    known = {"dim": 0, "keepdim": False}
    if name in known:
        return known[name]
    return {"int": 1, "SymInt": 1, "float": 0.5, "bool": True, "number": 2, "Scalar": 2}[kind]


def sample(schema, shape, dtype, layout):
    """Arguments that fit the schema on the CPU: required ones only. Out arguments are left out."""
    args, kwargs = [], {}
    for index, argument in enumerate(schema.arguments):
        if argument.is_out or argument.has_default_value():
            continue
        kind = str(argument.type)
        if kind == "Tensor":
            value = tensor(shape, dtype, layout, index)
        elif kind == "List[Tensor]":
            value = [tensor(shape, dtype, layout, index + i) for i in range(2)]
        elif kind.startswith("Optional"):
            value = None
        elif kind in ("List[int]", "List[SymInt]"):
            value = [0]
        else:
            value = number(kind, argument.name)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return args, kwargs


def on(device, value):
    return tree_map_only(torch.Tensor, lambda x: x.detach().to(device, copy=True), value)


def same_layout(value, device):
    """A copy on the device with the strides of the original."""

    def move(x):
        copy = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=device)
        return copy.copy_(x)

    return tree_map_only(torch.Tensor, move, value)


def compare(actual, expected):
    actual, expected = on("cpu", actual), on("cpu", expected)
    torch.testing.assert_close(actual, expected, equal_nan=True)


def cpu_result(operator, args, kwargs):
    """The CPU's answer, or None where it refuses."""
    try:
        return operator(*on("cpu", args), **on("cpu", kwargs))
    except (RuntimeError, TypeError, ValueError, IndexError):
        return None


def samples(operator, dtypes, layouts=("contiguous", "transposed", "strided", "broadcast")):
    found = []
    for dtype in dtypes or DTYPES:
        for shape in SHAPES.values():
            for layout in layouts:
                args, kwargs = sample(operator._schema, shape, getattr(torch, dtype), layout)
                functional = getattr(torch.ops.aten, operator._schema.name.split("::")[1])
                call = functional if has_out(operator) else operator
                expected = cpu_result(call, args, kwargs)
                if expected is not None:
                    found.append((args, kwargs, expected))
    if not found:
        pytest.skip(f"no sample of {operator._schema} that the CPU takes")
    return found


def out_names(operator):
    return [argument.name for argument in operator._schema.arguments if argument.is_out]


def tuple_of(value):
    return value if isinstance(value, tuple) else (value,)


@cases()
def test_registered(base, overload, dtypes):
    name = find(base, overload)._schema.name
    name += "" if overload == "default" else f".{overload}"
    assert torch._C._dispatch_has_kernel_for_dispatch_key(name, "PrivateUse1")


@cases()
def test_values(device, base, overload, dtypes):
    packet = getattr(torch.ops.aten, base)
    operator = getattr(packet, overload)
    call = packet if has_out(operator) else operator
    for args, kwargs, expected in samples(operator, dtypes):
        args, kwargs = same_layout(args, device), same_layout(kwargs, device)
        actual = call(*args, **kwargs)
        for value in tuple_of(actual):
            if isinstance(value, torch.Tensor):
                assert value.device == device
        compare(actual, expected)
        if operator._schema.is_mutable and not has_out(operator):
            assert actual is args[0]


@cases(has_out)
def test_out(device, base, overload, dtypes):
    operator = find(base, overload)
    for args, kwargs, expected in samples(operator, dtypes, ("contiguous",)):
        expected = tuple_of(expected)
        inputs = same_layout(args, device), same_layout(kwargs, device)
        resized = [torch.empty(0, dtype=value.dtype, device=device) for value in expected]
        operator(*inputs[0], **inputs[1], **dict(zip(out_names(operator), resized, strict=True)))
        compare(tuple(resized), expected)
        gaps = [torch.zeros(*value.shape, 2, dtype=value.dtype, device=device) for value in expected]
        given = [value[..., 0] for value in gaps]
        operator(*inputs[0], **inputs[1], **dict(zip(out_names(operator), given, strict=True)))
        compare(tuple(given), expected)
        for value in gaps:
            assert not value[..., 1].cpu().any(), "out= wrote beside its elements"
        wrong = [torch.empty(value.shape, dtype=torch.complex64, device="cpu") for value in expected]
        with pytest.raises((RuntimeError, NotImplementedError)):
            operator(*inputs[0], **inputs[1], **dict(zip(out_names(operator), wrong, strict=True)))


@cases()
def test_other_device_and_stream(other, base, overload, dtypes):
    """The kernel runs where its arguments are, whatever the current device is."""
    packet = getattr(torch.ops.aten, base)
    operator = getattr(packet, overload)
    args, kwargs, expected = samples(operator, dtypes, ("contiguous",))[0]
    call = packet if has_out(operator) else operator
    stream = torch.Stream(device=other)
    with stream:
        actual = call(*same_layout(args, other), **same_layout(kwargs, other))
    stream.synchronize()
    for value in tuple_of(actual):
        if isinstance(value, torch.Tensor):
            assert value.device == other
    compare(actual, expected)


# In-place forms take no leaves; the gradient of their functional form is the same formula.
@cases(lambda operator: has_out(operator) or not operator._schema.is_mutable)
def test_backward(device, base, overload, dtypes):
    packet = getattr(torch.ops.aten, base)
    operator = getattr(packet, overload)
    real = [dtype for dtype in dtypes or ("float32", "float64") if getattr(torch, dtype).is_floating_point]
    if not real:
        pytest.skip(f"aten::{base}.{overload} has no floating dtype")
    call = packet if has_out(operator) else operator
    tested = False
    for args, kwargs, expected in samples(operator, real, ("contiguous", "broadcast")):
        if not isinstance(expected, torch.Tensor) or not expected.is_floating_point():
            continue
        results = []
        for where in ("cpu", device):
            inputs = [x.requires_grad_() if isinstance(x, torch.Tensor) else x for x in on(where, args)]
            result = call(*inputs, **on(where, kwargs))
            if not result.requires_grad:
                continue
            result.backward(torch.ones_like(result))
            results.append([x.grad for x in inputs if isinstance(x, torch.Tensor)])
        if results:
            tested = True
            compare(results[1], results[0])
    if not tested:
        pytest.skip(f"aten::{base}.{overload} is not differentiable")


@pytest.mark.parametrize(("base", "overload", "reason"), UNSUPPORTED)
def test_unsupported(device, base, overload, reason):
    operator = find(base, overload)
    args, kwargs = sample(operator._schema, (3, 4), torch.float32, "contiguous")
    for name in out_names(operator):
        kwargs[name] = torch.empty(0, device=device)
    with pytest.raises(NotImplementedError) as error:
        operator(*on(device, args), **on(device, kwargs))
    assert reason in str(error.value)
