# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg: properties, devices that are not there, waiting; training on a default device."""

import pytest
import torch

NAME = "openreg"
api = torch.openreg


@pytest.mark.no_device
def test_no_device_is_an_error_that_says_so():
    if api.is_available():
        with pytest.raises(RuntimeError):
            torch.empty(1, device=f"{NAME}:{api.device_count()}")
    else:
        with pytest.raises(RuntimeError):
            torch.empty(1, device=NAME)


def test_only_minus_one_means_no_device(device):
    """PyTorch keeps an index in 8 bits, so that 128 becomes -128; 255 looks like -1, and 256 like 0."""
    for where in (torch.device(f"{NAME}:128"), torch.device(f"{NAME}:254")):
        for make in (torch.ones, torch.rand, torch.empty):
            with pytest.raises(RuntimeError, match="is out of range"):
                make(1, device=where)
        with pytest.raises(RuntimeError, match="is out of range"):
            torch.ones(1).to(where)
        with pytest.raises(RuntimeError, match="invalid device index|is out of range"):
            api.set_device(where)
        with pytest.raises(RuntimeError, match="invalid device index|is out of range"), api.device(where):
            pass
    assert api.current_device() == 0


def test_properties(device):
    properties = api.get_device_properties(device)
    assert properties.name == api.get_device_name(device) != ""
    assert properties.total_memory == api.mem_get_info(device)[1] > 0
    assert properties.multi_processor_count >= 1
    assert api.get_device_capability(device) == (properties.major, properties.minor)
    assert isinstance(properties.host_accessible, bool)
    with pytest.raises(AttributeError):
        properties.name = "another"


def test_supported_dtypes():
    supported = torch.accelerator.get_device_capability()["supported_dtypes"]
    assert {torch.float32, torch.int64, torch.bool} <= supported
    assert api.is_bf16_supported() == (torch.bfloat16 in supported)


def test_synchronize(device):
    x = torch.zeros(1 << 16, device=device)
    x.fill_(3)
    for form in (None, 0, NAME, device):
        api.synchronize(form)
    torch.accelerator.synchronize()
    assert torch.equal(x.cpu(), torch.full((1 << 16,), 3.0))


@pytest.fixture
def default_device(other):
    torch.set_default_device(other)
    yield other
    torch.set_default_device(None)


def test_training_on_the_default_device(default_device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x = torch.rand(16, 4)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all(p.grad.device == default_device for p in model.parameters())
    assert losses[-1] < losses[0]
