# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains a small network, in float32 or in mixed precision."""

import argparse

import torch
from torch import nn


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="lessons")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    args = parser.parse_args(arguments)
    device, dtype = torch.device(args.device), getattr(torch, args.dtype)

    torch.manual_seed(0)  # data and weights are made on the CPU: devices draw differently
    x = torch.randn(512, 16)
    y = (x[:, :4].sum(1) * x[:, 4]).sin().unsqueeze(1)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    model.to(device)
    x, y = x.to(device), y.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for step in range(args.steps):
        with torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
            loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 0 or step == args.steps - 1:
            print(f"step {step:3} loss {losses[-1]:.6f}")
    return losses


if __name__ == "__main__":
    main()
