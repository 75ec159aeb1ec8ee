"""Copies the next batch on a stream of its own, if there is a device."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class Prefetcher:
    def __init__(self, loader, device):
        self.loader = iter(loader)
        self.device = device
        self.stream = torch.cuda.Stream() if device.type == "cuda" else None
        self.preload()

    def preload(self):
        self.batch = next(self.loader, None)
        if self.batch is None:
            return
        with torch.cuda.stream(self.stream):
            self.batch = self.batch.to(self.device, non_blocking=True)

    def next(self):
        if self.stream is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.batch
        if batch is not None and self.stream is not None:
            batch.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch


torch.manual_seed(8)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
prefetcher = Prefetcher(DataLoader(torch.randn(8, 4), batch_size=2, pin_memory=True), device)
losses = []
while (batch := prefetcher.next()) is not None:
    losses.append(model(batch).square().sum().item())
RESULT = {"losses": losses, "on": model.weight.device.type}
