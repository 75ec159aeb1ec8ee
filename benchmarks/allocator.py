"""Benchmarks of the caching allocator, in C++ beside malloc and the device's own allocation (benchmarks/allocator), and of
torch.empty beside the CPU's. Ratios are of times; above 1 the cached side is slower than the one it is compared with.

Fragmentation is peak reserved / peak allocated bytes of a training trace (allocator/traces.h). FULL_TREE in the
environment is a built tree to use instead of building one, as for the group `ops`.
"""

import json
import os
import pathlib
import subprocess
import sys

import ops
import peers
from measure import Table, run


def build(tree: pathlib.Path, where: pathlib.Path) -> pathlib.Path:
    configure = ["cmake", "-S", ops.HERE / "allocator", "-B", where, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    run([*configure, f"-DTREE={tree}", f"-DPython_EXECUTABLE={sys.executable}"])
    run(["cmake", "--build", where])
    return where / "allocator_benchmark"


def in_cpp(table: Table, program: pathlib.Path) -> None:
    output = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
    for name, got in json.loads(output).items():
        if "malloc_ns" in got:
            table.note(f"{name}: ns", f"{got['cached_ns']:.0f}")
            table.note(f"{name}: cached / malloc", f"{got['cached_ns'] / got['malloc_ns']:.2f}")
            if "cpu_ns" in got:
                table.note(f"{name}: cached / PyTorch's for the CPU", f"{got['cached_ns'] / got['cpu_ns']:.2f}")
            if "direct_ns" in got:
                table.note(f"{name}: cached / direct", f"{got['cached_ns'] / got['direct_ns']:.3f}")
        else:
            table.note(f"{name}: million operations/s", f"{got['cached_ops'] / 1e6:.1f}")
            table.note(f"{name}: cached / malloc", f"{got['malloc_ops'] / got['cached_ops']:.2f}")
            table.note(f"{name}: cached / direct", f"{got['direct_ops'] / got['cached_ops']:.3f}")
            table.note(f"{name}: fragmentation", f"{got['peak_reserved'] / got['peak_allocated']:.3f}")


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    spec = peers.ROOT / "specs" / "full.yaml"
    given = os.environ.get("FULL_TREE")
    tree = pathlib.Path(given) if given else ops.build(spec, scratch / "full")
    in_cpp(table, build(tree, scratch / "allocator"))
    for name, took in ops.times_of("device_empty.py", tree).items():
        table.note(f"{name}: us", f"{took['cached']:.2f}")
        table.note(f"{name}: cached / CPU", f"{took['cached'] / took['cpu']:.2f}")
        table.note(f"{name}: cached / direct", f"{took['cached'] / took['direct']:.3f}")
