"""Times collectives and a training step on the CPU by Gloo and on a device, with two processes and with four. Usage:
device_distributed.py NAME TREE; prints JSON, by the number of processes: seconds of each side, and their ratio.

Each process has one thread of PyTorch's. The sides take turns in the same processes, and of each the best round counts; an allreduce
ends when the host can read its result.
"""

import datetime
import json
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
device = getattr(torch, NAME)
MIB = 1 << 20


def timed(fn, repeat: int) -> float:
    dist.barrier()
    start = time.perf_counter()
    for _ in range(repeat):
        fn()
    device.synchronize()
    return (time.perf_counter() - start) / repeat


def compare(make, repeat: int, rounds: int) -> tuple[float, float]:
    sides = [make(where) for where in ("cpu", NAME)]
    best = [float("inf")] * 2
    for fn in sides:
        timed(fn, 1)
    for _ in range(rounds):
        for i, fn in enumerate(sides):
            best[i] = min(best[i], timed(fn, repeat))
    return best[0], best[1]


def allreduce(bytes_: int):
    def make(where):
        x = torch.ones(bytes_ // 4).to(where)

        def fn():
            dist.all_reduce(x)
            if where != "cpu":
                device.synchronize()

        return fn

    return make


def step(where):
    torch.manual_seed(0)
    network = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(512, 512), nn.ReLU())])
    model = DistributedDataParallel(network.to(where))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(64, 512).to(where)

    def fn():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        if where != "cpu":
            device.synchronize()

    return fn


CASES = {
    "allreduce_4B": (allreduce(4), 50, 15),
    "allreduce_1MiB": (allreduce(MIB), 20, 15),
    "allreduce_64MiB": (allreduce(64 * MIB), 2, 10),
    "ddp_step": (step, 5, 15),
}


def rank_main(rank: int, store: str, ranks: int) -> None:
    torch.set_num_threads(1)
    torch.accelerator.set_device_index(rank % device.device_count())
    dist.init_process_group(
        f"cpu:gloo,{NAME}:{dist.get_default_backend_for_device(NAME)}",
        store=dist.FileStore(store, ranks),
        rank=rank,
        world_size=ranks,
        timeout=datetime.timedelta(minutes=10),
        device_id=torch.device(NAME, rank % device.device_count()),
    )
    results = {}
    for name, (make, repeat, rounds) in CASES.items():
        cpu, ours = compare(make, repeat, rounds)
        results[name] = {"cpu": cpu, NAME: ours, "ratio": ours / cpu}
    if rank == 0:
        with open(f"{store}.json", "w") as file:
            json.dump(results, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    results = {}
    for ranks in (2, 4):
        with tempfile.TemporaryDirectory() as folder:
            mp.start_processes(rank_main, (f"{folder}/store", ranks), nprocs=ranks, start_method="spawn")
            with open(f"{folder}/store.json") as file:
                results[ranks] = json.load(file)
    print(json.dumps(results, indent=1))
