# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains a small diffusion UNet on rings, keeps a moving average of its weights, and samples with that."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn

STEPS, SIZE, WIDTH = 50, 16, 16


class Block(nn.Module):
    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, inner), nn.GroupNorm(4, outer)
        self.conv1, self.conv2 = nn.Conv2d(inner, outer, 3, padding=1), nn.Conv2d(outer, outer, 3, padding=1)
        self.time = nn.Linear(WIDTH, outer)
        self.skip = nn.Conv2d(inner, outer, 1) if inner != outer else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.begin, self.end = nn.Conv2d(1, WIDTH, 3, padding=1), nn.Conv2d(WIDTH, 1, 3, padding=1)
        self.down1, self.down2 = Block(WIDTH, WIDTH), Block(WIDTH, 2 * WIDTH)
        self.middle = Block(2 * WIDTH, 2 * WIDTH)
        self.up2, self.up1 = Block(4 * WIDTH, WIDTH), Block(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        rates = torch.exp(torch.arange(WIDTH // 2, device=x.device) * -0.5)
        angles = step[:, None].float() * rates
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        fine = self.down1(self.begin(x), time)
        coarse = self.down2(F.avg_pool2d(fine, 2), time)
        y = self.middle(F.avg_pool2d(coarse, 2), time)
        y = self.up2(torch.cat([F.interpolate(y, scale_factor=2, mode="nearest"), coarse], dim=1), time)
        y = self.up1(torch.cat([F.interpolate(y, scale_factor=2, mode="bilinear"), fine], dim=1), time)
        return self.end(F.silu(y))


def rings(count: int) -> torch.Tensor:
    line = torch.linspace(-1, 1, SIZE)
    radius = torch.sqrt(line[:, None] ** 2 + line[None, :] ** 2)
    return torch.cos(8 * (radius - torch.rand(count, 1, 1, 1)))


@torch.no_grad()
def sample(model: nn.Module, alphas: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    x = noise
    for step in range(STEPS - 1, 0, -10):  # DDIM: no noise on the way
        now, before = alphas[step], alphas[step - 10] if step >= 10 else alphas.new_ones(())
        predicted = model(x, torch.full((len(x),), step, device=x.device))
        clean = ((x - (1 - now).sqrt() * predicted) / now.sqrt()).clamp_(-1, 1)
        x = before.sqrt() * clean + (1 - before).sqrt() * predicted
    return x


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=12)
    args = parser.parse_args(arguments)
    device = torch.device(args.device)

    torch.manual_seed(0)  # noise is drawn on the CPU: devices draw differently
    model = UNet().to(device)
    average = copy.deepcopy(model).requires_grad_(False).eval()
    alphas = torch.cumprod(1 - torch.linspace(1e-3, 0.15, STEPS, device=device), dim=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for step in range(args.steps):
        images, noise = rings(8).to(device), torch.randn(8, 1, SIZE, SIZE).to(device)
        steps = torch.randint(STEPS, (8,)).to(device)
        alpha = alphas[steps].view(-1, 1, 1, 1)
        loss = F.mse_loss(model(alpha.sqrt() * images + (1 - alpha).sqrt() * noise, steps), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 0.1)
        losses.append(loss.item())
        print(f"step {step:3} loss {losses[-1]:.4f}")
    images = sample(average, alphas, torch.randn(4, 1, SIZE, SIZE).to(device))
    print(f"samples: mean {images.mean():.4f}, std {images.std():.4f}")
    return [*losses, images.mean().item(), images.std().item()]


if __name__ == "__main__":
    main()
