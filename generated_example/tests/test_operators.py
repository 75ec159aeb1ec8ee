# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Each operator of the spec against the CPU; see torch_openreg/testing.

OPENREG_TESTS=all runs each check with all dtypes and all samples.
"""

import contextlib

import pytest
import torch
from torch.utils._pytree import tree_map_only
from torch_openreg.testing import checks, forms, samples
from torch_openreg.testing.spec import OPERATORS

UNSUPPORTED = [
    ("poisson", "default", "the device has no Poisson sampler"),
]
CASES = [
    pytest.param(operator, check, id=f"{operator.name}-{check}")
    for operator in OPERATORS
    for check in checks.CHECKS
    if checks.applies(operator, check)
]
each_operator = pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)


@each_operator
def test_registered(operator):
    assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator.name}", "PrivateUse1")


@pytest.mark.parametrize(("operator", "check"), CASES)
def test_operator(device, operator, check):
    outcomes = {dtype: checks.run(operator, check, dtype, device) for dtype in checks.planned(operator, check)}
    failed = [f"{dtype}: {outcome.detail}" for dtype, outcome in outcomes.items() if outcome.status == checks.FAIL]
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
    if not any(outcome.status in (checks.PASS, checks.FALLBACK) for outcome in outcomes.values()):
        reasons = {outcome.detail for outcome in outcomes.values()} or {"no dtype to check with"}
        pytest.skip("; ".join(sorted(reasons)))


@each_operator
def test_other_device_and_stream(other, operator):
    """The kernel runs where its arguments are, whatever the current device is."""
    group = forms.Forms(operator)
    for dtype in samples.dtypes(operator):
        run = checks.Run(group, getattr(torch, dtype), other)
        with contextlib.suppress(checks.NotApplicable):
            for sample, inputs, expected, changed in checks.answered(run):
                found = list(forms.tensors(inputs))
                if not found or operator.skipped("forward", dtype) is not None:
                    continue
                stream = torch.Stream(device=other)
                with stream:
                    checks.forward_on(run, sample, inputs, expected, changed)
                stream.synchronize()
                return
    pytest.skip(f"{group.main} has no sample with tensors that the CPU takes")


@pytest.mark.parametrize("operator", [o for o in OPERATORS if o.strategy == "pointwise"], ids=lambda o: o.name)
def test_numbers_and_columns_beside_tensors(device, operator):
    """0-dim CPU tensors of any dtype, and operands that stay the same along a row, on either side."""
    group = forms.Forms(operator)
    form = group.main
    names = [a.name for a in form._schema.arguments if str(a.type) == "Tensor" and not a.is_out]
    if len(names) != 2 or forms.kind(form) != "functional":
        pytest.skip("it is not a function of two tensors")
    numbers = [torch.tensor(2), torch.tensor(1.5), torch.tensor(2.5, dtype=torch.float64), torch.tensor(1 + 2j)]
    for name in samples.dtypes(operator):
        dtype = getattr(torch, name)
        defaults = next(samples.from_schema(group, dtype)).inputs
        x, column = samples.tensor((7, 33), dtype, 0), samples.tensor((7, 1), dtype, 1)
        for other in (*numbers, column):
            for pair in ((x, other), (other, x)):
                inputs = defaults | dict(zip(names, pair, strict=True))
                expected = checks.on_cpu(form, inputs)
                if expected is None or expected[0].dtype == torch.complex32:
                    continue
                given = {
                    key: value if value is other and other.dim() == 0 else forms.copied(value, device)
                    for key, value in inputs.items()
                }
                try:
                    found = forms.call(form, given)
                except RuntimeError as error:
                    # Some functions of PyTorch make their result where the first tensor is.
                    assert pair[0] is not x and "same device" in str(error), error
                    continue
                half = {"rtol": 1e-2, "atol": 1e-2} if dtype.itemsize == 2 and dtype.is_floating_point else {}
                torch.testing.assert_close(found.cpu(), expected[0], equal_nan=True, **half)


def special(dtype):
    """The numbers at which a formula goes wrong that is right for all others."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_complex:
        parts = (0.0, -1.5, float("inf"), float("nan"))
        large = [1e30, 1e30j]  # not beside other parts: what products of those leave over is the rounding's
        return torch.tensor([complex(a, b) for a in parts for b in parts] + large, dtype=dtype)
    if not dtype.is_floating_point:
        most = torch.iinfo(dtype)
        return torch.tensor([0, 1, 2, 3, most.max, most.max - 1, most.min, most.min + 1], dtype=dtype)
    most = torch.finfo(dtype)
    positive = [0.0, 1.0, 1.5, 1e30, 1e-30, most.max, most.tiny, most.tiny / 2, most.eps, float("inf"), float("nan")]
    return torch.tensor([sign * number for number in positive for sign in (1, -1)], dtype=torch.float64).to(dtype)


def settled(form, inputs, expected):
    """Where the CPU has one answer. A product of complex numbers begins with 1, infinity times that is not a number, and how
    often the 1 is taken depends on how the numbers lie in memory."""
    agreed = torch.ones_like(expected, dtype=torch.bool)
    if not expected.dtype.is_complex:
        return agreed
    name, x = next((n, x) for n, x in inputs.items() if isinstance(x, torch.Tensor))
    for other in (x.contiguous(), x.t().contiguous().t(), x.flip(-1), x.flip(-1).t().contiguous().t()):
        again = checks.on_cpu(form, inputs | {name: other})[0]
        close = torch.isclose(torch.view_as_real(again), torch.view_as_real(expected), equal_nan=True)
        agreed &= close.all(-1)
    return agreed


