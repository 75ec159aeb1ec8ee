# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Loops over many elements: threads take a share each, and together they write what one would."""

import os
import subprocess
import sys

import pytest
import torch
from torch_openreg import _release

BROADCAST = {
    "rows": ((513, 257), lambda x: x),
    "columns": ((257, 513), lambda x: x.t()),
    "one number a row": ((513, 257), lambda x: x[:, :1]),
    "wide rows": ((2, 70_001), lambda x: x),
    "three dimensions": ((3, 211, 131), lambda x: x.transpose(0, 2)),
    "every other": ((140_001,), lambda x: x[::2]),
}


# Large enough for several threads to take a share; then a number of elements that they can't share evenly.
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("case", BROADCAST)
def test_threads_share_large_loops(device, case, threads):
    shape, view = BROADCAST[case]
    x = torch.arange(torch.Size(shape).numel(), dtype=torch.int32).reshape(shape)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        source = view(x.to(device))
        copy = source.to(torch.int64).contiguous()
        filled = torch.empty(shape, device=device)
        view(filled).fill_(2.5)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(copy.cpu(), view(x).to(torch.int64).contiguous())
    expected = torch.zeros(shape)
    view(expected).fill_(2.5)
    assert torch.equal(view(filled.cpu()), view(expected))


PROGRAM = """
import os
import torch


def threads():
    return len(os.listdir("/proc/self/task"))


small, large = torch.zeros(2, device="openreg"), torch.zeros(1 << 20, device="openreg")
small.to(torch.int32)
torch.openreg.synchronize()
before = threads()
large.to(torch.int32)
torch.openreg.synchronize()
print(before, threads())
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2 or torch.get_num_threads() < 2, reason="needs two processors")
@pytest.mark.skipif(not _release.built()["compiler"].startswith("GNU"), reason="the build asks g++ alone for OpenMP")
def test_large_loops_have_helpers():
    """Without OpenMP in the compiler, PyTorch's at::parallel_for is a plain loop, and nothing says so."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, stdout=subprocess.PIPE, text=True)
    before, after = done.stdout.split()
    assert int(after) > int(before)
