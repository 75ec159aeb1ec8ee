"""Benchmarks of operators: the device against the CPU, in one process and mostly on one thread, as ratios of times; above 1 the
device is slower.

`enqueue` is what a call costs the calling thread, the device's work left out; `throughput` has one wait at the end of
many calls; `round trip` waits after each. `overhead` is what users notice first, with all the threads that either side takes
by itself (device_overhead.py). What a graph saves is seen on launch-bound work (device_graphs.py). The training step is that of a small transformer: with the kernels of
specs/full.yaml, and without any, where each operator falls back (`alias`: on the device's memory, `cpu`: on copies).

Isolation of device memory is a debugging aid of the simulated device; it is off here, since a host without protection
keys pays for it at each wait. With ISOLATION=auto in the environment it is as users have it.
"""

import json
import os
import pathlib
import subprocess
import sys

import peers
from measure import Table, run

HERE = pathlib.Path(__file__).resolve().parent
NAME = "openreg"


def build(spec: pathlib.Path, tree: pathlib.Path) -> pathlib.Path:
    generator = os.environ.get("OPENREG_GEN", "openreg-gen")
    run([generator, "new", NAME, "--spec", spec, "--out", tree])
    where = tree / "build"
    configure = ["cmake", "-S", tree, "-B", where, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    run([*configure, f"-DPython_EXECUTABLE={sys.executable}"])
    run(["cmake", "--build", where])
    return tree


def without_kernels(spec: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """The spec without its `ops`, which come last."""
    bare = scratch / "bare.yaml"
    bare.write_text(spec.read_text().partition("\nops:\n")[0] + "\n")
    return bare


def times_of(script: str, tree: pathlib.Path, fallback: str | None = None, one_thread: bool = True) -> dict:
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    if one_thread:
        env["OMP_NUM_THREADS"] = "1"
    env["OPENREG_ISOLATION"] = os.environ.get("ISOLATION", "off")
    if fallback is not None:
        env["OPENREG_FALLBACK"] = fallback
    argv = [sys.executable, HERE / script, NAME, tree]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, env=env)
    return json.loads(done.stdout.splitlines()[-1])


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    spec = peers.ROOT / "specs" / "full.yaml"
    full = os.environ.get("FULL_TREE")
    full = pathlib.Path(full) if full else build(spec, scratch / "full")
    for name, (cpu, device) in times_of("device_ops.py", full).items():
        table.note(f"{name}, device / CPU", f"{device / cpu:.2f}")
    for name, (cpu, device) in times_of("device_overhead.py", full, one_thread=False).items():
        table.note(f"{name}: overhead, device / CPU", f"{device / cpu:.2f}")
    for name, (eager, replay) in times_of("device_graphs.py", full).items():
        table.note(f"{name}, eager / replayed", f"{eager / replay:.2f}")
    bare = os.environ.get("BARE_TREE")
    bare = pathlib.Path(bare) if bare else build(without_kernels(spec, scratch), scratch / "bare")
    for name, tree, fallback in (("native kernels", full, None), ("alias", bare, "alias"), ("copies", bare, "cpu")):
        step = times_of("device_gpt.py", tree, fallback)
        table.note(f"transformer step, {name}, device / CPU", f"{step['device'] / step['cpu']:.2f}")
