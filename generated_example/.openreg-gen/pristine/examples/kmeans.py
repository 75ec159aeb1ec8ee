# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Clusters points by k-means, with k-means++ to begin with; says how pure the clusters are."""

import argparse

import torch


def begin(points: torch.Tensor, count: int) -> torch.Tensor:
    """k-means++: far points are likelier. Choices are drawn on the CPU: devices draw differently."""
    centers = points[:1]
    while len(centers) < count:
        nearest = torch.cdist(points, centers).square().amin(dim=1)
        chosen = torch.multinomial(nearest.cpu() / nearest.sum().cpu(), 1).to(points.device)
        centers = torch.cat([centers, points[chosen]])
    return centers


def move(points: torch.Tensor, labels: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    sums = torch.zeros_like(centers).scatter_add_(0, labels[:, None].expand_as(points), points)
    counts = torch.bincount(labels, minlength=len(centers)).unsqueeze(1)
    return torch.where(counts > 0, sums / counts.clamp(min=1), centers)


def main(arguments: list[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="openreg")
    parser.add_argument("--clusters", type=int, default=6)
    args = parser.parse_args(arguments)

    torch.manual_seed(0)
    truth = torch.arange(args.clusters).repeat_interleave(50)
    where = 4 * torch.randn(args.clusters, 8)
    order = torch.randperm(len(truth))
    truth = truth[order].to(args.device)
    points = (where.repeat_interleave(50, dim=0) + torch.randn(len(order), 8))[order].to(args.device)
    points = (points - points.mean(0)) / points.std(0)

    centers = begin(points, args.clusters)
    losses: list[float] = []
    for step in range(30):
        distances = torch.cdist(points, centers)
        nearest, labels = distances.min(dim=1)
        losses.append(nearest.square().mean().item())
        print(f"step {step:3} loss {losses[-1]:.4f}")
        before, centers = centers, move(points, labels, centers)
        if torch.allclose(before, centers):
            break

    # Purity: of each cluster, the part that has the label most of it has.
    both, counts = torch.unique(torch.stack([labels, truth], dim=1), dim=0, return_counts=True)
    most = torch.zeros(args.clusters, dtype=torch.long, device=points.device)
    most.scatter_reduce_(0, both[:, 0], counts, reduce="amax")
    purity = (most.sum() / len(points)).item()
    sizes = torch.sort(torch.bincount(labels, minlength=args.clusters), descending=True).values
    gaps = torch.pdist(centers.cpu()).to(args.device)
    print(f"purity {purity:.3f}, sizes {sizes.tolist()}, smallest gap {gaps.min():.3f}")
    spread = torch.histc(nearest, bins=5, min=0, max=5).tolist()
    quarter = torch.quantile(nearest, torch.tensor([0.25, 0.75], device=points.device)).tolist()
    print(f"distances: {spread}, quartiles {quarter}")
    return [*losses, purity, *sizes.tolist(), *spread, *quarter]


if __name__ == "__main__":
    main()
