# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains a CNN in mixed precision with a gradient scaler, channels_last, batch normalization and OneCycleLR."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 4


class Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride=stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)
        self.skip = nn.Sequential(nn.Conv2d(inner, outer, 1, stride=stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.skip(x), inplace=True)


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        Residual(8, 16, 2), Residual(16, 16, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, CLASSES),
    )  # fmt: skip


def images(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Stripes of four directions, with noise."""
    targets = torch.randint(CLASSES, (count,))
    place = torch.arange(16.0)
    angle = targets.view(-1, 1, 1) * (torch.pi / CLASSES)
    waves = torch.sin(place[None, :, None] * angle.sin() + place[None, None, :] * angle.cos())
    return waves[:, None].expand(-1, 3, -1, -1) + 0.3 * torch.randn(count, 3, 16, 16), targets


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--dtype", choices=("float16", "bfloat16"), default="bfloat16")
    args = parser.parse_args(arguments)
    device, dtype = torch.device(args.device), getattr(torch, args.dtype)

    torch.manual_seed(0)
    model = network().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=args.steps)
    scaler = torch.amp.GradScaler(device.type, init_scale=2.0**10)
    losses = []
    model.train()
    for step in range(args.steps):
        x, y = images(16)
        x = x.to(device, memory_format=torch.channels_last, non_blocking=True)
        y = y.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=dtype):
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        losses.append(loss.item())
        print(f"step {step:3} loss {losses[-1]:.4f} scale {scaler.get_scale():.0f}")
    model.eval()
    x, y = images(32)
    with torch.inference_mode(), torch.autocast(device.type, dtype=dtype):
        logits = model(x.to(device, memory_format=torch.channels_last))
    right = (logits.argmax(1) == y.to(device)).float().mean()
    print(f"accuracy {right:.3f}")
    return losses


if __name__ == "__main__":
    main()
