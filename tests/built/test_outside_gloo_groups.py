"""Groups over Gloo and their faults, tested from their documentation alone: docs/distributed.md and PyTorch's own pages."""

import pytest
import torch.distributed as dist
from built import ROOT

pytestmark = pytest.mark.nightly
pytest_plugins = "gloo_ranks"

if not dist.is_available() or not (ROOT / "tests/distributed_processes.py").exists():
    pytest.skip("the tree has no process group", allow_module_level=True)


def test_a_rank_that_raises_or_ends(ranks):
    """The others get an error that names operation, rank and group; they make a group without that rank."""
    script = """
    init(seconds=20)
    x = torch.ones(3, device=D)
    dist.all_reduce(x)
    same(x, torch.full((3,), 3.0))
    if rank == 2:
        os.write(1, b"done")
        os._exit(7)
    time.sleep(0.3)
    begin = time.monotonic()
    work = dist.all_reduce(x, async_op=True)
    def read():
        work.wait()
        x.cpu()
        api.synchronize()
    text = error(read)
    print("read ->", text)
    assert time.monotonic() - begin < 15, "the end of a process isn't noticed before the time-out"
    lower = text.lower()
    assert "allreduce" in lower.replace("_", "") and f"rank {rank}" in lower, text
    text = error(lambda: (dist.all_reduce(torch.ones(3, device=D)), api.synchronize()))
    print("next call ->", text)
    assert work.exception() is not None and not work.is_success()
    backend = dist.group.WORLD._get_backend(D)
    assert "allreduce" in str(backend._last_operations()).lower().replace("_", ""), backend._last_operations()
    dist.destroy_process_group()
    api.synchronize()
    y = torch.ones(3, device=D) + rank  # the device is as good as new
    same(y, torch.ones(3) + rank)
    init("second", ranks=[0, 1])
    dist.all_reduce(y)
    same(y, torch.full((3,), 3.0))
    # a rank that raises and catches in the middle of a step leaves the group as it was
    if rank == 1:
        error(lambda: torch.ones(3, device=D) @ torch.ones(4, device=D))
    dist.all_reduce(y)
    same(y, torch.full((3,), 6.0))
    dist.destroy_process_group()
    """
    result = ranks(script, 3)
    assert result.codes[2] == 7, result.text
    result.good(0, 1)


def test_time_outs(ranks):
    """A rank that doesn't come is an error after the time-out, in each form that the page names; a new group works then."""
    script = """
    init(seconds=2)
    dist.barrier()
    if rank == 0:
        x = torch.ones(3, device=D)
        begin = time.monotonic()
        dist.all_reduce(x)
        text = error(x.cpu, RuntimeError)  # reading raises
        took = time.monotonic() - begin
        print("reading ->", took, text)
        assert 1 < took < 12, took
        lower = text.lower().replace("_", "")
        assert "timed out" in lower or "time-out" in lower or "timeout" in lower, text
        assert "allreduce" in lower and "rank 0" in lower, text
        text = error(lambda: dist.broadcast(torch.ones(3, device=D), 0))  # so does the next call of the group
        print("next call ->", text)
        assert "allreduce" in text.lower().replace("_", ""), text
    else:
        time.sleep(5)
    dist.destroy_process_group()
    drain()

    # wait(timeout) waits on the host, and so does each wait() with BLOCKING_WAIT
    os.environ[f"{NAME.upper()}CCL_BLOCKING_WAIT"] = "1"
    init("second", seconds=2)
    dist.barrier()
    if rank == 0:
        work = dist.all_reduce(torch.ones(3, device=D), async_op=True)
        begin = time.monotonic()
        text = error(work.wait, RuntimeError)
        print("blocking wait ->", text)
        assert time.monotonic() - begin > 1
        assert not work.is_success() and work.exception() is not None
    else:
        time.sleep(3.5)
    dist.destroy_process_group()
    drain()
    del os.environ[f"{NAME.upper()}CCL_BLOCKING_WAIT"]

    init("third", seconds=30)
    dist.barrier()
    if rank == 0:
        work = dist.all_reduce(torch.ones(3, device=D), async_op=True)
        begin = time.monotonic()
        text = error(lambda: work.wait(datetime.timedelta(seconds=1)), RuntimeError)
        print("wait(timeout) ->", text)
        assert 0.5 < time.monotonic() - begin < 10
    else:
        time.sleep(2.5)
    dist.destroy_process_group()
    drain()

    init("last", seconds=30)
    x = torch.ones(3, device=D)
    dist.all_reduce(x)
    same(x, torch.full((3,), 2.0))
    dist.destroy_process_group()
    """
    ranks(script, 2).good()


