# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""Work that the host does in place of the device: calls, bytes, time."""

import os

import pytest
import torch

from torch_openreg.testing.spec import OPERATORS

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
    assert count.cause == "fallback"
    assert count.bytes_to_host == (0 if aliased else 3 * x.nbytes)
    assert count.bytes_to_device == 3 * 4 * 8
    assert 0 < count.seconds < 60
    torch.nn.functional.linear(torch.ones(1, 2, device=device), torch.ones(1, 2, device=device))
    report = api.fallback_report()
    assert report.calls == sum(c.calls for c in report) >= 3
    assert not any(c.op == "aten::linear" for c in report)  # composite: it has no fallback of its own
    table = str(report).splitlines()
    assert table[0].split() == ["operator", "strategy", "reason", "how", "calls", "to", "host", "to", "device", "ms"]
    row = next(line for line in table if line.startswith("aten::bincount"))
    assert row.split()[1:4] == ["-", "no", "kernel"]
    assert [count.seconds for count in report] == sorted((count.seconds for count in report), reverse=True)
    assert table[-1].startswith("total")
    api.reset_fallback_report()
    assert not api.fallback_report()
    assert str(api.fallback_report()) == "nothing was computed on the host"


# Strategies whose kernels run on the host where launched functions do not reach device memory. Others may be written by now.
ON_HOST = {"in_tree", "pointwise", "reduction"}
KERNELS = {
    "exp.out": lambda x: x.exp(),
    "hypot.out": lambda x: torch.hypot(x, x),
    "amax.out": lambda x: x.amax(0),
}


@runs
@pytest.mark.parametrize("op", KERNELS)
def test_kernels_that_run_on_copies_are_counted(device, op):
    x = torch.ones(4, 4, device=device)
    api.reset_fallback_report()
    for _ in range(2):
        KERNELS[op](x)
    counts = [count for count in api.fallback_report() if count.op == f"aten::{op}" and count.cause == "kernel"]
    if api.get_device_properties(device).host_accessible:
        assert not counts  # they are kernels of the device
        return
    strategy = next((operator.strategy for operator in OPERATORS if operator.name == op), "none")
    if strategy not in ON_HOST:
        pytest.skip(f"the strategy of {op} is {strategy}")
    (count,) = counts
    assert (count.calls, count.kind, count.strategy) == (2, "copy", strategy)
    assert count.reason.startswith("its kernel is ")
    assert count.bytes_to_host >= 2 * x.nbytes
    assert count.bytes_to_device > 0
    assert 0 < count.seconds < 60


@runs
def test_copies_are_no_computation(device):
    x = torch.ones(4, 4, device=device)
    api.reset_fallback_report()
    x.t().contiguous()
    x.to(torch.float64)
    x[:, 1] = 2.0
    assert {count.cause for count in api.fallback_report()} <= {"move"}


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
