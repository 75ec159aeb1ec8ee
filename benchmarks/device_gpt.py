"""Times training steps of a small transformer on the CPU and on a device. Usage: device_gpt.py NAME TREE; prints JSON.

The two take turns in one process; seconds of the best step each, how many operators fell back, and the last losses.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
device = getattr(torch, NAME)
BATCH, TIME, WIDTH, HEADS, LAYERS, WORDS = 4, 64, 128, 4, 4, 65
STEPS = 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, width // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TIME, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.register_buffer("order", torch.arange(TIME))

    def forward(self, tokens):
        x = self.words(tokens) + self.places(self.order)
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


class Training:
    def __init__(self, where: str, wait):
        torch.manual_seed(0)
        self.model = Transformer().to(where)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.tokens = torch.randint(WORDS, (BATCH, TIME)).to(where)
        self.targets = torch.randint(WORDS, (BATCH * TIME,)).to(where)
        self.wait, self.best, self.loss = wait, float("inf"), None

    def step(self):
        start = time.perf_counter()
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(self.tokens), self.targets)
        loss.backward()
        self.optimizer.step()
        self.wait()
        self.best = min(self.best, time.perf_counter() - start)
        self.loss = loss.item()


def main() -> None:
    torch.set_num_threads(1)
    sides = [Training("cpu", lambda: None), Training(NAME, device.synchronize)]
    for _ in range(STEPS):
        for side in sides:
            side.step()
    cpu, there = sides
    print(json.dumps({"cpu": cpu.best, "device": there.best, "losses": [cpu.loss, there.loss]}))


main()
