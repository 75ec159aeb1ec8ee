# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""Messages, batches, works and their futures, of two processes; objects; two devices of a process."""

import datetime

import pytest
import torch
import torch.distributed as dist
from distributed_processes import BACKEND, NAME, Ranks, default_backend, same, values

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this PyTorch has no torch.distributed")


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    started = Ranks(2, tmp_path_factory.mktemp("ranks"))
    yield started
    started.close()


# --- sends and receives, batches


def _messages(rank):
    other = 1 - rank
    big = 1 << 20  # more than a socket holds: the send ends when the other side receives
    outgoing, incoming = torch.full((big,), 1.0 + rank, device=NAME), torch.empty(big, device=NAME)
    works = [dist.isend(outgoing, other), dist.irecv(incoming, other)]
    for work in works:
        work.wait()
    same(incoming, torch.full((big,), 1.0 + other))
    ops = [dist.P2POp(dist.isend, outgoing, other), dist.P2POp(dist.irecv, incoming.zero_(), other)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    same(incoming, torch.full((big,), 1.0 + other))
    x = torch.empty(3, device=NAME)
    if rank:
        dist.send(values(1)[0], 0, tag=7)
        dist.send(values(1)[1], 0, tag=8)
    else:
        dist.recv(x, 1, tag=7)
        same(x, values(1)[0])
        assert dist.recv(x, tag=8) == 1  # from any rank
        same(x, values(1)[1])


def test_messages(ranks):
    ranks.run(_messages, backend=BACKEND)


def _coalesced(rank):
    xs = [values(rank), values(rank, torch.float64, (5,)), values(rank, torch.int16)]
    with dist._coalescing_manager(device=torch.device(NAME, torch.accelerator.current_device_index())):
        dist.all_reduce(xs[0])
        dist.broadcast(xs[1], 1)
    same(xs[0], values(0) + values(1))
    same(xs[1], values(1, torch.float64, (5,)))
    xs = [values(rank), values(rank, shape=(5,))]
    with dist._coalescing_manager(async_ops=True) as manager:
        for x in xs:
            dist.all_reduce(x)
    manager.wait()
    same(xs[1], values(0, shape=(5,)) + values(1, shape=(5,)))
    outs = [torch.empty(4, 3, device=NAME), torch.empty(10, device=NAME)]
    with dist._coalescing_manager():
        for out, x in zip(outs, [values(rank), values(rank, shape=(5,))], strict=True):
            dist.all_gather_into_tensor(out, x)
    same(outs[1], torch.cat([values(0, shape=(5,)), values(1, shape=(5,))]))
    out = torch.empty(3, device=NAME)
    with dist._coalescing_manager():
        dist.reduce_scatter_tensor(out, values(rank))
    same(out, (values(0) + values(1))[rank])


def test_batches(ranks):
    ranks.run(_coalesced, backend=BACKEND)


def _to_itself(rank):
    received = [torch.empty(3, device=NAME) for _ in range(4)]
    sends = [dist.P2POp(dist.isend, values(rank, shape=(3,)) + 10 * peer, peer) for peer in (0, 1, rank)]
    receives = [dist.P2POp(dist.irecv, x, peer) for x, peer in zip(received, (1, 0, rank), strict=False)]
    for work in dist.batch_isend_irecv([*receives, *sends]):
        work.wait()
    same(received[0], values(1, shape=(3,)) + 10 * rank)
    same(received[1], values(0, shape=(3,)) + 10 * rank)
    same(received[2], values(rank, shape=(3,)) + 10 * rank)
    for alone in (dist.P2POp(dist.isend, values(rank), rank), dist.P2POp(dist.irecv, values(rank), rank)):
        with pytest.raises(RuntimeError, match=f"rank {rank} (sends to itself|receives from itself)"):
            dist.batch_isend_irecv([alone])


def test_a_batch_to_itself(ranks):
    ranks.run(_to_itself, backend=BACKEND)


# --- streams, works, futures


def _asynchronous(rank):
    device = torch.accelerator.current_device_index()
    x = values(rank)
    if rank:
        dist.recv(torch.empty(1, device=NAME), 0)
    work = dist.all_reduce(x, async_op=True)
    if rank == 0:
        # Rank 1 has not come, and this rank's host goes on.
        assert not work.is_completed()
        work.wait()
        y = x.clone()  # an operator that falls back to the CPU would wait
        assert not work.is_completed()
        with torch.Stream(device=torch.device(NAME, device)):  # the current one waits for rank 1
            dist.send(torch.ones(1, device=NAME), 1)
    else:
        work.wait()
        y = x.clone()
    same(y, values(0) + values(1))
    torch.accelerator.synchronize(device)
    assert work.is_completed()

    stream = torch.Stream(device=torch.device(NAME, device))
    with stream:
        x = values(rank, shape=(1000, 100))
        for _ in range(20):
            x = x * 1.0
        work = dist.all_reduce(x, async_op=True)
        assert work.wait()
        x = x + 0
    stream.synchronize()
    same(x, values(0, shape=(1000, 100)) + values(1, shape=(1000, 100)))


def test_the_host_goes_on(ranks):
    ranks.run(_asynchronous, backend=BACKEND)


def _futures(rank):
    x = values(rank)
    work = dist.all_reduce(x, async_op=True)
    doubled = work.get_future().then(lambda future: future.value()[0] * 2)
    same(doubled.wait(), (values(0) + values(1)) * 2)
    assert work.wait(datetime.timedelta(seconds=100))
    # Tensors that nobody keeps live until they have been moved.
    expected = sum(values(each, shape=(300, 300)) for each in (0, 1)).cpu()
    for _ in range(10):
        work = dist.all_reduce(values(rank, shape=(300, 300)), async_op=True)
        _ = torch.full((300, 300), -1.0, device=NAME)
        same(work.get_future().wait()[0], expected)
    del work
    dist.barrier()
    group = default_backend()
    last = group._last_operations()[-1]
    assert (last["name"], last["state"]) == ("barrier", "done")
    assert group._get_sequence_number_for_group() == last["sequence"]


def test_works_and_futures(ranks):
    ranks.run(_futures, backend=BACKEND)


def _objects(rank):
    found = [None, None]
    dist.all_gather_object(found, {"rank": rank})
    assert found == [{"rank": 0}, {"rank": 1}]
    given = [rank, "text"]
    dist.broadcast_object_list(given, 1)
    assert given == [1, "text"]
    received = [None]
    dist.scatter_object_list(received, ["a", "b"] if rank == 0 else None, 0)
    assert received == [["a", "b"][rank]]
    if rank == 0:
        dist.send_object_list([{1, 2}], 1)
    else:
        dist.recv_object_list(received, 0)
        assert received == [{1, 2}]


def test_objects(ranks):
    ranks.run(_objects, backend=BACKEND)


def _two_devices(rank):
    # Groups are used with two devices at once, whose streams run side by side: operations stay in order.
    tensors = []
    for i in range(20):
        x = torch.full((2000,), float(i + rank), device=f"{NAME}:{i % 2}")
        dist.all_reduce(x, async_op=True).wait()
        tensors.append(x)
    for i, x in enumerate(tensors):
        same(x, torch.full((2000,), 2.0 * i + 1))


def test_two_devices_of_a_rank(ranks, other):
    ranks.run(_two_devices, backend=BACKEND)


def _peers(rank):
    # A rank's devices copy between them what a collective wrote, and what one is to read, in the order of streams.
    for size in (3, 1 << 20):
        here = torch.full((size,), 1.0 + rank, device=f"{NAME}:{rank}")
        dist.all_reduce(here)
        there = here.to(f"{NAME}:{1 - rank}", non_blocking=True)
        there *= 1.0 + rank
        dist.all_reduce(there)
        here.copy_(there, non_blocking=True)
        same(here, torch.full((size,), 9.0))


def test_copies_between_the_devices_of_a_rank(ranks, other):
    ranks.run(_peers, backend=BACKEND)
