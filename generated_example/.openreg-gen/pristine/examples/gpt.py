# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains a small GPT on characters: causal attention, AdamW with and without decay, warm-up and cosine, accumulation."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog, and the lazy dog sleeps on. " * 40
TIME, WIDTH, HEADS, LAYERS, BATCH, ACCUMULATE = 32, 32, 4, 2, 8, 2


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(WIDTH, dim=2)
        q, k, v = (t.view(batch, time, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(batch, time, WIDTH))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, WIDTH), nn.Embedding(TIME, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, words, bias=False)
        self.apply(self.initialize)
        self.tokens.weight = self.head.weight  # tied

    @staticmethod
    def initialize(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.05)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=-1)


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    letters = sorted(set(TEXT))
    data = torch.tensor([letters.index(letter) for letter in TEXT])
    model = Gpt(len(letters)).to(args.device)
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=5e-3, betas=(0.9, 0.95)
    )

    def rate(step: int) -> float:
        return (step + 1) / 4 if step < 4 else 0.1 + 0.45 * (1 + math.cos(math.pi * step / args.steps))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    losses = []
    for step in range(args.steps):
        total = 0.0
        for _ in range(ACCUMULATE):
            starts = torch.randint(len(data) - TIME - 1, (BATCH,)).tolist()
            batch = torch.stack([data[i : i + TIME + 1] for i in starts]).to(args.device, non_blocking=True)
            loss = model(batch[:, :-1], batch[:, 1:]) / ACCUMULATE
            loss.backward()
            total += loss.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step:3} loss {total:.4f} norm {norm:.3f} rate {schedule.get_last_lr()[0]:.2e}")
        losses.append(total)
    return losses


if __name__ == "__main__":
    main()
