# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `amp` in the spec changes it, then `openreg-gen generate`.
"""Autocast: products in lower precision, what follows them, and the gradient scaler."""

import pytest
import torch

NAME = "openreg"
DTYPES = [
    torch.float16,
    torch.bfloat16,
]
# The policies of what is called here, if the spec has rules for it.
RULES = {
    "mm": "lower_precision_fp",
    "exp": "fp32",
}
HALVES = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@pytest.fixture
def x(device):
    return torch.rand(4, 4, generator=torch.Generator().manual_seed(0)).to(device)


def needs(policy, op):
    if RULES.get(op) != policy:
        pytest.skip(f"the spec gives {op} no rule {policy}")


@HALVES
def test_lower_precision(x, dtype):
    needs("lower_precision_fp", "mm")
    with torch.autocast(NAME, dtype=dtype):
        y = torch.mm(x, x)
        with torch.autocast(NAME, enabled=False):
            assert torch.mm(x, x).dtype == torch.float32
    assert y.dtype == dtype
    torch.testing.assert_close(y.float().cpu(), x.cpu() @ x.cpu(), rtol=2e-2, atol=2e-2)


@HALVES
def test_one_rule_after_another(x, dtype):
    needs("lower_precision_fp", "mm")
    needs("fp32", "exp")
    with torch.autocast(NAME, dtype=dtype):
        y = torch.exp(torch.mm(x, x))
        z = torch.mm(y, x)
    assert (y.dtype, z.dtype) == (torch.float32, dtype)
    x = x.cpu()
    torch.testing.assert_close(z.float().cpu(), (x @ x).exp() @ x, rtol=5e-2, atol=5e-2)


def test_scaler(x):
    layer = torch.nn.Linear(4, 2).to(x.device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(NAME, init_scale=1024.0, growth_interval=1)
    before = layer.weight.detach().clone()
    scaler.scale(layer(x).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2048.0
    assert not torch.equal(layer.weight.cpu(), before.cpu())
    before = layer.weight.detach().clone()
    optimizer.zero_grad()
    scaler.scale(layer(x * float("inf")).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 1024.0
    assert torch.equal(layer.weight.cpu(), before.cpu())  # a step with infinite gradients is left out


def test_autocast_in_compiled_code(device):
    linear = torch.nn.Linear(32, 32).to(device)

    def function(x):
        with torch.autocast(NAME, dtype=torch.bfloat16):
            return torch.nn.functional.gelu(linear(x)).float().sum(-1)

    x = torch.randn(8, 32, device=device)
    actual = torch.compile(function, fullgraph=True)(x)
    torch.testing.assert_close(actual.cpu(), function(x).cpu(), rtol=2e-2, atol=2e-2)
