# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""Groups and collectives of two processes, against what each rank is to have afterwards."""

import pytest
import torch
import torch.distributed as dist
from distributed_processes import BACKEND, NAME, Ranks, default_backend, same, values

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this PyTorch has no torch.distributed")

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
OTHERS = [torch.bool, torch.complex64, torch.float8_e4m3fn]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    started = Ranks(2, tmp_path_factory.mktemp("ranks"))
    yield started
    started.close()


# --- groups


def _default_backend(rank):
    assert default_backend().name() == BACKEND
    assert dist.get_default_backend_for_device(NAME) == BACKEND
    x = values(rank)
    dist.all_reduce(x)
    same(x, values(0) + values(1))


def _both(rank):
    for device in ("cpu", NAME):
        x = values(rank, device=device)
        dist.all_reduce(x)
        assert x.device.type == device
        same(x, (values(0) + values(1)).cpu())


@pytest.mark.parametrize("backend", [BACKEND, f"{NAME}:{BACKEND}"])
def test_named(ranks, backend):
    ranks.run(_default_backend, backend=backend)


def test_without_a_name(ranks):
    ranks.run(_default_backend)


def test_beside_gloo(ranks):
    ranks.run(_both, backend=f"cpu:gloo,{NAME}:{BACKEND}")


def test_bound_to_a_device(ranks):
    ranks.run(_default_backend, backend=BACKEND, eager=True)


def _over_tcp(rank, port):
    dist.init_process_group(BACKEND, store=dist.TCPStore("127.0.0.1", port), rank=rank, world_size=2)
    try:
        _default_backend(rank)
    finally:
        dist.destroy_process_group()


def test_over_tcp(ranks):
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    ranks.run(_over_tcp, store.port, group=False)


def _alone():
    store = dist.HashStore()
    dist.init_process_group(BACKEND, store=store, rank=0, world_size=1)
    try:
        x = values(0)
        dist.all_reduce(x, op=dist.ReduceOp.AVG)
        same(x, values(0))
        gathered = torch.empty_like(x)
        dist.all_gather_into_tensor(gathered, x)
        same(gathered, x)
    finally:
        dist.destroy_process_group()


def test_a_group_of_one(device):
    _alone()
    _alone()


def _subgroups(rank):
    both, mine = dist.new_group([0, 1]), [dist.new_group([each]) for each in (0, 1)][rank]
    x, y = values(rank), values(rank)
    dist.all_reduce(x, group=both)
    dist.all_reduce(y, group=mine)
    same(x, values(0) + values(1))
    same(y, values(rank))
    dist.destroy_process_group(mine)
    dist.all_reduce(y)
    same(y, values(0) + values(1))


def test_new_groups(ranks):
    ranks.run(_subgroups, backend=BACKEND)
    ranks.run(_subgroups, backend=BACKEND, eager=True)


def _split(rank):
    name = default_backend().options.group_name
    part = dist.split_group(split_ranks=[[0, 1]])
    assert default_backend().options.group_name == name
    assert dist.get_backend(part) == BACKEND
    x = values(rank)
    dist.all_reduce(x, group=part)
    same(x, values(0) + values(1))
    same(values(rank), values(rank))


def test_split_group(ranks):
    ranks.run(_split, backend=BACKEND, eager=True)


# --- reductions

OPS = {
    "SUM": lambda a, b: a + b,
    "PRODUCT": lambda a, b: a * b,
    "MIN": torch.minimum,
    "MAX": torch.maximum,
    "AVG": lambda a, b: (a + b) / 2 if a.is_floating_point() else (a + b).div(2, rounding_mode="trunc"),
    "BAND": lambda a, b: a & b,
    "BOR": lambda a, b: a | b,
    "BXOR": lambda a, b: a ^ b,
}


def _reduced(name, dtype):
    wide = torch.int64 if dtype in INTEGERS else dtype
    return OPS[name](values(0, dtype, device="cpu").to(wide), values(1, dtype, device="cpu").to(wide)).to(dtype)


