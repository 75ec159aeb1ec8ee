# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Fine-tunes a frozen network with low-rank adapters, saves only these, loads them elsewhere and merges them."""

import argparse
import io

import torch
import torch.nn.functional as F
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 4, alpha: float = 8.0) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.scale * (x @ self.lora_a.T @ self.lora_b.T)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        self.base.weight += self.scale * (self.lora_b @ self.lora_a)
        return self.base


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3))


def with_adapters(model: nn.Sequential) -> nn.Sequential:
    return nn.Sequential(*(LoraLinear(layer) if isinstance(layer, nn.Linear) else layer for layer in model))


def train(model: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int, lr: float) -> list[float]:
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=15)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    x = torch.randn(128, 8)
    first, second = x[:, :3].argmax(1), x[:, 3:6].argmax(1)
    x, first, second = x.to(args.device), first.to(args.device), second.to(args.device)
    base = network().to(args.device)
    losses = train(base, x, first, args.steps, 1e-2)
    print(f"before: loss {losses[0]:.4f} -> {losses[-1]:.4f}")

    torch.manual_seed(1)
    model = with_adapters(base.cpu()).to(args.device)
    frozen = {name: p.clone() for name, p in model.named_parameters() if not p.requires_grad}
    losses += train(model, x, second, args.steps, 2e-2)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"adapters: loss {losses[args.steps]:.4f} -> {losses[-1]:.4f}, {trained} parameters trained")
    assert all(torch.equal(p, frozen[name]) for name, p in model.named_parameters() if name in frozen)

    file = io.BytesIO()
    torch.save({name: t for name, t in model.state_dict().items() if "lora_" in name}, file)
    file.seek(0)
    adapters = torch.load(file, map_location="cpu", weights_only=True)
    again = with_adapters(network())
    again.load_state_dict({name: t.cpu() for name, t in frozen.items()}, strict=False)
    missing, unexpected = again.load_state_dict(adapters, strict=False)
    assert not unexpected and not any("lora_" in name for name in missing)
    again.to(args.device)
    with torch.no_grad():
        torch.testing.assert_close(again(x), model(x))
        merged = nn.Sequential(*(m.merged() if isinstance(m, LoraLinear) else m for m in again))
        torch.testing.assert_close(merged(x), model(x), rtol=1e-4, atol=1e-4)
    return losses


if __name__ == "__main__":
    main()
