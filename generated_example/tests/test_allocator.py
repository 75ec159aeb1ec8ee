# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Memory: statistics, limits, alignment, pinned host memory."""

import gc
import itertools

import pytest
import torch

NAME = "openreg"
api = torch.openreg
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _nothing_held():
    gc.collect()
    torch.empty(1, device=NAME)  # the allocator exists from its first allocation on
    api.empty_cache()
    api.reset_peak_memory_stats()


def test_allocated_follows_tensors(device):
    before = api.memory_allocated(device)
    x = torch.empty(4 * MIB, dtype=torch.uint8, device=device)
    assert api.memory_allocated(device) - before >= 4 * MIB
    view = x[10:]
    del x
    assert api.memory_allocated(device) - before >= 4 * MIB
    del view
    assert api.memory_allocated(device) == before


def test_each_device_counts_its_own(device, other):
    before = api.memory_allocated(device)
    x = torch.empty(MIB, dtype=torch.uint8, device=other)
    assert api.memory_allocated(device) == before
    assert api.memory_allocated(other) >= x.nbytes


def test_peak(device):
    start = api.max_memory_allocated(device)
    assert start == api.memory_allocated(device)
    x = torch.empty(8 * MIB, dtype=torch.uint8, device=device)
    del x
    assert api.max_memory_allocated(device) - start >= 8 * MIB
    api.reset_peak_memory_stats(device)
    assert api.max_memory_allocated(device) == api.memory_allocated(device)


def test_reserved_covers_allocated(device):
    x = torch.empty(3 * MIB, dtype=torch.uint8, device=device)
    assert api.memory_reserved(device) >= api.memory_allocated(device) >= x.nbytes
    assert api.max_memory_reserved(device) >= api.memory_reserved(device)


def test_stats_agree_with_torch_accelerator(device):
    before = api.memory_stats(device)
    x = torch.empty(1000, device=device)
    stats = api.memory_stats(device)
    assert stats == torch.accelerator.memory_stats(device)
    assert stats["allocated_bytes.all.current"] == api.memory_allocated(device) >= x.nbytes
    allocated, freed, current = (
        stats[f"allocated_bytes.all.{what}"] - before[f"allocated_bytes.all.{what}"]
        for what in ("allocated", "freed", "current")
    )
    assert allocated - freed == current > 0
    for metric in ("allocation", "allocated_bytes"):
        parts = [stats[f"{metric}.{pool}_pool.current"] for pool in ("small", "large")]
        assert sum(parts) == stats[f"{metric}.all.current"]


def test_accumulated_stats_reset(device):
    del_me = torch.empty(1000, device=device)
    del del_me
    assert api.memory_stats(device)["allocation.all.allocated"] > 0
    api.reset_accumulated_memory_stats(device)
    stats = api.memory_stats(device)
    assert stats["allocation.all.allocated"] == stats["allocation.all.freed"] == 0


def test_mem_get_info(device):
    free, total = api.mem_get_info(device)
    assert 0 < free <= total
    assert (free, total) == torch.accelerator.get_memory_info(device)


@pytest.mark.parametrize("abbreviated", [False, True])
def test_summary(device, abbreviated):
    x = torch.empty(12345, dtype=torch.uint8, device=device)
    text = api.memory_summary(device, abbreviated)
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "memory summary, device 0" in lines[1]
    row = next(line for line in lines if "Allocations" in line and "Oversize" not in line)
    assert int(row.split("|")[2]) == api.memory_stats(device)["allocation.all.current"] >= 1
    assert any("small pool" in line for line in lines) != abbreviated
    assert x.nbytes


def test_out_of_memory(device):
    _, total = api.mem_get_info(device)
    ooms = api.memory_stats(device)["num_ooms"]
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(2 * total, dtype=torch.uint8, device=device)
    assert api.memory_stats(device)["num_ooms"] == ooms + 1
    x = torch.full((1000,), 7.0, device=device)
    assert torch.equal(x.cpu(), torch.full((1000,), 7.0))


def test_no_bytes(device, other):
    for where in (device, other):
        before = api.memory_allocated(where)
        x = torch.empty(0, 3, device=where)
        assert x.device == where
        assert x.numel() == 0
        assert api.memory_allocated(where) == before
        assert x.cpu().shape == (0, 3)


