# Written by openreg-gen 0.1.0 from openreg.yaml.
# Shared: rendered, then yours to edit; `backend` in the spec changes what is rendered.
"""Trains a small network on device "openreg" and on the CPU with the same seed, and compares their losses.

    python examples/train_mlp.py           float32
    python examples/train_mlp.py --amp     mixed precision, on both

Exit code 0: the loss falls, as it does on the CPU. 1: it does not, or not as on the CPU. 3: there is no device.
"""

import argparse
import sys

import torch
from torch import nn

NAME = "openreg"


def train(device: str, steps: int, amp_dtype: torch.dtype | None) -> list[float]:
    """The loss before each step. Data and weights are made on the CPU, so that they are the same everywhere."""
    torch.manual_seed(0)
    x = torch.randn(512, 16)
    y = (x[:, :4].sum(1) * x[:, 4]).sin().unsqueeze(1)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    model.to(device)
    x, y = x.to(device), y.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(steps):
        with torch.autocast(device, dtype=amp_dtype, enabled=amp_dtype is not None):
            loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--amp", action="store_true", help="compute in mixed precision")
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()

    module = torch.get_device_module(NAME)
    if not module.is_available():
        print(f"no {NAME} device")
        return 3
    dtype = None
    if args.amp:
        supported = module.get_amp_supported_dtype()
        if not supported:
            print(f"{NAME} has no dtypes for mixed precision (key amp.dtypes of its spec)")
            return 3
        dtype = torch.bfloat16 if torch.bfloat16 in supported else supported[0]

    losses, expected = train(NAME, args.steps, dtype), train("cpu", args.steps, dtype)
    print(f"{'step':>5}{NAME:>32}{'cpu':>12}")
    for step in sorted({*range(0, args.steps, 10), args.steps - 1}):
        print(f"{step:>5}{losses[step]:>32.6f}{expected[step]:>12.6f}")

    # Operators may round differently, and training lets differences grow; mixed precision starts with larger ones.
    tolerance = 0.05 if args.amp else 0.01
    worst = max(abs(a - b) for a, b in zip(losses, expected, strict=True))
    print(f"largest difference {worst:.2e} (tolerated: {tolerance}), loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    if losses[-1] > 0.7 * losses[0]:
        print("the loss did not fall")
        return 1
    if worst > tolerance:
        print("the losses differ from the CPU's")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
