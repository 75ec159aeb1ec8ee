"""Times torch.empty on the CPU, with the caching allocator and without it, in one process. Usage: device_empty.py NAME
TREE; prints JSON: microseconds a call, the tensor freed at once; the best of some rounds, in which the three take turns.
"""

import json
import sys
import time

import torch

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
memory = getattr(torch, NAME).memory
ROUNDS = 30


def timed(size: int, where: str, repeat: int) -> float:
    empty, device = torch.empty, torch.device(where)
    start = time.perf_counter()
    for _ in range(repeat):
        empty(size, device=device)
    return (time.perf_counter() - start) / repeat * 1e6


def compare(size: int) -> dict[str, float]:
    best = {}
    for _ in range(ROUNDS):
        for side, where, caching in (("cpu", "cpu", True), ("cached", NAME, True), ("direct", NAME, False)):
            memory.caching_allocator_enable(caching)
            taken = timed(size, where, 2000 if caching else 100)
            best[side] = min(best.get(side, taken), taken)
    return best


def main() -> None:
    torch.set_num_threads(1)
    print(json.dumps({"torch.empty(1024)": compare(1024), "torch.empty of 1 MiB": compare(1 << 18)}))


main()
