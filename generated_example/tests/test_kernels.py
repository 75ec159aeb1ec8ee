# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Each operator of openreg.yaml against the CPU: NaN and infinities, empty tensors, strides, the second device, out=, in-place.

The arguments are those with which calls of PyTorch's own test samples arrive at the operator, where PyTorch's test modules
can be imported (they need expecttest), and plain tensors.
"""

import functools
import itertools
import warnings

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map_only

try:
    from torch.testing._internal.common_methods_invocations import op_db
except ImportError:
    op_db = []

NAME = "openreg"
# Operator, dtypes (none: those of the samples), relative and absolute tolerance.
OPERATORS = [
    ("maximum.out", [], None),
    ("hypot.out", ["float16", "bfloat16", "float32", "float64"], None),
    ("abs.out", [], None),
    ("exp.out", [], None),
    ("amax.out", ["uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"], None),
    ("mm.out", [], None),
    ("relu", [], None),
    ("relu_", [], None),
    ("sub.Tensor", [], None),
]
DTYPES = ("float32", "float64", "int64", "bool", "complex64")
# PyTorch calls these of a device in the place of the operators that the CPU has.
BESIDE = {"convolution_overrideable": "convolution", "convolution_backward_overrideable": "convolution_backward"}
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
MOST = 4  # samples with a dtype


def find(name):
    base, _, overload = BESIDE.get(name, name).partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def bound(schema, args, kwargs):
    """A call's arguments by name, out arguments left out."""
    named = {a.name: a.default_value for a in schema.arguments if not a.is_out}
    named.update(zip([a.name for a in schema.arguments], args, strict=False))
    named.update(kwargs)
    return {a.name: named[a.name] for a in schema.arguments if not a.is_out}


class Arrivals(TorchDispatchMode):
    """Keeps the arguments of each call of an operator's group that the operator itself could be given."""

    def __init__(self, op):
        super().__init__()
        self.base = op._schema.name.split("::")[1].removesuffix("_")
        self.names = {a.name for a in op._schema.arguments if not a.is_out}
        self.found = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func._schema.name.split("::")[1].removesuffix("_") == self.base:
            named = bound(func._schema, args, kwargs or {})
            if named.keys() == self.names and not any(isinstance(x, torch.Generator) for x in named.values()):
                self.found.append(tree_map_only(torch.Tensor, lambda x: x.detach().clone(), named))
        return func(*args, **(kwargs or {}))


def of_samples(op, dtype):
    """Arguments by the samples of the entries that are named after the operator."""
    base = op._schema.name.split("::")[1].removesuffix("_")
    base = "conv2d" if base.startswith("convolution") else base
    for info in op_db:
        names = (info.name.split(".")[-1], info.aten_name, info.aten_backward_name, f"_{info.name}")
        if base not in names or dtype not in info.dtypes:
            continue
        grad = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
        arrivals = Arrivals(op)
        try:
            with arrivals:
                for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=grad), MOST):
                    result = info.op(sample.input, *sample.args, **sample.kwargs)
                    for x in tree_iter(result):
                        if isinstance(x, torch.Tensor) and x.requires_grad:
                            x.backward(torch.ones_like(x), retain_graph=True)
        except Exception:  # whatever the CPU refuses
            pass
        yield from arrivals.found


