"""Distributed training with --local_rank; one process alone trains without a group."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def setup(args):
    args.world_size = int(os.environ.get("SCRIPT_WORLD_SIZE", 1))
    if args.local_rank == -1:
        args.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    else:
        torch.cuda.set_device(args.local_rank)
        args.device = torch.device("cuda", args.local_rank)
        dist.init_process_group(backend="nccl")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    setup(args)
    torch.manual_seed(9)
    model = nn.Linear(3, 1).to(args.device)
    if args.local_rank != -1:
        model = DDP(model, device_ids=[args.local_rank], output_device=args.local_rank)
    losses = []
    for _ in range(2):
        x = torch.randn(4, 3).to(args.device)
        loss = model(x).abs().mean()
        losses.append(loss.item())
        if args.world_size > 1:
            dist.all_reduce(loss)
    return {"losses": losses, "on": loss.device.type}


if __name__ == "__main__":
    RESULT = main()
