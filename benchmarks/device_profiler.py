"""Times launches of a small kernel while nobody profiles, under a profile of the CPU, and under one of both, by turns in one
process. Usage: device_profiler.py NAME TREE; prints JSON: seconds per launch of each, the best of several rounds.
"""

import json
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
device = getattr(torch, NAME)
ROUNDS, LAUNCHES = 15, 2000
KINDS = {
    "off": None,
    "profile of the CPU": [ProfilerActivity.CPU],
    "profile of both": [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
}


def launches() -> float:
    x = torch.ones(1).to(NAME)
    device.synchronize()
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        x.fill_(1)
    seconds = time.perf_counter() - start
    device.synchronize()
    return seconds / LAUNCHES


def main() -> None:
    best = dict.fromkeys(KINDS, float("inf"))
    launches()
    for _ in range(ROUNDS):
        for kind, activities in KINDS.items():
            if activities is None:
                best[kind] = min(best[kind], launches())
            else:
                with profile(activities=activities):
                    best[kind] = min(best[kind], launches())
    print(json.dumps(best))


main()
