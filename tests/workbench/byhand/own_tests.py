"""The backend's own tests, as its authors have them. BYHAND_PACKAGE is imported: the old package, or the adopted tree's."""

import importlib
import os

import pytest
import torch

importlib.import_module(os.environ.get("BYHAND_PACKAGE", "byhand"))
DEVICE = "byhand"


def there(*sizes, seed=0):
    """A tensor of the CPU and the same one on the device."""
    torch.manual_seed(seed)
    value = torch.randn(*sizes)
    return value, value.to(DEVICE)


UNARY = {
    "relu": torch.relu,
    "abs": torch.abs,
    "hypot": lambda x: torch.hypot(x, x),
    "flip": lambda x: torch.flip(x, [0]),
    "roll": lambda x: torch.roll(x, [1], [1]),
    "trace": torch.trace,
    "leaky_relu": lambda x: torch.nn.functional.leaky_relu(x, 0.2),
    "log_sigmoid": torch.nn.functional.logsigmoid,
    "prelu": lambda x: torch.nn.functional.prelu(x, torch.full((1,), 0.5, device=x.device)),
    "logical_not": torch.logical_not,
    "bitwise_not": lambda x: torch.bitwise_not(x > 0),
    "add": lambda x: torch.add(x, x, alpha=2),
    "mul": lambda x: x * x * 3,
    "sum": lambda x: x.sum([0], keepdim=True),
    "sub": lambda x: x - 1,
    "square": torch.square,
    "frac": torch.frac,
    "sinc": torch.sinc,
    "cumsum": lambda x: x.cumsum(0),
    "view": lambda x: x.view(-1)[2:],
    "mm": lambda x: x @ x,
}


@pytest.mark.parametrize("name", UNARY)
def test_an_operator_equals_the_cpu(name):
    on_cpu, on_device = there(4, 4)
    result = UNARY[name](on_device)
    assert result.device.type == DEVICE
    torch.testing.assert_close(result.cpu(), UNARY[name](on_cpu))


def test_in_place():
    on_cpu, on_device = there(5)
    on_device.relu_().add_(on_device)
    torch.testing.assert_close(on_device.cpu(), on_cpu.relu() * 2)


def test_the_kernel_runs_and_not_the_fallback():
    _, on_device = there(3)
    before = torch.ops.byhand.kernel_calls(on_device)
    torch.relu(on_device)
    torch.flip(on_device, [0])
    assert torch.ops.byhand.kernel_calls(on_device) >= before + 2


def test_custom_operator():
    on_cpu, on_device = there(3)
    torch.testing.assert_close(torch.ops.byhand.scale(on_device, 2.5).cpu(), on_cpu * 2.5)


def test_a_refused_operator():
    with pytest.raises(NotImplementedError, match="no sampler of Poisson's distribution"):
        torch.poisson(torch.ones(2, device=DEVICE))


def test_a_wrong_dtype():
    with pytest.raises(RuntimeError, match="byhand: Int"):
        whole = torch.ones(2, dtype=torch.int32, device=DEVICE)
        torch.hypot(whole, whole, out=torch.empty(2, dtype=torch.int32, device=DEVICE))


def test_autocast():
    _, on_device = there(4, 4)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert torch.mm(on_device, on_device).dtype == torch.bfloat16
        assert torch.exp(on_device.bfloat16()).dtype == torch.float32
        assert torch.bmm(on_device[None], on_device[None]).dtype == torch.float32  # no rule


def test_two_devices():
    assert torch.accelerator.device_count() == 2
    value = torch.ones(3, device=f"{DEVICE}:1")
    assert value.device.index == 1 and torch.relu(value).device.index == 1
