# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg.memory: snapshots and the history of allocations."""

import base64
import pickle
import re
import time

import pytest
import torch
from torch.cuda import _memory_viz

api = torch.openreg
memory = api.memory
MIB = 1 << 20


@pytest.fixture
def history(device):
    """History is recorded during the test."""
    torch.empty(1, device=device)
    try:
        memory._record_memory_history(clear_history=True)
    except NotImplementedError:
        pytest.skip(f"the {api.get_allocator_backend()} allocator records no history")
    yield
    memory._record_memory_history(None)


def test_snapshot_shows_what_is_allocated(device):
    x = torch.empty(3 * MIB, dtype=torch.uint8, device=device)
    segments = memory.memory_snapshot()
    mine = [s for s in segments if s["address"] <= x.data_ptr() < s["address"] + s["total_size"]]
    assert len(mine) == 1
    assert mine[0]["device"] == 0
    assert mine[0]["segment_type"] == "large"
    (block,) = [b for b in mine[0]["blocks"] if b["address"] == x.data_ptr()]
    assert block["state"] == "active_allocated"
    assert block["size"] >= block["requested_size"] == x.nbytes
    for segment in segments:
        assert sum(b["size"] for b in segment["blocks"]) == segment["total_size"]
    reserved = sum(s["total_size"] for s in segments if s["device"] == 0)
    assert reserved == api.memory_reserved(device)
    assert sum(s["allocated_size"] for s in segments if s["device"] == 0) == api.memory_allocated(device)


def test_memory_viz_reads_snapshots(device, tmp_path):
    kept = torch.empty(2 * MIB, dtype=torch.uint8, device=device)
    memory._dump_snapshot(str(tmp_path / "snapshot.pickle"))
    snapshot = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    assert str(snapshot["segments"][0]["address"]) in _text(_memory_viz.segment_plot(snapshot))
    assert "segments:" in _memory_viz.segsum(snapshot)
    assert kept.nbytes


def test_history(device, history):
    x = torch.empty(5 * MIB, dtype=torch.uint8, device=device)
    address = x.data_ptr()
    del x
    api.synchronize()
    snapshot = memory._snapshot()
    trace = [e for e in snapshot["device_traces"][0] if e.get("addr") == address]
    assert [e["action"] for e in trace if e["action"] == "alloc"] == ["alloc"]
    assert {"free_requested", "free_completed"} <= {e["action"] for e in trace}
    (alloc,) = [e for e in trace if e["action"] == "alloc"]
    assert alloc["size"] >= 5 * MIB
    assert any(frame["name"] == "test_history" for frame in alloc["frames"])
    assert [e["time_us"] for e in trace] == sorted(e["time_us"] for e in trace)
    assert abs(alloc["time_us"] / 1e6 - time.time()) < 60
    assert "test_history" in _text(_memory_viz.trace_plot(snapshot))
    assert "5.0MiB]" in _memory_viz.trace(snapshot)


def test_out_of_memory_is_in_the_history(device, history):
    total = api.mem_get_info(device)[1]
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(2 * total, dtype=torch.uint8, device=device)
    (entry,) = [e for e in memory._snapshot()["device_traces"][0] if e["action"] == "oom"]
    assert entry["size"] >= 2 * total
    assert 0 < entry["device_free"] <= total


def test_where_memory_was_allocated(device, history):
    x = torch.empty(100, device=device)
    frames = memory._allocation_traceback(x.untyped_storage().data_ptr())
    assert any(frame["name"] == "test_where_memory_was_allocated" for frame in frames)


@pytest.mark.parametrize(
    "arguments",
    [{"enabled": "some"}, {"context": "none"}, {"stacks": "c++"}, {"skip_actions": ["malloc"]}],
)
def test_bad_history_settings(arguments, device):
    with pytest.raises((ValueError, RuntimeError), match="(?i)expected|unknown"):
        memory._record_memory_history(**arguments)


def _text(page: str) -> str:
    """A page of memory_viz with what it shows: the snapshot is in it, pickled and in base64."""
    (encoded,) = re.findall(r'"base64": "([^"]*)"', page)
    return page + str(pickle.loads(base64.b64decode(encoded)))
