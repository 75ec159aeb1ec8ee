"""Times the operations that users notice first: small operators, item(), a large addition, a copy from pinned memory; on the CPU and on a
device, in one process. Usage: device_overhead.py NAME TREE; prints JSON: seconds a call of each side, as device_ops.py does.

Unlike there, either side has all the threads that it takes by itself. Small operators and additions have one wait at the end
of many calls; item() and the copy wait each time. The sides take turns, and of each the best round counts.
"""

import json
import sys

import torch
import turns

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
__import__(f"torch_{NAME}")
device = getattr(torch, NAME)
ROUNDS = 40


def compare(make, repeat: int) -> list[float]:
    return turns.compare([(make("cpu"), lambda: None), (make(NAME), device.synchronize)], repeat, ROUNDS)


def added(size: int):
    def make(where):
        x, y = torch.rand(size).to(where), torch.rand(size).to(where)
        return lambda: x + y

    return make


def unary(fn):
    def make(where):
        x = torch.ones(1).to(where)
        return lambda: fn(x)

    return make


def softmax(where):
    """By the CPU's kernel, which shares even this between OpenMP's threads."""
    x = torch.rand(8, 8).to(where)
    return lambda: torch.softmax(x, -1)


def copied(size: int):
    """From pinned memory, which is where the CPU's side copies from as well."""

    def make(where):
        source = torch.rand(size // 4).pin_memory()
        target = torch.empty_like(source, device=where)
        return lambda: target.copy_(source)

    return make


def main() -> None:
    results = {
        "add, one element": compare(added(1), 1000),
        "abs, one element": compare(unary(torch.abs), 1000),
        "relu, one element": compare(unary(torch.relu), 1000),
        "softmax, 8 x 8": compare(softmax, 1000),
        "add, 1M": compare(added(1 << 20), 20),
        "item()": compare(unary(torch.Tensor.item), 1000),
        "copy of 64 MiB from pinned memory": compare(copied(64 << 20), 1),
    }
    print(json.dumps(results))


main()