def _reductions(rank, dtype, names):
    for name in names:
        op = getattr(dist.ReduceOp, name)
        expected = _reduced(name, dtype)
        x = values(rank, dtype)
        dist.all_reduce(x, op=op)
        same(x, expected)
        for root in (0, 1):
            x = values(rank, dtype)
            dist.reduce(x, root, op=op)
            same(x, expected if rank == root else values(rank, dtype))
        part = torch.empty(3, dtype=dtype, device=NAME)
        dist.reduce_scatter_tensor(part, values(rank, dtype), op=op)
        same(part, expected[rank])
        dist.reduce_scatter(part, list(values(rank, dtype).unbind()), op=op)
        same(part, expected[rank])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_reductions_of_floats(ranks, dtype):
    ranks.run(_reductions, dtype, ["SUM", "PRODUCT", "MIN", "MAX", "AVG"])


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_reductions_of_integers(ranks, dtype):
    ranks.run(_reductions, dtype, list(OPS))


def _corners(rank):
    big = torch.tensor([2**63 + 5, 7, 2**64 - 1], dtype=torch.uint64)
    small = torch.tensor([3, 2**63 + 9, 2**64 - 1], dtype=torch.uint64)
    least, most = [3, 7, 2**64 - 1], [2**63 + 5, 2**63 + 9, 2**64 - 1]
    for op, expected in ((dist.ReduceOp.MIN, least), (dist.ReduceOp.MAX, most)):
        x = (small if rank else big).to(NAME)
        dist.all_reduce(x, op=op)
        same(x, torch.tensor(expected, dtype=torch.uint64))
    for op, expected in ((dist.ReduceOp.SUM, [True, True, False]), (dist.ReduceOp.PRODUCT, [True, False, False])):
        x = torch.tensor([True, rank == 0, False], device=NAME)
        dist.all_reduce(x, op=op)
        same(x, torch.tensor(expected))
    x = torch.tensor([1 + 2j, rank * 1j], device=NAME)
    dist.all_reduce(x)
    same(x, torch.tensor([2 + 4j, 1j]))
    x = torch.tensor([-3, 3], device=NAME)
    dist.all_reduce(x[:1] if rank else x[:1], op=dist.ReduceOp.AVG)
    same(x, torch.tensor([-3, 3]))


def test_corners_of_dtypes(ranks):
    ranks.run(_corners, backend=BACKEND)


def _refused(rank):
    with pytest.raises(TypeError, match="Float8_e4m3fn"):
        dist.all_reduce(values(rank, torch.float8_e4m3fn))
    with pytest.raises(TypeError, match="BAND"):
        dist.all_reduce(values(rank), op=dist.ReduceOp.BAND)
    with pytest.raises(TypeError, match="AVG"):
        dist.all_reduce(values(rank, torch.bool), op=dist.ReduceOp.AVG)
    with pytest.raises(NotImplementedError, match="PREMUL_SUM"):
        dist.all_reduce(values(rank), op=dist._make_nccl_premul_sum(2.0))
    with pytest.raises(RuntimeError, match="cpu"):
        dist.all_reduce(values(rank, device="cpu"))
    with pytest.raises(TypeError, match="one dtype"):
        dist.all_gather_into_tensor(values(0, torch.float64, (4, 3)), values(rank))
    x = values(rank)  # and the group goes on
    dist.all_reduce(x)
    same(x, values(0) + values(1))


def test_what_is_refused(ranks):
    ranks.run(_refused, backend=BACKEND)


# --- what only moves data


