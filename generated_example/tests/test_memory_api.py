# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg.memory: the names of torch.cuda.memory, on whichever allocator this tree has."""

import base64
import gc
import pickle
import re
import time

import pytest
import torch
from torch.cuda import _memory_viz

NAME = "openreg"
api = torch.openreg
memory = api.memory
MIB = 1 << 20

# What torch.cuda.memory has and this module hasn't, and why.
NOT_HERE = {
    "CUDAPluggableAllocator": "OpenRegPluggableAllocator",
    "list_gpu_processes": "it asks NVIDIA's management library",
    "reset_max_memory_allocated": "deprecated; reset_peak_memory_stats",
    "reset_max_memory_cached": "deprecated; reset_peak_memory_stats",
}


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


@pytest.mark.no_device
def test_names_are_torch_cudas():
    theirs = set(torch.cuda.memory.__all__)
    missing = theirs - set(memory.__all__) - set(NOT_HERE)
    assert not missing
    assert all(hasattr(memory, name) for name in memory.__all__)
    assert not set(NOT_HERE) & set(memory.__all__)


def test_nested_stats_are_the_flat_ones(device):
    x = torch.empty(1000, device=device)
    nested = memory.memory_stats_as_nested_dict(device)
    assert nested["allocated_bytes"]["all"]["current"] == api.memory_allocated(device) >= x.nbytes
    assert nested["allocation"]["small_pool"]["peak"] == api.memory_stats(device)["allocation.small_pool.peak"]


def test_raw_memory(device, other):
    before = [api.memory_allocated(where) for where in (device, other)]
    pointer = memory.caching_allocator_alloc(MIB, device)
    there = memory.caching_allocator_alloc(MIB, other, api.Stream(other))
    assert pointer and there and pointer != there
    assert api.memory_allocated(device) - before[0] >= MIB
    assert api.memory_allocated(other) - before[1] >= MIB
    memory.caching_allocator_delete(pointer)
    memory.caching_allocator_delete(there)
    assert [api.memory_allocated(where) for where in (device, other)] == before


def test_raw_memory_of_no_bytes(device):
    assert memory.caching_allocator_alloc(0, device) == 0
    memory.caching_allocator_delete(0)


def test_raw_memory_needs_a_stream(device):
    with pytest.raises(TypeError, match="stream argument"):
        memory.caching_allocator_alloc(1, device, "stream")


def test_fraction_limits_the_process(device):
    torch.empty(1, device=device)
    assert memory.get_per_process_memory_fraction(device) == 1.0
    total = api.mem_get_info(device)[1]
    gc.collect()
    api.empty_cache()
    memory.set_per_process_memory_fraction(0.25, device)
    try:
        assert memory.get_per_process_memory_fraction(device) == 0.25
        torch.empty(total // 8, dtype=torch.uint8, device=device)
        with pytest.raises(torch.OutOfMemoryError, match="(?i)out of memory.*Tried to allocate"):
            torch.empty(total // 2, dtype=torch.uint8, device=device)
    finally:
        memory.set_per_process_memory_fraction(1.0, device)
    torch.empty(total // 2, dtype=torch.uint8, device=device)


@pytest.mark.parametrize(("fraction", "error"), [(1, TypeError), (-0.1, ValueError), (1.1, ValueError)])
def test_bad_fractions(fraction, error, device):
    with pytest.raises(error):
        memory.set_per_process_memory_fraction(fraction, device)


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


def test_out_of_memory_observers(device):
    seen = []
    memory.attach_out_of_memory_observer(lambda *args: seen.append(args))
    total = api.mem_get_info(device)[1]
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(2 * total, dtype=torch.uint8, device=device)
    ((index, allocated, device_total, free),) = seen
    assert (index, allocated, device_total) == (0, 2 * total, total)
    assert 0 <= free <= total


def test_errors_name_the_allocator(device):
    torch.empty(1, device=device)
    kind = api.get_allocator_backend()
    assert kind == memory._get_current_allocator().allocator().name()
    assert kind in ("direct", "native", "pluggable")  # native is the caching one, as in torch.cuda


def test_accelerator_memory(device):
    x = torch.empty(MIB, dtype=torch.uint8, device=device)
    accelerator = torch.accelerator.memory
    public = [n for n in accelerator.__all__ if n not in ("empty_cache", "empty_host_cache")]
    for name in public:
        getattr(accelerator, name)(0)
    assert accelerator.memory_allocated(0) == api.memory_allocated(0) >= x.nbytes
    assert accelerator.memory_reserved(0) == api.memory_reserved(0)
    assert accelerator.max_memory_allocated(0) == api.max_memory_allocated(0)
    assert accelerator.max_memory_reserved(0) == api.max_memory_reserved(0)
    accelerator.empty_cache()
    accelerator.empty_host_cache()


def _text(page: str) -> str:
    """A page of memory_viz with what it shows: the snapshot is in it, pickled and in base64."""
    (encoded,) = re.findall(r'"base64": "([^"]*)"', page)
    return page + str(pickle.loads(base64.b64decode(encoded)))
