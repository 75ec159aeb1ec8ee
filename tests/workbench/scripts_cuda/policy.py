"""Policy gradients: a global device in lower case, used in all functions."""

import random

import torch
import torch.nn as nn
from torch.distributions import Categorical

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, x):
        return torch.softmax(self.two(torch.relu(self.one(x))), dim=-1)


def finish(policy, optimizer, rewards, saved):
    returns = torch.tensor(rewards).to(device)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = torch.stack([-log * r for log, r in zip(saved, returns, strict=True)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return loss.item()


def main():
    random.seed(4)
    torch.manual_seed(4)
    policy = Policy().to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        saved, rewards = [], []
        for step in range(6):
            state = torch.tensor([random.random() for _ in range(4)], device=device)
            chosen = torch.tensor(step % 2, device=device)
            saved.append(Categorical(policy(state)).log_prob(chosen))
            rewards.append(random.random())
        losses.append(finish(policy, optimizer, rewards, saved))
    mask = torch.ones(2, device="cuda") if device.type == "cuda" else torch.ones(2)
    return {"losses": losses + [mask.sum().item()], "on": device.type}


if __name__ == "__main__":
    RESULT = main()