def _moves(rank, dtype):
    def mine(offset=0, shape=(2, 3)):
        return values(rank + offset, dtype, shape)

    a, b = values(0, dtype), values(1, dtype)
    for root in (0, 1):
        x = mine()
        dist.broadcast(x, root)
        same(x, (a, b)[root])
        gathered = [torch.empty_like(a), torch.empty_like(a)] if rank == root else None
        dist.gather(mine(), gathered, dst=root)
        if gathered:
            same(gathered[0], a)
            same(gathered[1], b)
        if hasattr(dist, "gather_single"):  # since 2.14
            whole = torch.empty(4, 3, dtype=dtype, device=NAME) if rank == root else None
            dist.gather_single(mine(), whole, dst=root)
            if rank == root:
                same(whole, torch.cat([a.cpu(), b.cpu()]))
        x = torch.empty_like(a)
        dist.scatter(x, [a, b] if rank == root else None, src=root)
        same(x, mine())
    gathered = [torch.empty_like(a), torch.empty_like(a)]
    dist.all_gather(gathered, mine())
    same(gathered[0], a)
    same(gathered[1], b)
    whole = torch.empty(4, 3, dtype=dtype, device=NAME)
    dist.all_gather_into_tensor(whole, mine())
    same(whole[:2], a)
    same(whole[2:], b)
    received = torch.empty_like(a)
    dist.all_to_all_single(received, mine())
    same(received[0], a[rank])
    same(received[1], b[rank])
    received = [torch.empty(3, dtype=dtype, device=NAME) for _ in range(2)]
    dist.all_to_all(received, list(mine().unbind()))
    same(received[0], a[rank])
    same(received[1], b[rank])
    if rank == 0:
        dist.send(a, 1)
        dist.recv(received[0], 1)
        same(received[0], b[0])
    else:
        x = torch.empty_like(a)
        dist.recv(x, 0)
        same(x, a)
        dist.send(b[0], 0)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + OTHERS, ids=str)
def test_moves(ranks, dtype):
    ranks.run(_moves, dtype, backend=BACKEND)


def _uneven(rank):
    parts = [torch.empty(3, device=NAME), torch.empty(5, device=NAME)]
    mine = torch.arange(5.0 if rank else 3.0, device=NAME) + rank
    dist.all_gather(parts, mine)
    same(parts[0], torch.arange(3.0))
    same(parts[1], torch.arange(5.0) + 1)
    part = torch.empty(5 if rank else 3, device=NAME)
    dist.reduce_scatter(part, [torch.ones(3, device=NAME), torch.ones(5, device=NAME) * (rank + 1)])
    same(part, torch.full((5,), 3.0) if rank else torch.full((3,), 2.0))
    # Rank 0 keeps one row and sends three; rank 1 sends two and keeps none.
    sent = torch.arange(4.0 if rank == 0 else 2.0, device=NAME) + 10 * rank
    received = torch.empty(3, device=NAME)
    dist.all_to_all_single(received, sent, [1, 2] if rank == 0 else [3, 0], [1, 3] if rank == 0 else [2, 0])
    same(received, torch.tensor([0.0, 10.0, 11.0]) if rank == 0 else torch.tensor([1.0, 2.0, 3.0]))


def test_parts_of_different_sizes(ranks):
    ranks.run(_uneven, backend=BACKEND)


def _strides(rank):
    expected = values(0) + values(1)
    x = values(rank).t()
    dist.all_reduce(x)
    same(x, expected.t())
    x = values(rank, shape=(4, 6))[::2, ::2]
    dist.broadcast(x, 1)
    same(x, values(1, shape=(4, 6))[::2, ::2])
    parts = torch.zeros(3, 4, device=NAME).t().chunk(2)
    dist.all_gather(list(parts), values(rank))
    same(parts[0], values(0))
    same(parts[1], values(1))
    part = torch.empty(2, 3, device=NAME).t()
    dist.reduce_scatter(part, [values(rank).t(), values(rank).t()])
    same(part, expected.t())
    for shape in ((0,), (0, 3)):
        x = torch.empty(shape, device=NAME)
        dist.all_reduce(x)
        dist.broadcast(x, 0)
        dist.all_gather([torch.empty_like(x), torch.empty_like(x)], x)
        if rank:
            dist.send(x, 0)
        else:
            dist.recv(x, 1)


def test_strides_and_empty_tensors(ranks):
    ranks.run(_strides, backend=BACKEND)


def _on_shared_memory(rank):
    for dtype in (torch.float32, torch.uint64, torch.bool, torch.complex64):
        _moves(rank, dtype)
    for dtype in (torch.float32, torch.bfloat16, torch.int16, torch.uint64):
        _reductions(rank, dtype, ["SUM", "MIN", "AVG"])
    _corners(rank)
    _uneven(rank)
    _strides(rank)


def test_memory_that_the_host_reaches(tmp_path, device):
    """Gloo works on device memory itself."""
    ranks = Ranks(2, tmp_path, env={"OPENREG_ISOLATION": "off"})
    try:
        ranks.run(_on_shared_memory, backend=BACKEND)
    finally:
        ranks.close()
