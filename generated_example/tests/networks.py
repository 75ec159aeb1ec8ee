# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Four small networks, and steps of training: what torch.compile is tested and measured with."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Attention and a feed-forward network, each after a normalization."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        split = self.qkv(self.norm1(x)).view(batch, time, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, time, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Predicts the next word."""

    def __init__(self, words: int = 65, width: int = 64, heads: int = 4, layers: int = 2, time: int = 32) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(time, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.register_buffer("order", torch.arange(time))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places(self.order[: tokens.shape[1]])
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


class Cnn(nn.Module):
    """Classifies images."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.AvgPool2d(2),
            nn.Flatten(),
        )
        self.head = nn.LazyLinear(10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x))


class Lstm(nn.Module):
    """Classifies sequences, one step after the other."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.width = width
        self.cell, self.head = nn.LSTMCell(16, width), nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = (x.new_zeros(x.shape[0], self.width), x.new_zeros(x.shape[0], self.width))
        for step in x.unbind(1):
            state = self.cell(step, state)
        return self.head(state[0])


def mlp(width: int = 64) -> nn.Module:
    """Classifies vectors."""
    return nn.Sequential(nn.Linear(16, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, 10))


def network(name: str, scale: int = 1) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """The network `name` with inputs and targets, on the CPU, the same at each call. `scale` makes them larger."""
    torch.manual_seed(0)
    batch = 8 * scale
    classes = torch.randint(10, (batch,))
    if name == "transformer":
        tokens = torch.randint(65, (batch, 32)), torch.randint(65, (batch, 32))
        return Transformer(width=64 * min(scale, 4)), tokens[0], tokens[1].flatten()
    if name == "cnn":
        images = torch.randn(batch, 3, 16, 16)
        model = Cnn(8 * min(scale, 4))
        model(images[:2])  # fixes the size of the last layer
        return model, images, classes
    if name == "lstm":
        return Lstm(32 * scale), torch.randn(batch, 6, 16), classes
    return mlp(64 * scale), torch.randn(batch, 16), classes


NAMES = ("mlp", "cnn", "lstm", "transformer")


def train(
    model: nn.Module,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    steps: int,
    compiled: Callable[[nn.Module], Callable[[torch.Tensor], torch.Tensor]] = lambda model: model,
) -> list[float]:
    """The loss at each of `steps` steps of stochastic gradient descent."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    forward = compiled(model)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [loss.item() for loss in losses]
