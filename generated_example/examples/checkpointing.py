# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains a deep network that recomputes its activations in backward; gradients are those of the plain one."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.dropout(self.down(F.glu(self.up(self.norm(x)))))


class Deep(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(Layer(width) for _ in range(depth)))
        self.head = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor, how: str) -> torch.Tensor:
        if how == "segments":
            x = checkpoint_sequential(self.layers, 3, x, use_reentrant=False)
        elif how == "layers":
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=False)
        else:
            x = self.layers(x)
        return self.head(x).squeeze(-1)


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    model = Deep(16, 6).to(args.device)
    x = torch.randn(64, 16)
    y = (x[:, 0] * x[:, 1] + x[:, 2]).to(args.device)
    x = x.to(args.device)

    # Dropout draws the same numbers again when activations are recomputed.
    grads = {}
    for how in ("plain", "layers", "segments"):
        torch.manual_seed(1)
        grads[how] = torch.autograd.grad(F.mse_loss(model(x, how), y), list(model.parameters()))
    for how in ("layers", "segments"):
        for grad, plain in zip(grads[how], grads["plain"], strict=True):
            torch.testing.assert_close(grad, plain)

    model.eval()  # devices draw differently, so no dropout in what is compared
    optimizer = torch.optim.NAdam(model.parameters(), lr=3e-3)
    losses = []
    for epoch in range(args.epochs):
        for how in ("layers", "segments"):
            loss = F.mse_loss(model(x, how), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {losses[-1]:.4f}")
    return losses


if __name__ == "__main__":
    main()
