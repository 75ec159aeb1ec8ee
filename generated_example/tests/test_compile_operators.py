# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""torch.compile(model, backend="openreg"): networks train as they do without."""

import networks
import pytest
import torch

NAME = "openreg"
STEPS = 20


@pytest.fixture(autouse=True)
def _forget():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def losses(name: str, device: torch.device, compiled=lambda model: model) -> list[float]:
    model, inputs, targets = networks.network(name)
    return networks.train(model.to(device), inputs.to(device), targets.to(device), STEPS, compiled)


@pytest.mark.parametrize("name", networks.NAMES)
def test_training_with_the_operators_of_the_device(device, name):
    """Without a compiler, and on any device."""
    compiled = losses(name, device, lambda model: torch.compile(model, fullgraph=True, backend=NAME))
    assert compiled == pytest.approx(losses(name, device), rel=1e-5, abs=1e-6)


def test_options_of_the_operators_are_refused(device):
    with pytest.raises(Exception, match="takes no options"):
        torch.compile(lambda x: x + 1, backend=NAME, options={"a": 1})(torch.ones(3, device=device))