@functools.cache
def samples(op, dtype):
    torch.manual_seed(0)
    found = [*of_samples(op, dtype)]
    return [*found[:: max(1, len(found) // MOST)], *plain(op, dtype)]


def plain(op, dtype):
    """Required arguments alone, of a few shapes. The CPU refuses what does not fit the operator."""
    for shape in ((3, 4), (5,), (), (0, 3), (2, 3, 4)):
        named = {}
        for a in (a for a in op._schema.arguments if not a.is_out):
            value = (torch.rand(shape) * 8 - 4).to(dtype)
            values = {"int": 1, "float": 0.5, "number": 2, "bool": True, "Tensor": value, "List[Tensor]": [value] * 2}
            named[a.name] = a.default_value if a.has_default_value() else values.get(str(a.type))
        yield named


def special(x):
    """With values that kernels get wrong, at places of its own."""
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
    if x.is_floating_point() and x.numel() > 0:
        x = x.clone()
        flat = x.reshape(-1)
        flat[: values.numel()] = values[: flat.numel()].to(x.dtype)
        return flat.view(x.shape)
    return x


CHANGES = {
    "as it is": lambda x: x,
    "NaN and infinities": special,
    "empty": lambda x: x[:0] if x.dim() > 0 else x,
    "in the other order": lambda x: x.transpose(0, -1).clone().transpose(0, -1) if x.dim() > 1 else x,
    "with gaps": lambda x: torch.stack([x, x], -1)[..., 0],
}


def call(op, named, out=None):
    positional = [named[a.name] for a in op._schema.arguments if not a.kwarg_only]
    keywords = {a.name: named[a.name] for a in op._schema.arguments if a.kwarg_only and not a.is_out}
    return op(*positional, **keywords, **(out or {}))


def copied(named, device):
    """Copies on a device that keep strides and gaps."""

    def copy(x):
        span = 1 + sum((size - 1) * stride for size, stride in zip(x.size(), x.stride(), strict=True))
        flat = x.as_strided((span if x.numel() > 0 else 0,), (1,))
        return flat.to(device, copy=True).as_strided(x.size(), x.stride(), 0)

    return tree_map_only(torch.device, lambda _: torch.device(device), tree_map_only(torch.Tensor, copy, named))


def tensors(value):
    return [x for x in tree_iter(value) if isinstance(x, torch.Tensor)]


def outputs(op, results, make):
    """Out arguments, made of the CPU's results."""
    names = [a.name for a in op._schema.arguments if a.is_out]
    return {name: make(result) for name, result in zip(names, results, strict=True)}


def expected(op, named):
    """The CPU's results, and the arguments as it left them; None where it refuses."""
    named = copied(named, "cpu")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if any(a.is_out for a in op._schema.arguments):
                dtype = tensors(named)[0].dtype
                names = [a.name for a in op._schema.arguments if a.is_out]
                functional = getattr(torch.ops.aten, op._schema.name.split("::")[1])
                for overload in functional.overloads():
                    other = getattr(functional, overload)
                    if {a.name for a in other._schema.arguments} == named.keys() and not other._schema.is_mutable:
                        return tensors(call(other, named)), named
                return tensors(call(op, named, {n: torch.empty(0, dtype=dtype) for n in names})), named
            return tensors(call(op, named)), named
    except REFUSALS:
        return None


@pytest.mark.parametrize(("name", "dtypes", "tolerance"), OPERATORS, ids=[row[0] for row in OPERATORS])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("index", [0, 1])
def test_as_on_the_cpu(index, change, name, dtypes, tolerance):
    if index >= torch.get_device_module(NAME).device_count():
        pytest.skip("needs two devices")
    op, device, compared = find(name), torch.device(NAME, index), 0
    rtol, atol = tolerance or (None, None)

    def same(actual, wanted):
        for a, e in zip(tensors(actual), tensors(wanted), strict=True):
            assert a.device == device
            if torch.Tag.nondeterministic_seeded in op.tags:
                assert (a.shape, a.dtype) == (e.shape, e.dtype)
            else:
                torch.testing.assert_close(a.cpu(), e, rtol=rtol, atol=atol, equal_nan=True)

    for dtype in (getattr(torch, dtype) for dtype in dtypes or DTYPES):
        for sample in samples(op, dtype):
            named = tree_map_only(torch.Tensor, CHANGES[change], sample)
            answer = expected(op, named)
            if answer is None or not tensors(named):
                continue
            compared += 1
            results, left = answer
            given = copied(named, device)
            if any(a.is_out for a in op._schema.arguments):
                none = outputs(op, results, lambda x: torch.empty(0, dtype=x.dtype, device=device))
                same(call(op, given, none), results)
                wide = outputs(op, results, lambda x: torch.zeros(*x.shape, 2, dtype=x.dtype).to(device))
                views = {key: x[..., 0] for key, x in wide.items()}
                call(op, given, views)
                same(views, results)
                assert not any(x[..., 1].cpu().any() for x in wide.values()), "out= wrote beside its elements"
            else:
                result = call(op, given)
                same(result, results)
                if op._schema.is_mutable and isinstance(result, torch.Tensor):
                    assert result is given[op._schema.arguments[0].name], "in-place returned another tensor"
            same(given, left)
    if compared == 0:
        pytest.skip("the CPU takes none of the arguments")
