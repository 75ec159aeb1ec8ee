# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""Ranks that are late, killed, aborted or of another opinion: the others get an error that says what of, and no one hangs."""

import contextlib
import datetime
import gc
import os
import signal
import subprocess
import sys
import time

import torch_openreg
import pytest
import torch
import torch.distributed as dist
from distributed_processes import BACKEND, NAME, PATIENCE, Ranks, default_backend

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this PyTorch has no torch.distributed")

SHORT = datetime.timedelta(seconds=1)  # for what can't end otherwise, never for what must come in time


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    started = Ranks(2, tmp_path_factory.mktemp("ranks"))
    yield started
    started.close()


@pytest.fixture
def doomed(tmp_path):
    started = Ranks(2, tmp_path)
    yield started
    started.close()


class Signal:
    """What ranks tell each other beside their group, which is broken."""

    def __init__(self, file):
        self.store = dist.FileStore(str(file), 2)
        self.store.set_timeout(datetime.timedelta(seconds=PATIENCE))

    def give(self, name):
        self.store.set(name, "1")

    def await_(self, name):
        self.store.wait([name])


def _raises(function):
    with pytest.raises(RuntimeError) as error:
        function()
    return str(error.value)


def _late(rank, file):
    signal = Signal(file)
    x = torch.ones(4, device=NAME)
    dist.all_reduce(x)  # the first: both come
    dist.group.WORLD.set_timeout(SHORT)
    if rank == 1:
        signal.await_("seen")
        return None
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    found = _raises(torch.accelerator.synchronize)
    again = _raises(work.wait)
    refused = _raises(lambda: dist.all_reduce(x))
    torch.accelerator.synchronize()  # reported once
    assert work.is_completed()
    assert default_backend()._error() == torch._C._distributed_c10d.ErrorType.TIMEOUT.value
    signal.give("seen")
    return found, again, refused


def test_a_rank_that_does_not_come(ranks, tmp_path):
    (found, again, refused), _ = ranks.run(_late, tmp_path / "signals")
    for text in (found, again, refused):
        assert "all_reduce 2 (Float[4]) of rank 0 of 2" in text
        assert "timed out after 1000 ms" in text
    assert "Destroy it and make another one" in refused
    # The processes go on, in another group.
    ranks.run(_works)


def _works(rank):
    x = torch.ones(4, device=NAME)
    dist.all_reduce(x)
    assert x.tolist() == [2.0] * 4


def _blocking(rank, file):
    signal = Signal(file)
    x = torch.ones(4, device=NAME)
    if rank == 1:
        signal.await_("seen")
        return None
    work = dist.all_reduce(x, async_op=True)
    found = _raises(lambda: work.wait(datetime.timedelta(milliseconds=50)))
    assert not work.is_completed()
    dist.distributed_c10d._abort_process_group()
    _raises(torch.accelerator.synchronize)
    signal.give("seen")
    return found


def test_wait_with_a_time(ranks, tmp_path):
    found, _ = ranks.run(_guarded, _blocking, tmp_path / "signals", group=False)
    assert "wait() timed out after 50 ms" in found


def _guarded(rank, function, file):
    """The group is the function's to end."""
    store = dist.FileStore(str(file) + ".group", 2)
    dist.init_process_group(BACKEND, store=store, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=PATIENCE))
    try:
        return function(rank, file)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _aborted(rank, file):
    signal = Signal(file)
    x = torch.ones(4, device=NAME)
    if rank == 1:
        signal.await_("seen")
        return None
    if rank == 0:
        work, message = dist.all_reduce(x, async_op=True), dist.irecv(torch.empty(1, device=NAME), 1)
        dist.distributed_c10d._abort_process_group()
        found = _raises(torch.accelerator.synchronize), _raises(work.wait), _raises(message.wait)
    signal.give("seen")
    return found


def test_abort(ranks, tmp_path):
    found, _ = ranks.run(_guarded, _aborted, tmp_path / "signals", group=False)
    for text in found:
        assert "rank 0 of group" in text and "aborted it" in text
    assert "all_reduce 1 (Float[4])" in found[1]
    assert "recv 1" in found[2]
    ranks.run(_works)


def test_an_abort_is_no_time_out(device):
    """Whatever the texts say."""
    store, timeout = dist.HashStore(), datetime.timedelta(seconds=PATIENCE)
    gloo = dist.ProcessGroupGloo(store, 0, 1, timeout)
    make = torch_openreg._C._new_process_group
    group = make(store, 0, 1, timeout, gloo, "of jobs that timed out", [0])
    assert group._error() == torch._C._distributed_c10d.ErrorType.SUCCESS.value
    group.abort()
    assert group._error() == torch._C._distributed_c10d.ErrorType.COMM_ERROR.value


