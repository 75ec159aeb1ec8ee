# Written by openreg-gen 0.1.0 from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Each operator of the spec against the CPU; see torch_openreg/testing and docs/testing.md.

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


def refused_by_the_cpu(operator):
    """A call whose dtypes the CPU's kernel does not take; None if there is none of those tried."""
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
    """Kernels of the CPU tell it once they run, on the device after the call: pointwise ones are asked before."""
    found = refused_by_the_cpu(operator)
    if found is None:
        pytest.skip("the CPU refuses none")
    form, inputs = found
    given = forms.copied(inputs, device)
    if operator.strategy == "in_tree" and torch.Tag.pointwise in form.tags:
        with pytest.raises(NotImplementedError):
            forms.call(form, given)
    else:
        with contextlib.suppress(NotImplementedError, RuntimeError):
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
