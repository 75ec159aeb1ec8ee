"""The cost of importing the package beyond `import torch`, in one process: the reference backend, as installed."""

import json
import os
import pathlib
import statistics
import subprocess
import sys

from measure import Table

CODE = """
import json, time
start = time.perf_counter()
import torch
torch_done = time.perf_counter()
import torch_openreg
done = time.perf_counter()
torch.ones(1, device="openreg")
print(json.dumps([torch_done - start, done - torch_done, time.perf_counter() - done]))
"""


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    # The environment that scripts/test.sh installs generated_example/ into.
    python = pathlib.Path(__file__).resolve().parent.parent / ".venv/openreg/bin/python"
    if not python.exists():
        sys.exit("the import benchmark needs the reference backend built: run scripts/test.sh example")
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    samples = [
        json.loads(subprocess.run([python, "-c", CODE], env=env, cwd=scratch, check=True, capture_output=True).stdout)
        for _ in range(runs + 1)
    ][1:]
    torch, package, first = (statistics.median(column) for column in zip(*samples, strict=True))
    table.note("import torch", f"{torch:.3f}")
    table.note("import torch_openreg, beyond it", f"{package:.3f}")
    table.note("first tensor on the device", f"{first:.3f}")
    table.note("beyond / import torch", f"{package / torch:.1%}")
