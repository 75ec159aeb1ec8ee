# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Finds discs in noise, with focal and Dice loss, ignored pixels, and arithmetic of masks."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

IGNORED = 255


def focal_loss(logits: torch.Tensor, targets: torch.Tensor, alpha: float = 0.25, gamma: float = 2.0) -> torch.Tensor:
    p = torch.sigmoid(logits)
    cross_entropy = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    right = p * targets + (1 - p) * (1 - targets)
    weight = torch.where(targets > 0.5, alpha, 1 - alpha)
    return (weight * cross_entropy * (1 - right) ** gamma).mean()


def dice_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    p = logits.sigmoid()
    return 1 - (2 * (p * targets).sum() + 1) / (p.sum() + targets.sum() + 1)


def iou(predicted: torch.Tensor, wanted: torch.Tensor) -> float:
    both, either = predicted & wanted, predicted | wanted
    return (both.sum() / either.sum().clamp(min=1)).item()


def discs(count: int, size: int = 24) -> tuple[torch.Tensor, torch.Tensor]:
    """Images and targets: 1 in the disc, 0 elsewhere, IGNORED at its edge."""
    line = torch.arange(size)
    middle, radius = torch.rand(count, 2, 1, 1) * size, 3 + 4 * torch.rand(count, 1, 1)
    distance = ((line[:, None] - middle[:, 0]) ** 2 + (line[None, :] - middle[:, 1]) ** 2).sqrt()
    targets = (distance < radius).to(torch.uint8)
    image = targets.float() + 0.5 * torch.randn(count, size, size)
    targets[(distance - radius).abs() < 0.5] = IGNORED
    return image[:, None], targets


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=25)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.LeakyReLU(0.1), nn.Conv2d(8, 8, 3, padding=2, dilation=2),
        nn.LeakyReLU(0.1), nn.ConvTranspose2d(8, 4, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(4, 1, 1),
    ).to(args.device)  # fmt: skip
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    losses = []
    for step in range(args.steps):
        images, targets = (t.to(args.device) for t in discs(6))
        known = targets != IGNORED
        images[images < -0.5] = 0  # what is too dark is noise
        images = images - images.mean(dim=(2, 3), keepdim=True)
        logits = model(images).squeeze(1)
        wanted = targets[known].float()
        loss = 10 * focal_loss(logits[known], wanted) + 0.5 * dice_loss(logits[known], wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        with torch.no_grad():
            found = (logits > 0) & known
            wrong = found ^ (targets == 1)
            wrong &= ~(targets == IGNORED)
            hardest = torch.where(wrong, logits.abs(), float("-inf")).flatten(1).amax(1)
            hardest = hardest.masked_fill(~wrong.flatten(1).any(1), 0.0).max()
        losses += [loss.item(), iou(found, targets == 1), hardest.item()]
        print(f"step {step:3} loss {losses[-3]:.4f} IoU {losses[-2]:.3f} hardest {hardest:.3f} wrong {wrong.sum()}")
    return losses


if __name__ == "__main__":
    main()
