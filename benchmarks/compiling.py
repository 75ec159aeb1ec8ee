"""torch.compile on the simulated device: compiled steps beside Inductor's for the CPU, and beside eager code on the device.

FULL_TREE in the environment is a built tree to use instead of building one, as for the group `ops`.
"""

import os
import pathlib

import ops
import peers
from measure import Table


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    given = os.environ.get("FULL_TREE")
    tree = pathlib.Path(given) if given else ops.build(peers.ROOT / "specs" / "full.yaml", scratch / "full")
    for name, took in ops.times_of("device_compile.py", tree, one_thread=False).items():
        table.note(f"{name}: compiled step, ms", f"{took['device'] * 1e3:.2f}")
        table.note(f"{name}: compiled, device / CPU", f"{took['device'] / took['cpu']:.2f}")
        table.note(f"{name}: device, compiled / eager", f"{took['device'] / took['eager']:.2f}")
