"""Orders by seed of the simulated device: a training step replays exactly, in Python and with autograd's threads."""

import os
import subprocess
import sys

import pytest
from built import NAME, ROOT

if not (ROOT / f"third_party/{NAME}/src/schedule.cpp").exists():
    pytest.skip("the device takes no orders", allow_module_level=True)

STEP = f"""
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2)).to("{NAME}")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs, wanted = torch.randn(4, 8).to("{NAME}"), torch.randn(4, 2).to("{NAME}")
side = torch.Stream("{NAME}")
for _ in range(2):
    side.wait_stream(torch.accelerator.current_stream())
    with side:
        loss = torch.nn.functional.mse_loss(net(inputs), wanted)
    torch.accelerator.current_stream().wait_stream(side)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""


def order_of(seed, log):
    """The output of the step, and the last line of the order."""
    more = {f"{NAME.upper()}_SCHEDULE": str(seed), f"{NAME.upper()}_SCHEDULE_LOG": str(log), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", STEP]
    done = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    last = log.read_text().splitlines()[-1]
    log.unlink()
    return done.stdout, last


def test_a_training_step_replays(tmp_path):
    (loss, first), (again, second), (other, third) = (order_of(seed, tmp_path / "log") for seed in (1, 1, 2))
    assert first == second
    assert first.endswith(", exact")
    assert third.endswith(", exact")
    assert first.split(":")[1] != third.split(":")[1]  # without the seed
    assert loss == again == other
