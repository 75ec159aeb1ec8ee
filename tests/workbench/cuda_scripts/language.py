"""Trains a transformer on text, saves a checkpoint, loads it, and goes on; then writes some text."""

import argparse
import json
import math

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

TEXT = "the quick brown fox jumps over the lazy dog and the dog sleeps on while the fox runs away. " * 8


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        # Made anew in each call, also when the forward pass is repeated in backward.
        later = torch.ones(length, length, dtype=torch.bool, device="cuda" if x.is_cuda else "cpu").triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, letters, width=32, heads=4, layers=2, length=32):
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, letters)

    def forward(self, x):
        places = torch.arange(x.size(1), device=x.device)
        x = self.letters(x) + self.places(places)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.training else block(x)
        return self.head(x)


def batches(text, count, length=32, size=8):
    for step in range(count):
        starts = [(step * 37 + i * 11) % (len(text) - length - 1) for i in range(size)]
        yield (
            torch.stack([text[s : s + length] for s in starts]),
            torch.stack([text[s + 1 : s + length + 1] for s in starts]),
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--out", default="language.json")
    parser.add_argument("--checkpoint", default="language.pt")
    args = parser.parse_args()
    device_type = "cuda" if "cuda" in args.device else "cpu"
    torch.manual_seed(7)
    letters = sorted(set(TEXT))
    text = torch.tensor([letters.index(c) for c in TEXT])
    model = Model(len(letters)).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for step, (x, y) in enumerate(batches(text, args.steps)):
        if device_type == "cuda":
            x, y = (batch.pin_memory().to(args.device, non_blocking=True) for batch in (x, y))
        else:
            x, y = x.to(args.device), y.to(args.device)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step == args.steps // 2:
            torch.save(
                {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, args.checkpoint
            )
            saved = torch.load(args.checkpoint, map_location=args.device)
            model, optimizer = Model(len(letters)).to(args.device), None
            model.load_state_dict(saved["model"])
            optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
            optimizer.load_state_dict(saved["optimizer"])
    on_cpu = torch.load(args.checkpoint, map_location={"cuda:0": "cpu"})["model"]
    assert all(not tensor.is_cuda for tensor in on_cpu.values())
    model.eval()
    written = text[:4].unsqueeze(0).to(args.device)
    with torch.inference_mode():
        for _ in range(16):
            written = torch.cat([written, model(written[:, -32:])[:, -1].argmax(-1, keepdim=True)], dim=1)
    line = "".join(letters[i] for i in written[0].tolist())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}: {line!r}")
    with open(args.out, "w") as file:
        json.dump({"losses": losses, "on_gpu": written.is_cuda}, file)


if __name__ == "__main__":
    main()