def _throws_behind_its_transfers(rank, file):
    """A call that throws after the transfers of it were queued: their memory is in use, whatever becomes of its tensors."""
    signal = Signal(file)
    count = 1 << 16
    if rank == 1:
        signal.await_("freed")
        for value in (3, 4):
            dist.send(torch.full((count,), value, device=NAME, dtype=torch.float32), 0)
        torch.accelerator.synchronize()
        return
    x, twice = torch.zeros(count, device=NAME), torch.zeros(count // 4, device=NAME).expand(4, -1)
    address = x.data_ptr()
    with contextlib.suppress(RuntimeError):  # its elements lie twice in memory, which copy_() refuses
        dist.batch_isend_irecv([dist.P2POp(dist.irecv, x, 1), dist.P2POp(dist.irecv, twice, 1)])
        raise AssertionError("it did not throw")
    del x, twice
    gc.collect()
    other = torch.zeros(count, device=NAME)
    signal.give("freed")
    torch.accelerator.synchronize()
    assert other.data_ptr() != address
    assert not other.any()


def test_memory_of_a_call_that_throws_is_not_reused_too_early(ranks, tmp_path):
    ranks.run(_throws_behind_its_transfers, tmp_path / "signals", backend=BACKEND)
    ranks.run(_works)


def _given_up(rank, file):
    """After an abort Gloo goes on with the memory that it was given, which is nobody else's until then."""
    signal = Signal(file)
    x = torch.ones(1 << 20, device=NAME)
    if rank == 1:
        signal.await_("aborted")
        dist.group.WORLD.set_timeout(SHORT)
        with contextlib.suppress(RuntimeError):  # Gloo of rank 0 may have begun, or not
            dist.all_reduce(x, async_op=True).wait()
            torch.accelerator.synchronize()
        signal.give("tried")
        return
    dist.all_reduce(x, async_op=True)
    while "running" not in str(default_backend()._last_operations()):
        time.sleep(0.01)
    time.sleep(0.2)  # Gloo's turn
    dist.distributed_c10d._abort_process_group()
    _raises(torch.accelerator.synchronize)
    del x
    others = [torch.ones(1 << 20, device=NAME) for _ in range(4)]
    signal.give("aborted")
    signal.await_("tried")
    for other in others:
        assert other.sum().item() == 1 << 20


def test_memory_of_what_was_given_up(tmp_path, device):
    ranks = Ranks(2, tmp_path, env={"OPENREG_ISOLATION": "off"})
    try:
        ranks.run(_guarded, _given_up, tmp_path / "signals", group=False)
        found, _ = ranks.run(_guarded, _aborted, tmp_path / "others", group=False)
        assert "all_reduce 1 (Float[4])" in found[1]
    finally:
        ranks.close()


def _killed(rank, file):
    signals = Signal(file)
    x = torch.ones(1 << 20, device=NAME)
    if rank == 1:
        signals.await_("queued")
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(x, async_op=True)
    signals.give("queued")
    found = _raises(torch.accelerator.synchronize)
    dist.destroy_process_group()
    dist.init_process_group(BACKEND, store=dist.HashStore(), rank=0, world_size=1)
    x = torch.ones(4, device=NAME)
    dist.all_reduce(x)
    assert x.tolist() == [1.0] * 4
    return found


def test_a_rank_that_is_killed(doomed, tmp_path):
    doomed.start(_killed, tmp_path / "signals")
    (ok, found), (_, other) = doomed.outcomes()
    assert ok and other == "the process has died", found
    assert "all_reduce 1" in found and "of rank 0 of 2" in found


def _parts(x):
    return list(x.chunk(2))


# Each needs something of rank 1.
COLLECTIVES = {
    "all_reduce": lambda x, rank: dist.all_reduce(x, async_op=True),
    "broadcast": lambda x, rank: dist.broadcast(x, 1, async_op=True),
    "reduce": lambda x, rank: dist.reduce(x, 0, async_op=True),
    "all_gather": lambda x, rank: dist.all_gather([x.clone(), x.clone()], x, async_op=True),
    "all_gather_into_tensor": lambda x, rank: dist.all_gather_into_tensor(x, x[: len(x) // 2].clone(), async_op=True),
    "reduce_scatter": lambda x, rank: dist.reduce_scatter(x[: len(x) // 2].clone(), _parts(x), async_op=True),
    "reduce_scatter_tensor": lambda x, rank: dist.reduce_scatter_tensor(x[: len(x) // 2].clone(), x, async_op=True),
    "all_to_all": lambda x, rank: dist.all_to_all(_parts(x.clone()), _parts(x), async_op=True),
    "all_to_all_single": lambda x, rank: dist.all_to_all_single(x.clone(), x, async_op=True),
    "gather": lambda x, rank: dist.gather(x, None if rank else [x.clone(), x.clone()], 0, async_op=True),
    "scatter": lambda x, rank: dist.scatter(x, [x.clone(), x.clone()] if rank else None, 1, async_op=True),
    "recv": lambda x, rank: dist.isend(x, 0) if rank else dist.irecv(x, 1),
    "barrier": lambda x, rank: dist.barrier(async_op=True),
}


def _killed_in(rank, name, phase, file):
    signals = Signal(file)
    x = torch.ones(1 << 22, device=NAME)
    dist.all_reduce(x)
    torch.accelerator.synchronize()  # connected
    if rank == 1 and phase == "before":
        signals.await_("queued")
    if rank == 1 and phase != "before":
        work = COLLECTIVES[name](x, rank)
        if phase == "after":
            work.wait()
            torch.accelerator.synchronize()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    signals.give("queued")
    # What rank 1 gave may have arrived before it died. What comes next does not end in any case.
    found = _raises(lambda: (COLLECTIVES[name](x, rank), dist.all_reduce(x), torch.accelerator.synchronize()))
    # Where the group itself refused the second one, the first one's error is still the device's to report.
    with contextlib.suppress(RuntimeError):
        torch.accelerator.synchronize()
    dist.destroy_process_group()
    dist.init_process_group(BACKEND, store=dist.HashStore(), rank=0, world_size=1)
    dist.all_reduce(torch.ones(4, device=NAME))
    torch.accelerator.synchronize()
    return found


@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_rank_that_is_killed_in_each_collective(name, tmp_path, device):
    for phase in ("before", "inside", "after"):
        started = Ranks(2, tmp_path)
        started.start(_killed_in, name, phase, tmp_path / f"signals-{phase}")
        (ok, found), (_, other) = started.outcomes()
        started.close()
        assert ok and other == "the process has died", f"{phase}: {found}"
        assert "of rank 0 of 2" in found, f"{phase}: {found}"


def _unsupported(rank, folder):
    from torch.distributed import _symmetric_memory, rpc

    with pytest.raises(RuntimeError, match=f"does not support device type {NAME}"):
        _symmetric_memory.rendezvous(torch.ones(4, device=NAME), dist.group.WORLD)
    options = rpc.TensorPipeRpcBackendOptions(init_method=f"file://{folder}/rpc", rpc_timeout=PATIENCE)
    rpc.init_rpc(f"rank{rank}", rank=rank, world_size=2, rpc_backend_options=options)
    if rank == 0:
        with pytest.raises(RuntimeError, match="only supports CPU tensors"):
            rpc.rpc_sync("rank1", torch.add, args=(torch.ones(2, device=NAME), 1))
        assert rpc.rpc_sync("rank1", torch.add, args=(torch.ones(2), 1)).tolist() == [2.0, 2.0]
    rpc.shutdown()


def test_rpc_and_symmetric_memory_say_that_they_do_not_support_the_device(ranks, tmp_path):
    ranks.run(_unsupported, tmp_path)
    ranks.run(_works)


def _unlike(rank):
    x = torch.ones(4 + rank, device=NAME)
    with pytest.raises(RuntimeError, match="mismatch"):
        dist.all_reduce(x)
    with pytest.raises(RuntimeError, match="mismatch"):
        dist.broadcast(x, 0) if rank else dist.all_reduce(x)
    x = torch.ones(4, device=NAME)
    dist.all_reduce(x)
    assert x.tolist() == [2.0] * 4


def test_ranks_of_different_opinions(tmp_path):
    detail = Ranks(2, tmp_path, {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"})
    try:
        detail.run(_unlike, backend=BACKEND)
    finally:
        detail.close()


def _dropped(rank):
    group = dist.new_group([0, 1])
    works = [dist.all_reduce(torch.ones(1000, device=NAME), group=each, async_op=True) for each in (group, None) * 5]
    if rank:
        dist.destroy_process_group(group)
    del group, works


def test_groups_that_end_before_their_work(ranks):
    ranks.run(_dropped, backend=BACKEND)
    ranks.run(_works)


SCRIPT = """
import torch, torch.distributed as dist
dist.init_process_group()
x = torch.ones(1, device="openreg") * (dist.get_rank() + 1)
dist.all_reduce(x)
assert x.item() == 3
dist.destroy_process_group()
print("fine")
"""


def test_torchrun(device, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command.append(tmp_path / "script.py")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        try:
            out, _ = run.communicate(timeout=PATIENCE)
        finally:
            run.terminate()  # it ends its processes
    assert run.returncode == 0, out
    assert out.count("fine") == 2
