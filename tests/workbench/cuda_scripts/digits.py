"""Trains a small convolutional network on made-up digits, with mixed precision on a GPU."""

import argparse
import json

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Linear(16 * 3 * 3, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return F.log_softmax(self.head(x.flatten(1)).float(), dim=1)


def digits(count):
    """Patterns of 12 x 12 with noise: one pattern per digit."""
    patterns = torch.rand(10, 1, 12, 12)
    labels = torch.arange(count) % 10
    return patterns[labels] + 0.2 * torch.randn(count, 1, 12, 12), labels


def train(model, loader, optimizer, scaler, device, use_amp):
    model.train()
    losses = []
    for data, target in loader:
        data, target = data.to(device, non_blocking=True), target.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with autocast(enabled=use_amp):
            loss = F.nll_loss(model(data), target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def test(model, data, target, device):
    model.eval()
    output = model(data.to(device))
    return output.argmax(1).eq(target.to(device)).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--no-cuda", action="store_true")
    parser.add_argument("--out", default="digits.json")
    args = parser.parse_args()
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(1)
    if use_cuda:
        torch.cuda.manual_seed_all(1)
        torch.backends.cudnn.benchmark = True
        print("running on", torch.cuda.get_device_name(torch.cuda.current_device()))
    device = torch.device("cuda" if use_cuda else "cpu")
    kwargs = {"pin_memory": True} if device.type == "cuda" else {}
    data, labels = digits(320)
    loader = DataLoader(TensorDataset(data[:256], labels[:256]), batch_size=64, **kwargs)
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = GradScaler(enabled=use_cuda)
    losses = []
    for epoch in range(args.epochs):
        losses += train(model, loader, optimizer, scaler, device, use_cuda)
        print(f"epoch {epoch}: loss {losses[-1]:.4f}")
    accuracy = test(model, data[256:], labels[256:], device)
    print(f"accuracy {accuracy:.3f}")
    with open(args.out, "w") as file:
        json.dump({"losses": losses, "accuracy": accuracy, "on_gpu": next(model.parameters()).is_cuda}, file)


if __name__ == "__main__":
    main()
