# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""PYTORCH_ALLOC_CONF=expandable_segments:True: a segment grows where it is."""

import os
import subprocess
import sys

import pytest

GROWS = """
import torch

MIB = 1 << 20
api = torch.openreg
parts = [torch.empty(15 * MIB, dtype=torch.uint8, device="openreg") for _ in range(4)]
addresses = sorted(x.data_ptr() for x in parts)
print("steps", {b - a for a, b in zip(addresses, addresses[1:])} == {15 * MIB})
print("segments", api.memory_stats()["segment.all.current"])
for i, x in enumerate(parts):
    x.fill_(i)
print("values", [int(x.sum()) // (15 * MIB) for x in parts])
del parts, x
api.empty_cache()
print("reserved", api.memory_reserved())
"""


@pytest.mark.parametrize("grows", [False, True])
def test_segments_grow_if_asked_to(device, grows):
    env = {**os.environ, "PYTORCH_ALLOC_CONF": f"expandable_segments:{grows}"}
    done = subprocess.run(
        [sys.executable, "-c", GROWS], env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert (said["values"], said["reserved"]) == ("[0, 1, 2, 3]", "0")
    assert (said["steps"], said["segments"]) == (("True", "1") if grows else (said["steps"], "4"))
