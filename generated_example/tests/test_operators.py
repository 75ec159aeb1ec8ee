# Written by openreg-gen 0.1.0 from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Each operator of the spec against the CPU; see torch_openreg/testing and docs/testing.md.

OPENREG_TESTS=all runs each check with all dtypes and all samples.
"""

import contextlib

import pytest
import torch
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
