# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Generates words with a decoder of rotary attention and a cache of keys and values; greedy, top-k and top-p."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LAYERS, LONGEST = 50, 32, 4, 2, 48
END, PADDING = 0, 0


class Cache:
    """Keys and values of all words so far; room for them is made once."""

    def __init__(self, batch: int, device: torch.device) -> None:
        shape = (LAYERS, batch, HEADS, LONGEST, WIDTH // HEADS)
        self.keys, self.values = torch.zeros(shape, device=device), torch.zeros(shape, device=device)

    def update(self, layer: int, places: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> list[torch.Tensor]:
        self.keys[layer].index_copy_(2, places, key)
        self.values[layer].index_copy_(2, places, value)
        return [self.keys[layer], self.values[layer]]


def rotate(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    rates = 1.0 / 100 ** (torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    turned = torch.polar(torch.ones_like(places[:, None] * rates), places[:, None] * rates)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turned).flatten(-2).type_as(x)


class Layer(nn.Module):
    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, places: torch.Tensor, mask: torch.Tensor, cache: Cache) -> torch.Tensor:
        y = self.norm1(x)
        q, k, v = (f(y).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        k, v = cache.update(self.index, places, rotate(k, places), v)
        y = F.scaled_dot_product_attention(rotate(q, places), k, v, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer(i) for i in range(LAYERS))
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words: torch.Tensor, places: torch.Tensor, seen: torch.Tensor, cache: Cache) -> torch.Tensor:
        causal = torch.arange(LONGEST, device=words.device) <= places[:, None]
        mask = causal & seen[:, None, None, :]
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x, places, mask, cache)
        return self.head(self.norm(x[:, -1]))


def choose(logits: torch.Tensor, top_k: int, top_p: float, temperature: float) -> torch.Tensor:
    if top_k == 1:
        return logits.argmax(-1)
    logits = logits / temperature
    logits[logits < torch.topk(logits, top_k).values[:, -1, None]] = -float("inf")
    ordered, order = torch.sort(logits, descending=True)
    above = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1) > top_p
    logits = logits.masked_fill(above.scatter(1, order, above), -float("inf"))
    # As torch.multinomial draws; the noise is from the CPU, since devices draw differently.
    noise = torch.empty(logits.shape).exponential_().to(logits.device)
    return (logits.softmax(-1) / noise).argmax(-1)


@torch.inference_mode()
def generate(model: Decoder, prompts: list[list[int]], count: int, top_k: int = 1) -> torch.Tensor:
    device, longest = model.head.weight.device, max(map(len, prompts))
    words = torch.tensor([[PADDING] * (longest - len(p)) + p for p in prompts], device=device)
    seen = torch.ones(len(prompts), LONGEST, dtype=torch.bool, device=device)
    seen[:, :longest] = words != PADDING
    cache, places = Cache(len(prompts), device), torch.arange(longest, device=device)
    finished, given = torch.zeros(len(prompts), dtype=torch.bool, device=device), words
    for _ in range(count):
        following = choose(model(given, places, seen, cache), top_k, top_p=0.9, temperature=0.8)
        following = torch.where(finished, PADDING, following)
        finished |= following == END
        words = torch.cat([words, following[:, None]], dim=1)
        if finished.all():
            break
        given, places = following[:, None], places[-1:] + 1
    return words


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--count", type=int, default=16)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    model = Decoder().eval().to(args.device)
    prompts = [[5, 6, 7], [11, 12, 13, 14, 15], [21]]
    greedy = generate(model, prompts, args.count)
    sampled = generate(model, prompts, args.count, top_k=10)
    for name, words in (("greedy", greedy), ("sampled", sampled)):
        print(f"{name}:", *words.tolist(), sep="\n  ")
    # The loss of the generated text, without an earlier cache.
    cache, places = Cache(len(prompts), greedy.device), torch.arange(greedy.shape[1] - 1, device=greedy.device)
    seen = torch.ones(len(prompts), LONGEST, dtype=torch.bool, device=greedy.device)
    seen[:, : greedy.shape[1]] = greedy != PADDING
    with torch.inference_mode():
        loss = F.cross_entropy(model(greedy[:, :-1], places, seen, cache), greedy[:, -1])
    print(f"loss {loss.item():.4f}")
    return [loss.item(), *map(float, greedy.flatten().tolist()), *map(float, sampled.flatten().tolist())]


if __name__ == "__main__":
    main()
