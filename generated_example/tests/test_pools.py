# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg.MemPool: memory that is kept apart."""

import threading

import pytest
import torch

api = torch.openreg
MIB = 1 << 20


def test_pools_keep_their_memory(device):
    torch.empty(1, device=device)
    try:
        pool = api.MemPool()
    except NotImplementedError as error:
        assert api.get_allocator_backend() in str(error)
        pytest.skip(str(error))
    outside = torch.empty(MIB, dtype=torch.uint8, device=device)
    with api.use_mem_pool(pool):
        inside = torch.empty(MIB, dtype=torch.uint8, device=device)
        elsewhere = []
        thread = threading.Thread(target=lambda: elsewhere.append(torch.empty(MIB, device=device)))
        thread.start()
        thread.join()
    assert len({x.data_ptr() for x in (inside, outside, elsewhere[0])}) == 3
    if hasattr(pool, "snapshot"):  # with the component history
        segments = pool.snapshot()
        assert segments and all(tuple(s["segment_pool_id"]) == pool.id for s in segments)

        def in_pool(x):
            return any(s["address"] <= x.data_ptr() < s["address"] + s["total_size"] for s in segments)

        assert in_pool(inside)
        assert not in_pool(outside)
        assert not in_pool(elsewhere[0])
    assert pool.use_count() == 1
    with api.use_mem_pool(pool):
        assert pool.use_count() == 2


def test_a_pools_memory_is_not_others(device):
    """Memory that is freed in a pool is reused only there; a pool that is gone releases it."""
    torch.empty(1, device=device)
    api.empty_cache()
    before = api.memory_reserved(device)
    pool = api.MemPool()
    with api.use_mem_pool(pool):
        address = torch.empty(5 * MIB, dtype=torch.uint8, device=device).data_ptr()
    outside = torch.empty(5 * MIB, dtype=torch.uint8, device=device)
    assert outside.data_ptr() != address
    with api.use_mem_pool(pool):
        assert torch.empty(5 * MIB, dtype=torch.uint8, device=device).data_ptr() == address
    del pool, outside
    api.empty_cache()
    assert api.memory_reserved(device) == before


def test_a_pool_is_entered_once(device):
    pool = api.MemPool()
    with api.use_mem_pool(pool), pytest.raises(RuntimeError, match="twice"), api.use_mem_pool(pool):
        pass
