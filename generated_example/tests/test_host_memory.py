# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Pinned host memory: statistics, reuse, copies, DataLoader."""

import gc

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

api = torch.openreg


@pytest.fixture(autouse=True)
def _empty(device):
    torch.empty(1, device=device)
    gc.collect()
    api.synchronize()
    api.empty_host_cache()
    api.reset_accumulated_host_memory_stats()
    api.reset_peak_host_memory_stats()


def test_statistics_follow_blocks():
    before = api.host_memory_stats()
    x = torch.empty(5000, dtype=torch.uint8, pin_memory=True)
    held = api.host_memory_stats()
    assert held["active_requests.current"] - before["active_requests.current"] == 1
    assert held["active_bytes.current"] - before["active_bytes.current"] == 8192  # the next power of two
    assert held["num_host_alloc"] - before["num_host_alloc"] == 1
    del x
    freed = api.host_memory_stats()
    assert freed["active_requests.current"] == before["active_requests.current"]
    assert freed["allocated_bytes.current"] == held["allocated_bytes.current"]  # cached
    y = torch.empty(8000, dtype=torch.uint8, pin_memory=True)
    assert api.host_memory_stats()["num_host_alloc"] == held["num_host_alloc"]  # the same block again
    del y
    api.empty_host_cache()
    after = api.host_memory_stats()
    assert after["allocated_bytes.current"] == before["allocated_bytes.current"]
    assert after["num_host_free"] - before["num_host_free"] == 1


def test_resets():
    x = torch.empty(1 << 16, dtype=torch.uint8, pin_memory=True)
    assert api.host_memory_stats()["active_bytes.peak"] >= x.nbytes
    assert api.host_memory_stats()["active_bytes.allocated"] >= x.nbytes
    del x
    api.empty_host_cache()
    api.reset_peak_host_memory_stats()
    api.reset_accumulated_host_memory_stats()
    stats = api.host_memory_stats()
    assert stats["active_bytes.peak"] == stats["active_bytes.current"]
    assert stats["active_bytes.allocated"] == stats["num_host_alloc"] == 0
    nested = api.host_memory_stats_as_nested_dict()
    assert nested["active_bytes"]["peak"] == stats["active_bytes.peak"]
    assert set(nested["host_alloc_time"]) == {"total", "max", "min", "count", "avg"}


@pytest.mark.parametrize("workers", [0, 1])
def test_data_loader_pins(workers, device):
    data = TensorDataset(torch.arange(32.0).view(16, 2), torch.arange(16))
    seen = []
    for inputs, labels in DataLoader(data, batch_size=4, pin_memory=True, num_workers=workers):
        assert inputs.is_pinned()
        assert labels.is_pinned()
        seen.append(inputs.to(device, non_blocking=True))
    assert torch.equal(torch.cat([x.cpu() for x in seen]), torch.arange(32.0).view(16, 2))


def test_blocks_wait_for_the_copies_of_all_streams(device):
    streams = [api.Stream(device) for _ in range(3)]
    results = []
    for value in range(30):
        source = torch.full((1 << 14,), float(value), pin_memory=True)
        with api.stream(streams[value % 3]):
            results.append((streams[value % 3], source.to(device, non_blocking=True)))
        del source
    for value, (stream, result) in enumerate(results):
        stream.synchronize()
        assert result.cpu().eq(value).all()


def test_copies_to_the_host_keep_their_target(device):
    x = torch.arange(float(1 << 16), device=device)
    for _ in range(10):
        torch.empty(1 << 16, pin_memory=True).copy_(x, non_blocking=True)  # gone before the copy is done
    kept = torch.zeros(1 << 16, pin_memory=True)
    api.synchronize()
    assert kept.eq(0).all()
