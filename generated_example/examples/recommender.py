# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains a recommender: bags of embeddings for what a user did before, crossed features, Adagrad, ranking metrics."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

ITEMS, SHOPS, WIDTH = 60, 7, 8


class Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.history = nn.EmbeddingBag(ITEMS, WIDTH, mode="mean", padding_idx=0)
        self.weighted = nn.EmbeddingBag(ITEMS, WIDTH, mode="sum")
        self.item, self.shop = nn.Embedding(ITEMS, WIDTH), nn.Embedding(SHOPS, WIDTH)
        self.dense = nn.Sequential(nn.Linear(3, WIDTH), nn.ReLU())
        self.register_buffer("upper", torch.triu_indices(5, 5, offset=1), persistent=False)
        self.top = nn.Sequential(nn.Linear(WIDTH + 10, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        dense = self.dense(batch["dense"].log1p())
        bags = self.history(batch["history"], batch["offsets"])
        recent = self.weighted(batch["history"], batch["offsets"], per_sample_weights=batch["weights"])
        features = torch.stack([dense, bags, recent, self.item(batch["item"]), self.shop(batch["shop"])], dim=1)
        crossed = torch.einsum("bfw,bgw->bfg", features, features)[:, self.upper[0], self.upper[1]]
        return self.top(torch.cat([dense, crossed], dim=1)).squeeze(1)


def visits(count: int) -> dict[str, torch.Tensor]:
    """What users bought before, by offsets: some bought nothing. They click what is like it."""
    lengths = torch.randint(0, 6, (count,))
    history, item = torch.randint(1, ITEMS, (int(lengths.sum()),)), torch.randint(1, ITEMS, (count,))
    user = torch.repeat_interleave(torch.arange(count), lengths)
    alike = torch.zeros(count).index_add_(0, user, (history % 5 == item[user] % 5).float())
    return {
        "history": history,
        "offsets": torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)[:-1]]),
        "weights": torch.rand(len(history)),
        "item": item,
        "shop": torch.randint(SHOPS, (count,)),
        "dense": 10 * torch.rand(count, 3),
        "clicked": (alike + item % 3 > 1).float(),
    }


def auc(scores: torch.Tensor, clicked: torch.Tensor) -> float:
    """The chance that a clicked item has a higher score than another."""
    order = torch.argsort(scores, stable=True)
    rank = torch.empty_like(scores).scatter_(0, order, torch.arange(1, len(scores) + 1, device=scores.device).float())
    yes = clicked.sum()
    return ((rank[clicked.bool()].sum() - yes * (yes + 1) / 2) / (yes * (len(scores) - yes))).item()


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=15)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    model = Recommender().to(args.device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    batch = {name: t.to(args.device) for name, t in visits(256).items()}
    losses = []
    for step in range(args.steps):
        logits = model(batch)
        loss = F.binary_cross_entropy_with_logits(logits, batch["clicked"], pos_weight=torch.tensor(2.0))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        print(f"step {step:3} loss {losses[-1]:.4f} AUC {auc(logits.detach(), batch['clicked']):.3f}")

    model.eval()
    batch = {name: t.to(args.device) for name, t in visits(128).items()}
    with torch.no_grad():
        scores = model(batch)
    best = torch.topk(scores, 5)
    print("best:", *(f"{i} ({s:.3f})" for s, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)))
    return [*losses, auc(scores, batch["clicked"]), *best.values.tolist()]


if __name__ == "__main__":
    main()
