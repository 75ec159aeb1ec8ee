# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""MAML on sine waves with torch.func: gradients of gradients of one network, for all tasks at once by vmap."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, grad_and_value, jacrev, vjp, vmap

Parameters = dict[str, torch.Tensor]


def waves(tasks: int, points: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points of sine waves that differ in height and phase."""
    height, phase = 0.5 + 2 * torch.rand(tasks, 1, 1), torch.pi * torch.rand(tasks, 1, 1)
    x = 10 * torch.rand(tasks, points, 1) - 5
    return x, height * torch.sin(x - phase)


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    model.to(args.device)
    parameters: Parameters = {name: p.detach().clone() for name, p in model.named_parameters()}

    def loss_of(parameters: Parameters, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(functional_call(model, parameters, (x,)), y)

    def adapted(parameters: Parameters, x: torch.Tensor, y: torch.Tensor) -> Parameters:
        for _ in range(2):
            slopes = grad(loss_of)(parameters, x, y)
            parameters = {name: p - 0.05 * slopes[name] for name, p in parameters.items()}
        return parameters

    def meta_loss(parameters: Parameters, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Of all tasks, each after learning from the first half of its points."""
        half = x.shape[1] // 2

        def one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return loss_of(adapted(parameters, x[:half], y[:half]), x[half:], y[half:])

        return vmap(one)(x, y).mean()

    moments = {name: torch.zeros_like(p) for name, p in parameters.items()}
    losses = []
    for step in range(args.steps):
        x, y = (t.to(args.device) for t in waves(8, 10))
        slopes, loss = grad_and_value(meta_loss)(parameters, x, y)
        for name, p in parameters.items():
            moments[name].mul_(0.9).add_(slopes[name])
            parameters[name] = p - 0.02 * moments[name]
        losses.append(loss.item())
        print(f"step {step:3} loss {losses[-1]:.4f}")

    # How the loss bends by the biases of the first layer, and what each point pulls at.
    x, y = (t[0].to(args.device) for t in waves(1, 10))
    _, pull = vjp(lambda x: functional_call(model, parameters, (x,)), x)
    slope = pull(torch.ones_like(y))[0].mean()
    bend = jacrev(grad(lambda bias: loss_of({**parameters, "0.bias": bias}, x, y)))(parameters["0.bias"]).trace()
    each = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x[:, None], y[:, None])
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in each.values()]).norm(dim=0)
    print(f"slope {slope:.4f}, bend {bend.item():.4f}, largest gradient of a point {norms.max():.4f}")
    return [*losses, slope.item(), bend.item(), *norms.tolist()]


if __name__ == "__main__":
    main()
