"""torch.NAME.memory: the names of torch.cuda.memory, on whichever allocator this tree has."""

import gc

import pytest
import torch
from built import NAME

api = torch.get_device_module(NAME)
memory = api.memory
MIB = 1 << 20


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