# What is done time and again, and must leave nothing behind.
LEAKS = {
    "new": lambda where, step: torch.empty(1000, device=where),
    "of many sizes": lambda where, step: torch.empty(1000 * (step % 7 + 1), device=where).fill_(step),
    "large": lambda where, step: torch.empty(32 * MIB, dtype=torch.uint8, device=where),
    "copied": lambda where, step: torch.full((1000,), step).to(where).clone().cpu(),
    "views": lambda where, step: torch.zeros(10, 100, device=where)[2:5].t().view(100, 3, 1).unsqueeze(0),
    "written": lambda where, step: torch.ones(9, device=where).fill_(step).resize_(5000).copy_(torch.ones(1)),
    "reduced to a number": lambda where, step: torch.full((3,), step, device=where)[1].item(),
    "raised": lambda where, step: pytest.raises(RuntimeError, torch.ones(6, device=where).view, 4),
    "gradients": lambda where, step: torch.ones(50, 50, device=where, requires_grad=True).square().sum().backward(),
    "graph dropped": lambda where, step: torch.ones(500, device=where, requires_grad=True).exp().cos(),
}


@pytest.mark.parametrize("work", LEAKS.values(), ids=LEAKS)
def test_nothing_is_left(device, other, work):
    for where in (device, other):
        work(where, 0)
        gc.collect()
        held, blocks = api.memory_allocated(where), api.memory_stats(where)["allocation.all.current"]
        for step in range(30):
            work(where, step)
        gc.collect()
        assert api.memory_allocated(where) == held
        assert api.memory_stats(where)["allocation.all.current"] == blocks


def test_what_is_held_is_counted(device):
    gc.collect()
    before, kept = api.memory_stats(device)["allocation.all.current"], []
    for count in range(1, 6):
        kept.append(torch.empty(1000, device=device))
        assert api.memory_stats(device)["allocation.all.current"] == before + count
    assert api.memory_allocated(device) >= sum(x.nbytes for x in kept)


def test_devices_have_memory_of_their_own(device, other):
    ones = [torch.full((1000,), 1, device=device) for _ in range(9)]
    twos = [torch.full((1000,), 2, device=other) for _ in range(9)]
    for step, (x, y) in enumerate(zip(ones, twos, strict=True)):
        x.fill_(step)
        assert torch.equal(y.cpu(), torch.full((1000,), 2))
        assert torch.equal(x.cpu(), torch.full((1000,), step))


@pytest.mark.parametrize("nbytes", [1, 63, 65, 4097, MIB + 1])
def test_alignment(device, nbytes):
    tensors = [torch.empty(nbytes, dtype=torch.uint8, device=device) for _ in range(4)]
    assert all(x.data_ptr() % 64 == 0 for x in tensors)
    starts = sorted(x.data_ptr() for x in tensors)
    assert all(b - a >= nbytes for a, b in itertools.pairwise(starts))


def test_empty_cache_gives_memory_back(device):
    api.synchronize()
    free, _ = api.mem_get_info(device)
    x = torch.empty(32 * MIB, dtype=torch.uint8, device=device)
    x.fill_(1)
    del x
    api.synchronize()
    api.empty_cache()
    assert api.memory_reserved(device) <= 32 * MIB
    assert api.mem_get_info(device)[0] >= free - MIB


@pytest.mark.filterwarnings("ignore:The argument 'device' of Tensor")
def test_pinned_for_a_named_device(device, other):
    x = torch.arange(10.0)
    for where in (NAME, device, other):
        y = x.pin_memory(where)
        assert y.is_pinned(where)
        assert y.to(where, non_blocking=True).tolist() == x.tolist()


def test_pinned_views_share(device):
    x = torch.zeros(4, 5).pin_memory()
    part = x[1:3].t()
    assert part.is_pinned()
    assert part.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    part.copy_(torch.ones(5, 2, device=device))
    assert x.sum() == 10
    assert x.pin_memory() is x


def test_pinned_memory():
    x = torch.arange(1000.0)
    y = x.pin_memory()
    assert y.is_pinned()
    assert not x.is_pinned()
    assert y.device.type == "cpu"
    assert torch.equal(x, y)
    assert torch.empty(10, pin_memory=True).is_pinned()
    assert y[5:].is_pinned()
    assert y.untyped_storage().is_pinned()
    assert not torch.ones(0).is_pinned()


def test_non_blocking_copies(device):
    x = torch.randn(1 << 18).pin_memory()
    y = x.to(device, non_blocking=True)
    back = torch.empty(x.shape, pin_memory=True)
    back.copy_(y, non_blocking=True)
    api.synchronize()
    assert torch.equal(back, x)


def test_freeing_while_the_device_works(device):
    for value in range(50):
        x = torch.empty(1 << 16, device=device)
        x.fill_(value)
        del x
    api.synchronize()
    y = torch.zeros(1 << 16, device=device)
    assert torch.equal(y.cpu(), torch.zeros(1 << 16))
