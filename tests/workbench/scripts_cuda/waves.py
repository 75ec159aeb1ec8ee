"""Sine waves in double precision; it says nothing of CUDA until the end."""

import gc

import torch
import torch.nn as nn
import torch.optim as optim


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(9, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        hidden = torch.zeros(x.size(0), 8, dtype=torch.double, device=x.device)
        outputs = []
        for part in x.split(1, dim=1):
            hidden = torch.tanh(self.cell(torch.cat([part, hidden], 1)))
            outputs.append(self.out(hidden))
        return torch.cat(outputs, dim=1)


def clean_up():
    gc.collect()
    torch.cuda.empty_cache()


def memory():
    return torch.cuda.memory_allocated() / 2**20


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
wave = torch.sin(torch.arange(20).double() / 3).view(2, 10).to(device)
model = Sequence().double().to(device)
optimizer = optim.SGD(model.parameters(), lr=0.1)
losses = []
for _ in range(3):
    loss = nn.functional.mse_loss(model(wave[:, :-1]), wave[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    clean_up()
    torch.cuda.empty_cache()  # between the epochs
print(
    f"{memory():.2f} MiB now, at most {torch.cuda.max_memory_allocated() / 2**20:.2f} MiB; reserved {torch.cuda.memory_reserved()}"
)
RESULT = {"losses": losses, "on": loss.device.type}
