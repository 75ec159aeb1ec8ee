"""Times calls of operators on the CPU and on a device, in one process. Usage: device_ops.py NAME TREE; prints JSON.

Each figure is the best of some rounds, in which the two take turns, as seconds a call. One thread on either side.
`enqueue` is processor time of the calling thread, with the system's part, so that nothing else on the machine counts.
"""

import json
import sys
import time

import torch

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
device = getattr(torch, NAME)
ROUNDS = 25


def timed(fn, wait, repeat: int, how: str) -> float:
    clock = time.thread_time if how == "enqueue" else time.perf_counter
    start = clock()
    for _ in range(repeat):
        fn()
        if how == "round trip":
            wait()
    if how == "throughput":
        wait()
    taken = (clock() - start) / repeat
    wait()
    return taken


def compare(make, repeat: int, how: str) -> tuple[float, float]:
    sides = [(make("cpu"), lambda: None), (make(NAME), device.synchronize)]
    best = [float("inf")] * 2
    for fn, wait in sides:
        fn()
        wait()
    for _ in range(ROUNDS):
        for i, (fn, wait) in enumerate(sides):
            best[i] = min(best[i], timed(fn, wait, repeat, how))
    return best[0], best[1]


def small(fn):
    def make(where):
        x, y = torch.ones(1, device=where), torch.ones(1, device=where)
        return lambda: fn(x, y)

    return make


def large(fn, size=1 << 24):
    def make(where):
        x = torch.rand(size).to(where)
        out = torch.empty_like(x)
        return lambda: fn(x, out)

    return make


def square(n: int):
    def make(where):
        a, b = torch.rand(n, n).to(where), torch.rand(n, n).to(where)
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)

    return make


CALLS = {
    "add, one element": small(torch.add),
    "mul, one element": small(torch.mul),
    "sum, one element": small(lambda x, y: x.sum()),
    "mm 64x64": square(64),
}
LARGE = {
    "add, 16M": large(lambda x, out: torch.add(x, x, out=out)),
    "exp, 16M": large(lambda x, out: torch.exp(x, out=out)),
    "sum, 16M": large(lambda x, out: x.sum()),
    "mm 1024x1024": square(1024),
}


def main() -> None:
    torch.set_num_threads(1)
    results = {}
    for how, repeat in (("enqueue", 200), ("throughput", 200), ("round trip", 100)):
        for name, make in CALLS.items():
            results[f"{name}: {how}"] = compare(make, repeat, how)
    for name, make in LARGE.items():
        results[f"{name}: throughput"] = compare(make, 3, "throughput")
    print(json.dumps(results))


main()
