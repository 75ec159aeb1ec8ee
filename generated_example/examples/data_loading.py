# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Feeds training from worker processes through pinned memory, copying the next batch while this one computes."""

import argparse
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler, default_collate


class Sequences(Dataset):
    """Sequences of different lengths; the target is the sum of each, rounded into one of three classes."""

    def __init__(self, count: int) -> None:
        generator = torch.Generator().manual_seed(3)
        lengths = torch.randint(3, 9, (count,), generator=generator).tolist()
        self.items = [torch.randn(length, 4, generator=generator) for length in lengths]
        self.targets = [int(item.sum() > -1) + int(item.sum() > 1) for item in self.items]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.items[index], self.targets[index]


def collate(items: list[tuple[torch.Tensor, int]]) -> dict[str, torch.Tensor]:
    sequences, targets = zip(*items, strict=True)
    return {
        "x": nn.utils.rnn.pad_sequence(list(sequences), batch_first=True),
        "lengths": torch.tensor([len(s) for s in sequences]),
        "target": default_collate(list(targets)),
    }


def prefetched(loader: DataLoader, device: torch.device) -> Iterator[dict[str, torch.Tensor]]:
    """Batches on the device, each copied while the one before is computed."""
    ready: dict[str, torch.Tensor] | None = None
    for batch in loader:
        coming = {name: t.to(device, non_blocking=True) for name, t in batch.items()}
        if ready is not None:
            yield ready
        ready = coming
    if ready is not None:
        yield ready


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args(arguments)
    device = torch.device(args.device)

    torch.manual_seed(0)
    data = Sequences(96)
    weights = 1 / torch.bincount(torch.tensor(data.targets)).float()
    sampler = WeightedRandomSampler(
        weights[data.targets].tolist(), len(data), generator=torch.Generator().manual_seed(4)
    )
    loader = DataLoader(
        data, batch_size=16, sampler=sampler, collate_fn=collate, num_workers=args.workers,
        persistent_workers=args.workers > 0, pin_memory=device.type != "cpu",
    )  # fmt: skip
    encoder, head = nn.GRU(4, 16, batch_first=True).to(device), nn.Linear(16, 3).to(device)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
    losses = []
    for epoch in range(args.epochs):
        for batch in prefetched(loader, device):
            states, _ = encoder(batch["x"])
            time = torch.arange(states.shape[1], device=device)
            mask = (time < batch["lengths"][:, None]).unsqueeze(-1)
            mean = (states * mask).sum(1) / mask.sum(1)
            loss = F.cross_entropy(head(mean), batch["target"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses[-6:]) / 6:.4f}")
    return losses


if __name__ == "__main__":
    main()
