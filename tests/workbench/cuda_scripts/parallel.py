"""Distributed training: one process per GPU, with nccl; two processes and gloo on the CPU."""

import argparse
import json
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def train(rank, world_size, rendezvous, out):
    use_cuda = torch.cuda.is_available()
    if use_cuda:
        torch.cuda.set_device(rank)
        device = torch.device(f"cuda:{rank}")
    else:
        device = torch.device("cpu")
    backend = "nccl" if device.type == "cuda" else "gloo"
    if rendezvous is None:  # started by torchrun
        dist.init_process_group(backend)
    else:
        dist.init_process_group(backend, init_method=f"file://{rendezvous}", rank=rank, world_size=world_size)
    print(f"rank {rank} of {dist.get_world_size()} on {device} with {dist.get_backend()}")
    torch.manual_seed(3)
    data, target = torch.randn(64, 6), torch.randn(64, 2)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
    model = DDP(model, device_ids=[rank] if use_cuda else None)
    dataset = TensorDataset(data, target)
    sampler = DistributedSampler(dataset, world_size, rank, shuffle=True, seed=5)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler, pin_memory=use_cuda)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        total = torch.zeros(1, device=device)
        for x, y in loader:
            if use_cuda:
                x, y = x.cuda(rank, non_blocking=True), y.cuda(rank, non_blocking=True)
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        losses.append(total.item())
    dist.barrier()
    if rank == 0:
        print("losses", losses)
        with open(out, "w") as file:
            json.dump({"losses": losses, "on_gpu": next(model.parameters()).is_cuda}, file)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="parallel.json")
    args = parser.parse_args()
    if "LOCAL_RANK" in os.environ:
        train(int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]), None, args.out)
        return
    world_size = torch.cuda.device_count() if torch.cuda.is_available() else 2
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(world_size, f"{folder}/rendezvous", args.out), nprocs=world_size)


if __name__ == "__main__":
    main()