def test_subgroups_and_barriers(ranks):
    """Subgroups don't disturb each other; barriers wait on the host."""
    script = """
    init(device_id=D)
    even, odd = dist.new_group([0, 2]), dist.new_group([1, 3])
    mine = odd if rank % 2 else even
    other = even if rank % 2 else odd
    x = torch.full((3,), float(rank), device=D)
    y = torch.full((3,), float(rank), device=D)
    works = [dist.all_reduce(x, group=mine, async_op=True), dist.all_reduce(y, async_op=True)]
    for _ in range(3 * (rank % 2)):  # the odd ranks do more between
        dist.all_reduce(torch.ones(1, device=D), group=mine)
    for work in reversed(works):
        work.wait()
    same(x, torch.full((3,), 4.0 if rank % 2 else 2.0))
    same(y, torch.full((3,), 6.0))
    assert dist.get_rank(other) == -1 and dist.get_world_size(mine) == 2
    # ranks of the group, and those of the world
    z = torch.full((2,), float(rank), device=D)
    dist.broadcast(z, group_src=1, group=mine)
    same(z, torch.full((2,), 3.0 if rank % 2 else 2.0))
    if dist.get_rank(mine) == 0:
        dist.send(torch.full((2,), 50.0 + rank, device=D), rank + 2, group=mine)
    else:
        got = torch.zeros(2, device=D)
        assert dist.recv(got, rank - 2, group=mine) == rank - 2
        same(got, torch.full((2,), 48.0 + rank))
    # split: neighbours
    pair = dist.split_group(split_ranks=[[0, 1], [2, 3]])
    z = torch.full((2,), float(rank), device=D)
    dist.all_reduce(z, group=pair)
    same(z, torch.full((2,), 1.0 if rank < 2 else 5.0))
    mesh = torch.distributed.device_mesh.init_device_mesh(NAME, (2, 2), mesh_dim_names=("a", "b"))
    z = torch.full((2,), float(rank), device=D)
    dist.all_reduce(z, group=mesh.get_group("a"))
    same(z, torch.full((2,), 2.0 * (rank % 2) + 2))
    # a group of one, while others do other things
    alone = [dist.new_group([r]) for r in range(size)][rank]
    for _ in range(rank + 1):
        one = torch.full((2,), 7.0, device=D)
        dist.all_reduce(one, group=alone)
        dist.barrier(group=alone)
        same(one, torch.full((2,), 7.0))
    # a barrier holds the host until the last one comes
    dist.barrier()
    begin = time.monotonic()
    if rank == 3:
        time.sleep(0.6)
    dist.barrier()
    assert time.monotonic() - begin > 0.5
    # the destroyed subgroup leaves the world alone
    dist.destroy_process_group(mine)
    dist.all_reduce(y)
    same(y, torch.full((3,), 24.0))
    dist.barrier()
    dist.destroy_process_group()
    """
    ranks(script, 4).good()


