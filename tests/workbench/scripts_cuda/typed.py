"""Typed code, defaults in signatures, and a registry of devices."""

from __future__ import annotations

import torch
from torch import Tensor, nn

DEVICE = "the name is taken"


def resolve(device: str | torch.device | None = None) -> torch.device:
    """Return `device`, or "cuda" if there is one."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device)


class Encoder(nn.Module):
    def __init__(self, width: int, device: str | torch.device = "cpu") -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(width, dtype=torch.float32, device=device))
        self.stream: torch.cuda.Stream | None = None

    def forward(self, x: Tensor, event: torch.cuda.Event | None = None) -> Tensor:
        if x.is_cuda and not self.weight.is_cuda:
            x = x.cpu()
        return x * self.weight


def make(width: int, *, device: torch.device) -> Encoder:
    return Encoder(width, device=device)


device = resolve()
encoder = make(4, device=device)
out = encoder(torch.ones(4).to(device))
RESULT = {"losses": out.tolist(), "on": out.device.type, "name": DEVICE}
assert out.device == resolve(out.device)
