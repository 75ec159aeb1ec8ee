"""Benchmarks of operators: the device against the CPU, in one process, as ratios; above 1 the device is slower.

The tree is rendered from specs/full.yaml and built once. `call` times a call of a small operator, queue included, over
many calls with one wait at the end; `bandwidth` and `gemm` do the same with large operands, on one thread.
"""

import json
import os
import pathlib
import subprocess
import sys

import peers
from measure import Table, run

SCRIPT = r"""
import json, sys, time
import torch
NAME = sys.argv[1]
sys.path.insert(0, sys.argv[2])
__import__("torch_" + NAME)
device = getattr(torch, NAME)
torch.set_num_threads(1)


def clock(fn, wait, repeat):
    fn(); wait()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(repeat):
            fn()
        wait()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


def both(make, repeat):
    cpu = clock(make("cpu"), lambda: None, repeat)
    return cpu, clock(make(NAME), device.synchronize, repeat)


def small(fn):
    def make(where):
        x, y = torch.ones(1, device=where), torch.ones(1, device=where)
        return lambda: fn(x, y)
    return make


def large(fn, size=1 << 24):
    def make(where):
        x = torch.rand(size, device="cpu").to(where)
        out = torch.empty_like(x)
        return lambda: fn(x, out)
    return make


def square(n):
    def make(where):
        a, b = torch.rand(n, n).to(where), torch.rand(n, n).to(where)
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)
    return make


results = {}
for name, make, repeat in (
    ("call: add, one element", small(torch.add), 2000),
    ("call: mul, one element", small(torch.mul), 2000),
    ("call: sum, one element", small(lambda x, y: x.sum()), 2000),
    ("call: mm 64x64", square(64), 500),
    ("bandwidth: add, 16M", large(lambda x, out: torch.add(x, x, out=out)), 3),
    ("bandwidth: exp, 16M", large(lambda x, out: torch.exp(x, out=out)), 3),
    ("bandwidth: sum, 16M", large(lambda x, out: x.sum()), 3),
    ("gemm: mm 1024", square(1024), 3),
):
    results[name] = both(make, repeat)
print(json.dumps(results))
"""


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    tree = scratch / "full"
    spec = peers.ROOT / "specs" / "full.yaml"
    generator = os.environ.get("OPENREG_GEN", "openreg-gen")
    run([generator, "new", "openreg", "--spec", spec, "--out", tree])
    where = scratch / "full-build"
    run(["cmake", "-S", tree, "-B", where, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"])
    run(["cmake", "--build", where])
    argv = [sys.executable, "-c", SCRIPT, "openreg", str(tree)]
    once = subprocess.run(argv, check=True, capture_output=True, text=True)
    for name, (cpu, device) in json.loads(once.stdout.splitlines()[-1]).items():
        table.note(f"{name}, device / CPU", f"{device / cpu:.2f}")
