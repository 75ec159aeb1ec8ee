# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""What falling back to the CPU cost: calls, bytes, time."""

import os

import pytest
import torch

NAME = "openreg"
VARIABLE = "OPENREG_FALLBACK"
KIND = os.environ.get(VARIABLE) or "cpu"
api = torch.get_device_module(NAME)
kernels = torch._C._dispatch_has_kernel_for_dispatch_key

runs = pytest.mark.skipif(KIND == "none", reason="nothing falls back; test_fallback.py runs this with both accesses")


@pytest.fixture
def aliased(device) -> bool:
    """Whether CPU kernels run on the device's memory."""
    return KIND != "copy" and api.get_device_properties(device).host_accessible


def falls_back(op: str) -> bool:
    """Whether the backend has no kernel of its own for the operator."""
    return not kernels(op, "PrivateUse1")


def counted(op: str):
    api_counts = {count.op: count for count in api.fallback_report()}
    return api_counts.get(op)


@runs
def test_counts(device, aliased):
    if not falls_back("aten::bincount"):
        pytest.skip("bincount has a kernel, so nothing falls back")
    x = torch.tensor([1, 1, 3], device=device)
    api.reset_fallback_report()
    assert counted("aten::bincount") is None
    for _ in range(3):
        x.bincount()
    count = counted("aten::bincount")
    assert count.calls == 3
    assert count.kind == ("alias" if aliased else "copy")
    assert count.bytes_to_host == (0 if aliased else 3 * x.nbytes)
    assert count.bytes_to_device == 3 * 4 * 8
    assert 0 < count.seconds < 60
    torch.nn.functional.linear(torch.ones(1, 2, device=device), torch.ones(1, 2, device=device))
    report = api.fallback_report()
    assert report.calls == sum(c.calls for c in report) >= 3
    assert not any(c.op == "aten::linear" for c in report)  # composite: it has no fallback of its own
    table = str(report).splitlines()
    assert table[0].split() == ["operator", "how", "calls", "to", "host", "to", "device", "ms"]
    assert any(line.startswith("aten::bincount") for line in table)
    assert table[-1].startswith("total")
    api.reset_fallback_report()
    assert not api.fallback_report()
    assert str(api.fallback_report()) == "nothing fell back to the CPU"


@runs
def test_in_place_moves_only_copies(device, aliased):
    if not falls_back("aten::put_"):
        pytest.skip("put_ has a kernel, so nothing falls back")
    x = torch.zeros(8, device=device)
    index = torch.tensor([1], device=device)
    source = torch.ones(1, device=device)
    api.reset_fallback_report()
    x.put_(index, source)
    count = counted("aten::put_")
    assert count.bytes_to_host == (0 if aliased else 32 + 8 + 4)
    assert count.bytes_to_device == (0 if aliased else 32)
