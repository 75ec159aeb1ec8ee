# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Trains an LSTM language model by truncated backpropagation through time; the rate falls when validation stalls."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, TIME, BATCH = 20, 24, 12, 8
Hidden = tuple[torch.Tensor, torch.Tensor]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2)
        self.decoder = nn.Linear(WIDTH, WORDS)
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, words: torch.Tensor, hidden: Hidden) -> tuple[torch.Tensor, Hidden]:
        y, hidden = self.lstm(self.embedding(words), hidden)
        return self.decoder(y).flatten(0, 1), hidden

    def first_hidden(self) -> Hidden:
        weight = next(self.parameters())
        return weight.new_zeros(2, BATCH, WIDTH), weight.new_zeros(2, BATCH, WIDTH)


def corpus(length: int) -> torch.Tensor:
    """Words that mostly follow from the one before them, in BATCH columns."""
    words = [1]
    surprise = (torch.rand(length) < 0.1).tolist()
    for i in range(1, length):
        words.append(i % WORDS if surprise[i] else (3 * words[-1] + 1) % WORDS)
    return torch.tensor(words).view(BATCH, -1).t().contiguous()


@torch.no_grad()
def evaluate(model: Model, data: torch.Tensor) -> float:
    model.eval()
    hidden, total, count = model.first_hidden(), 0.0, 0
    for i in range(0, len(data) - 1 - TIME, TIME):
        logits, hidden = model(data[i : i + TIME], hidden)
        total += F.cross_entropy(logits, data[i + 1 : i + 1 + TIME].flatten(), reduction="sum").item()
        count += TIME * BATCH
    return total / count


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    model = Model().to(args.device)
    train, valid = corpus(BATCH * 80).to(args.device), corpus(BATCH * 40).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.25, patience=0)
    losses = []
    for epoch in range(args.epochs):
        model.train()
        hidden = model.first_hidden()
        for i in range(0, len(train) - 1 - TIME, TIME):
            hidden = tuple(h.detach() for h in hidden)
            model.zero_grad()
            logits, hidden = model(train[i : i + TIME], hidden)
            loss = F.cross_entropy(logits, train[i + 1 : i + 1 + TIME].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            optimizer.step()
            losses.append(loss.item())
        losses.append(evaluate(model, valid))
        schedule.step(losses[-1])
        rate = optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch} loss {loss.item():.4f} perplexity {math.exp(losses[-1]):.3f} rate {rate}")
    return losses


if __name__ == "__main__":
    main()
