# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Learns by policy gradient to walk to the middle of a line of cells; actions are drawn on the device."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

CELLS, WALKS, TIME = 9, 64, 6
GOAL = CELLS // 2


class Walks:
    """Many walks at once, as tensors of one device. Each step costs, the goal pays and ends the walk."""

    def __init__(self, places: torch.Tensor) -> None:
        self.places, self.done = places, places == GOAL

    def observe(self) -> torch.Tensor:
        return F.one_hot(self.places, CELLS).float()

    def step(self, actions: torch.Tensor) -> torch.Tensor:
        moved = (self.places + 2 * actions - 1).clamp_(0, CELLS - 1)
        self.places = torch.where(self.done, self.places, moved)
        rewards = torch.where(self.places == GOAL, 1.0, -0.1)
        rewards[self.done] = 0
        self.done = self.done | (self.places == GOAL)
        return rewards


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(CELLS, 16), nn.Tanh(), nn.Linear(16, 2))
        self.value = nn.Linear(CELLS, 1)


def returns(rewards: list[torch.Tensor], discount: float = 0.95) -> torch.Tensor:
    following, result = torch.zeros_like(rewards[0]), []
    for reward in reversed(rewards):
        following = reward + discount * following
        result.append(following)
    return torch.stack(result[::-1])


@torch.no_grad()
def greedy(agent: Agent, device: str) -> list[float]:
    """The rewards of the likeliest actions, from each cell."""
    walks = Walks(torch.arange(CELLS, device=device))
    total = torch.zeros(CELLS, device=device)
    for _ in range(TIME):
        total += walks.step(agent.policy(walks.observe()).argmax(-1))
    return total.tolist()


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--updates", type=int, default=25)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    agent = Agent().to(args.device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=0.05)
    for update in range(args.updates):
        walks = Walks(torch.randint(CELLS, (WALKS,), device=args.device))
        chances, entropies, values, rewards, alive = [], [], [], [], []
        for _ in range(TIME):
            observed = walks.observe()
            choice = Categorical(logits=agent.policy(observed))
            actions = choice.sample()
            alive.append(~walks.done)
            values.append(agent.value(observed).squeeze(-1))
            chances.append(choice.log_prob(actions))
            entropies.append(choice.entropy())
            rewards.append(walks.step(actions))
        mask, value, gained = torch.stack(alive), torch.stack(values), returns(rewards)
        better = gained - value.detach()
        better = (better - better[mask].mean()) / (better[mask].std() + 1e-6)
        gain = (torch.stack(chances) * better + 0.01 * torch.stack(entropies))[mask].mean()
        loss = F.smooth_l1_loss(value[mask], gained[mask]) - gain
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(agent.parameters(), 1.0)
        optimizer.step()
        print(f"update {update:3} loss {loss.item():.4f} return {gained[0].mean():.4f}")
    # Devices draw differently and so learn on different ways, but all of them learn the same.
    return greedy(agent, args.device)


if __name__ == "__main__":
    main()