def test_out_of_memory_and_new_groups(ranks):
    """A rank that runs out of memory catches that and tries again; groups are made and destroyed many times."""
    script = """
    init(seconds=30)
    MiB = 2**20
    total = api.mem_get_info()[1]
    big = torch.ones(2, 8 * MiB, device=D)  # 64 MiB
    held = big.t()[::2]  # has gaps, so a reduction needs a copy of 32 MiB
    if rank == 1:
        api.memory.set_per_process_memory_fraction((api.memory_reserved() + 4 * MiB) / total)
        text = error(lambda: (dist.all_reduce(held), api.synchronize()), torch.OutOfMemoryError)
        print("out of memory ->", text[:300])
        api.memory.set_per_process_memory_fraction(1.0)
        same(big[0, :10], torch.ones(10))
    dist.all_reduce(held)
    assert held.sum().item() == 2 * held.numel(), held.sum()
    assert big.sum().item() == 1.5 * big.numel(), big.sum()
    # the same for an output that the caller allocates, in a synchronous and in an asynchronous step
    if rank == 0:
        api.empty_cache()
        api.memory.set_per_process_memory_fraction((api.memory_reserved() + 4 * MiB) / total)
        error(lambda: torch.zeros(64 * MiB, device=D), torch.OutOfMemoryError)
        api.memory.set_per_process_memory_fraction(1.0)
    dist.all_reduce(held)
    assert held.sum().item() == 4 * held.numel(), held.sum()
    del big, held
    dist.destroy_process_group()
    api.synchronize()
    api.empty_cache()
    left = api.memory_allocated()
    threads = threading.active_count(), len(os.listdir("/proc/self/task"))
    files = len(os.listdir("/proc/self/fd"))
    for i in range(4):
        init(f"again{i}")
        x = torch.full((1000,), float(i), device=D)
        works = [dist.all_reduce(x, async_op=True) for _ in range(3)]
        works[-1].wait()
        same(x, torch.full((1000,), float(i) * 8))
        del works, x
        dist.destroy_process_group()
        if i == 0:
            gc.collect()
            threads, files = len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
    gc.collect()
    time.sleep(0.2)
    assert api.memory_allocated() == left, (api.memory_allocated(), left)
    assert len(os.listdir("/proc/self/task")) <= threads + 2, (len(os.listdir("/proc/self/task")), threads)
    assert len(os.listdir("/proc/self/fd")) <= files + 2, (len(os.listdir("/proc/self/fd")), files)
    # calls without a group, and a work that outlives its group
    text = error(lambda: dist.all_reduce(torch.ones(2, device=D)))
    assert "init" in text.lower(), text
    init("outlives")
    x = torch.ones(1000, device=D)
    work = dist.all_reduce(x, async_op=True)
    dist.destroy_process_group()
    work.wait()
    same(x, torch.full((1000,), 2.0))
    """
    ranks(script, 2).good()


def test_monitored_barrier(ranks):
    """monitored_barrier() is that of a Gloo group beside this one, and names the rank that doesn't come."""
    script = """
    init()
    text = error(dist.monitored_barrier)
    assert "gloo" in text.lower(), text
    monitor = dist.new_group(backend="gloo")
    dist.monitored_barrier(monitor, timeout=datetime.timedelta(seconds=20))
    if rank == 0:
        text = error(lambda: dist.monitored_barrier(monitor, timeout=datetime.timedelta(seconds=1)))
        assert "rank 1" in text.lower(), text
    dist.destroy_process_group()
    """
    ranks(script, 2).good()


def test_no_gloo_group_beside_a_bound_group(ranks):
    """As docs/distributed.md says, PyTorch makes none beside a group with device_id."""
    script = """
    init(device_id=D)
    assert "No backend type associated with device type" in error(lambda: dist.new_group(backend="gloo"))
    dist.destroy_process_group()
    """
    ranks(script, 2).good()


def test_new_group_after_a_caught_time_out(ranks):
    """After wait() has raised the time-out, the steps of docs/distributed.md lead to a group that works."""
    script = """
    os.environ[f"{NAME.upper()}CCL_BLOCKING_WAIT"] = "1"
    init(seconds=1)
    dist.barrier()
    if rank == 0:
        error(dist.all_reduce(torch.ones(3, device=D), async_op=True).wait, RuntimeError)
    else:
        time.sleep(1.5)
    dist.destroy_process_group()
    try:
        api.synchronize()
    except RuntimeError as late:
        assert "timed out" in str(late), late
    init("next", seconds=30)
    x = torch.ones(3, device=D)
    dist.all_reduce(x)
    same(x, torch.full((3,), 2.0))
    """
    ranks(script, 2).good()