def assert_same_numbers(actual, expected, signs):
    """Close in relation to their size alone; `signs`: those of zeros, too."""
    limits = {}
    if expected.dtype.is_floating_point:
        most = torch.finfo(expected.dtype)
        limits = {"rtol": 4 * most.eps, "atol": 2 * most.tiny * most.eps}
    elif expected.dtype.is_complex:
        limits = {"rtol": 8 * torch.finfo(expected.dtype).eps, "atol": 0}
    torch.testing.assert_close(actual, expected, equal_nan=True, **limits)
    if signs and expected.dtype.is_floating_point:
        zeros = expected == 0
        assert torch.equal(actual[zeros].signbit(), expected[zeros].signbit())


def with_special_values(operator):
    """Calls of the operator with numbers that are hard on formulas, and whether the sign of a zero is decided."""
    group = forms.Forms(operator)
    form = group.main if forms.kind(group.main) != "out" else group.relative("functional")
    if form is None:
        return
    names = [a.name for a in form._schema.arguments if str(a.type) == "Tensor"]
    dims = [str(a.type) for a in form._schema.arguments if a.name == "dim"]
    for name in samples.dtypes(operator):
        dtype = getattr(torch, name)
        defaults = next(samples.from_schema(group, dtype)).inputs
        values = special(dtype)
        if operator.strategy == "pointwise":
            grid = torch.meshgrid(*[values] * len(names), indexing="ij")
            yield form, defaults | {n: x.contiguous() for n, x in zip(names, grid, strict=True)}, True
            continue
        pairs = torch.cartesian_prod(values, values)
        # Among numbers that leave it as it is, in whatever order they are taken.
        long = torch.stack([torch.full((40,), filler, dtype=dtype) for filler in (0, 1) for _ in values])
        long[:, 17] = values.repeat(2)
        for rows in (pairs, long):
            for x in (rows, rows.t().contiguous().t()):
                if dims:
                    yield form, defaults | {names[0]: x, "dim": [1] if "List" in dims[0] else 1}, False
                else:
                    yield from ((form, defaults | {names[0]: row}, False) for row in x)


EXPRESSIONS = [o for o in OPERATORS if o.strategy in ("pointwise", "reduction")]


@pytest.mark.parametrize("operator", EXPRESSIONS, ids=lambda o: o.name)
def test_special_values(device, operator):
    """Zeros, infinities, NaN, the largest and the smallest number of a dtype: as on the CPU."""
    compared = 0
    for form, inputs, signs in with_special_values(operator):
        expected = checks.on_cpu(form, inputs)
        if expected is None:
            continue
        actual = forms.call(form, forms.copied(inputs, device))
        for a, e in zip(forms.tensors(actual), forms.tensors(expected[0]), strict=True):
            where = settled(form, inputs, e) if operator.strategy == "reduction" else ...
            assert_same_numbers(a.cpu()[where], e[where], signs)
            compared += e[where].numel()
    if not compared:
        pytest.skip("it can't be called with only tensors")


def refused_by_the_cpu(operator):
    """A call whose dtypes the CPU's kernel does not take; None if all tried calls work."""
    group = forms.Forms(operator)
    for dtype in samples.dtypes(operator)[:1]:
        for sample in samples.samples(group, getattr(torch, dtype)):
            if sample.small or forms.kind(group.main) == "out":
                continue
            for other in (torch.complex64, torch.float8_e4m3fn, torch.bool, torch.int16):
                inputs = tree_map_only(torch.Tensor, lambda x, other=other: x.to(other), sample.inputs)
                try:
                    forms.call(group.main, forms.copied(inputs, "cpu"))
                except NotImplementedError:
                    return group.main, inputs
                except Exception:  # noqa: S112  refused for another reason
                    continue
            return None
    return None


@each_operator
def test_dtypes_that_the_cpu_refuses(device, operator):
    """Kernels of the CPU raise it once they run, on the device after the call: pointwise ones are asked before."""
    found = refused_by_the_cpu(operator)
    if found is None:
        pytest.skip("the CPU refuses none")
    form, inputs = found
    given = forms.copied(inputs, device)
    if operator.strategy == "in_tree" and torch.Tag.pointwise in form.tags:
        with pytest.raises(NotImplementedError):
            forms.call(form, given)
    else:
        with contextlib.suppress(RuntimeError, IndexError):
            forms.call(form, given)
            torch.openreg.synchronize()
    assert torch.equal(torch.ones(3, device=device).cpu(), torch.ones(3))


@pytest.mark.parametrize(("base", "overload", "reason"), UNSUPPORTED)
def test_unsupported(device, base, overload, reason):
    operator = getattr(getattr(torch.ops.aten, base), overload)
    kinds = {"Tensor": torch.ones(3, 4), "List[Tensor]": [torch.ones(3, 4)], "List[int]": [0], "List[SymInt]": [0]}
    inputs, outs = {}, {}
    for argument in operator._schema.arguments:
        if argument.is_out:
            outs[argument.name] = torch.empty(0, device=device)
        elif argument.has_default_value():
            inputs[argument.name] = argument.default_value
        else:
            inputs[argument.name] = kinds.get(str(argument.type), 1)
    with pytest.raises(NotImplementedError) as error:
        forms.call(operator, forms.copied(inputs, device), outs)
    assert reason in str(error.value)
