"""The process group over Gloo, tested from its documentation alone: docs/distributed.md and PyTorch's own pages."""

import tempfile

import pytest
import torch.distributed as dist
from built import NAME, ROOT
from forks import Forks

pytestmark = pytest.mark.nightly

if not dist.is_available() or not (ROOT / "tests/distributed_processes.py").exists():
    pytest.skip("the tree has no process group", allow_module_level=True)

PRELUDE = f"""
import datetime, os
import torch, torch.distributed as dist
NAME = "{NAME}"
api = torch.get_device_module(NAME)
D = torch.device(NAME, rank % api.device_count())
api.set_device(D)

def init(name="first", seconds=60, ranks=None, device_id=None):
    ranks = ranks or list(range(size))
    dist.set_debug_level_from_env()
    dist.init_process_group(
        dist.get_default_backend_for_device(NAME), init_method=f"file://{{os.environ['MEETING']}}/{{name}}",
        rank=ranks.index(rank), world_size=len(ranks), timeout=datetime.timedelta(seconds=seconds), device_id=device_id)

def same(got, expected):
    got, expected = got.cpu(), torch.as_tensor(expected).cpu()
    assert got.shape == expected.shape and got.dtype == expected.dtype, (got, expected)
    assert torch.equal(got, expected), (got, expected)

def error(function, *kinds):
    "The text of the error that function() raises."
    try:
        function()
    except kinds or Exception as caught:
        return f"{{type(caught).__name__}}: {{caught}}"
    raise AssertionError("nothing was raised")

def drain():
    "Takes the error that the device still reports, if there is one."
    try:
        api.synchronize()
    except torch.AcceleratorError as caught:
        print("drained ->", caught)
"""


@pytest.fixture(scope="module")
def forks():
    server = Forks(PRELUDE)
    yield server
    server.close()


@pytest.fixture
def ranks(forks):
    """Runs a script once per rank; the ranks meet in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield lambda script, count, **options: forks.run(script, count, MEETING=folder, **options)


def test_reductions_of_each_dtype(ranks):
    """Reductions of floating, complex, integer and bool tensors agree with the CPU; float8 and PREMUL_SUM are refused."""
    script = """
    init()
    values = torch.tensor([[1, 2, 3, 0], [5, 1, 7, 0], [2, 6, 3, 1]])
    R = dist.ReduceOp
    plain = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64,
             torch.float16, torch.bfloat16, torch.float32, torch.float64]
    expected = {R.SUM: values.sum(0), R.PRODUCT: values.prod(0), R.MIN: values.amin(0), R.MAX: values.amax(0)}
    bits = {R.BAND: values[0] & values[1] & values[2], R.BOR: values[0] | values[1] | values[2],
            R.BXOR: values[0] ^ values[1] ^ values[2]}
    for dtype in plain:
        for op, result in {**expected, **({} if dtype.is_floating_point else bits)}.items():
            x = values[rank].to(dtype).to(D)
            dist.all_reduce(x, op)
            same(x, result.to(dtype))
    # the highest bit of uint64, and the ends of the small types
    big = torch.tensor([3, 2**63 + 5, 2**64 - 1], dtype=torch.uint64)
    for op, result in [(R.MAX, 2**64 - 1), (R.MIN, 3)]:
        x = big[rank : rank + 1].to(D)
        dist.all_reduce(x, op)
        same(x, torch.tensor([result], dtype=torch.uint64))
    x = torch.tensor([200], dtype=torch.uint8, device=D)
    dist.all_reduce(x)
    same(x, torch.tensor([600 % 256], dtype=torch.uint8))
    # bool: as in PyTorch's other groups, a sum is an "or" and a product is an "and"
    for op, result in [(R.SUM, [True, False, True]), (R.MAX, [True, False, True]), (R.PRODUCT, [False, False, True]),
                       (R.MIN, [False, False, True])]:
        x = torch.tensor([rank == 1, False, True], device=D)
        dist.all_reduce(x, op)
        same(x, torch.tensor(result))
    for dtype in (torch.complex64, torch.complex128):
        x = torch.tensor([rank + 2j], dtype=dtype, device=D)
        dist.all_reduce(x)
        same(x, torch.tensor([3 + 6j], dtype=dtype))
    x = torch.tensor([rank - 2.0, 1.5], device=D)  # -2, -1, 0
    dist.all_reduce(x, R.AVG)
    same(x, torch.tensor([-1.0, 1.5]))
    x = torch.tensor([[-5, 5], [0, 0], [0, 0]])[rank].to(D)  # a third is truncated, not rounded down
    dist.all_reduce(x, R.AVG)
    same(x, torch.tensor([-1, 1]))
    # NaN and infinities pass through
    x = torch.tensor([float("nan") if rank == 1 else 1.0, float("inf") if rank == 2 else 1.0], device=D)
    dist.all_reduce(x)
    assert x[0].isnan().item() and x[1].isinf().item(), x
    text = error(lambda: dist.all_reduce(torch.ones(2).to(torch.float8_e4m3fn).to(D)))
    assert "float8" in text.lower(), text
    text = error(lambda: dist.all_reduce(torch.ones(2, device=D), dist._make_nccl_premul_sum(2.0)))
    assert "premul" in text.lower(), text
    x = torch.ones(2, device=D)  # no refusal has harmed the group
    dist.all_reduce(x)
    same(x, torch.full((2,), 3.0))
    dist.destroy_process_group()
    """
    ranks(script, 3).good()


def test_any_strides_and_sizes(ranks):
    """Each collective takes transposed, expanded, sliced, empty and zero-dimensional tensors of every dtype that can be moved."""
    script = """
    init()
    def base(r, dtype=torch.float32):
        return (torch.arange(24) + 100 * r).remainder(120).to(dtype).view(4, 6)
    forms = [lambda t: t.t(), lambda t: t[::2, 1::2], lambda t: t[:, :0], lambda t: t[2, 3], lambda t: t.view(2, 2, 6).permute(2, 0, 1)]
    for form in forms:
        x = form(base(rank).to(D))
        dist.all_reduce(x)
        same(x, form(sum(base(r) for r in range(size))))
        whole = base(rank).to(D)
        x = form(whole)
        dist.broadcast(x, 1)
        same(x, form(base(1)))
        expected = base(rank)  # what lies in the gaps is as it was
        form(expected).copy_(form(base(1)))
        same(whole, expected)
        outs = [form(torch.zeros(4, 6, device=D)) for _ in range(size)]
        dist.all_gather(outs, form(base(rank).to(D)))
        for r in range(size):
            same(outs[r], form(base(r)))
        out = form(torch.zeros(4, 6, device=D))
        dist.scatter(out, [form(base(r).to(D)) for r in range(size)] if rank == 2 else None, src=2)
        same(out, form(base(rank)))
        outs = [form(torch.zeros(4, 6, device=D)) for _ in range(size)]
        dist.all_to_all(outs, [form(base(10 * rank + r).to(D)) for r in range(size)])
        for r in range(size):
            same(outs[r], form(base(10 * r + rank)))
        out = form(torch.zeros(4, 6, device=D))
        dist.reduce_scatter(out, [form(base(r).to(D)) for r in range(size)])
        same(out, form(base(rank)) * size)
        x = form(base(rank).to(D))
        dist.reduce(x, 1, dist.ReduceOp.MAX)
        if rank == 1:
            same(x, form(torch.stack([base(r) for r in range(size)]).amax(0)))
    movable = [torch.bool, torch.uint16, torch.uint64, torch.int8, torch.float16, torch.bfloat16, torch.complex64,
               torch.float8_e4m3fn, torch.float8_e5m2, torch.complex32]
    for dtype in movable:
        bits = lambda t: torch.view_as_real(t) if dtype == torch.complex32 else t.view(torch.uint8)
        outs = [torch.zeros(4, 6).to(dtype).to(D) for _ in range(size)]
        dist.all_gather(outs, base(rank, torch.float32).to(dtype).to(D))
        for r in range(size):
            same(bits(outs[r].cpu()), bits(base(r).to(dtype)))
    # parts of different sizes, one of them empty
    outs = [torch.zeros(r, device=D) for r in range(size)]
    dist.all_gather(outs, torch.full((rank,), float(rank), device=D))
    for r in range(size):
        same(outs[r], torch.full((r,), float(r)))
    counts = [[0, 2, 1], [3, 0, 1], [1, 1, 0]]
    sent, got = counts[rank], [counts[r][rank] for r in range(size)]
    out = torch.zeros(sum(got), 2, device=D)
    dist.all_to_all_single(out, torch.full((sum(sent), 2), float(rank), device=D), got, sent)
    same(out, torch.cat([torch.full((n, 2), float(r)) for r, n in enumerate(got)]))
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * 1000 * rank})
    assert [o["rank"] for o in objects] == list(range(size)), objects
    out = torch.zeros(size, 0, device=D)
    dist.all_gather_into_tensor(out, torch.zeros(1, 0, device=D))
    same(out, torch.zeros(size, 0))
    dist.destroy_process_group()
    """
    ranks(script, 3).good()


def test_works_in_flight_and_streams(ranks):
    """Works may be waited for in any order and on another stream, and tensors may die right after the call."""
    script = """
    init()
    n = 5000
    # waited for in reverse
    xs = [torch.full((n,), float(i + rank), device=D) for i in range(10)]
    works = [dist.all_reduce(x, async_op=True) for x in xs]
    for work in reversed(works):
        work.wait()
    for i, x in enumerate(xs):
        same(x, torch.full((n,), 2.0 * i + 1))
        assert works[i].is_completed() and works[i].is_success()
    # never waited for: reading needs a wait, but the next operations don't suffer
    for i in range(3):
        dist.all_reduce(torch.ones(n, device=D), async_op=True)
    # inputs are freed at once, and new tensors take the memory
    outs = [[torch.zeros(n, device=D) for _ in range(size)] for _ in range(8)]
    works = []
    for i, out in enumerate(outs):
        x = torch.full((n,), float(10 * i + rank), device=D)
        works.append(dist.all_gather(out, x, async_op=True))
        del x
        torch.full((n,), -1.0, device=D)
    torch.full((8 * n,), -2.0, device=D)
    for work in works[::2] + works[1::2]:
        work.wait()
    for i, out in enumerate(outs):
        for r in range(size):
            same(out[r], torch.full((n,), 10.0 * i + r))
    # after a synchronous call the current stream is in order: overwritten inputs are not sent
    x = torch.full((n,), float(rank), device=D)
    out = torch.zeros(size * n, device=D)
    dist.all_gather_into_tensor(out, x)
    x.fill_(-1)
    same(out, torch.arange(2.0).repeat_interleave(n))
    # on a side stream: the group waits for that stream's work, and only that stream for the group
    side = api.Stream()
    with api.stream(side):
        y = torch.zeros(n, device=D)
        for _ in range(20):
            y += 1
        work = dist.all_reduce(y, async_op=True)
        work.wait()
        y += 0.5
        result = y.to("cpu")
    same(result, torch.full((n,), 40.5))
    # called on one stream, waited for on another
    with api.stream(side):
        z = torch.full((n,), 1.0, device=D)
        work = dist.all_reduce(z, async_op=True)
    work.wait()
    same(z, torch.full((n,), 2.0))
    # the future
    x = torch.ones(n, device=D)
    future = dist.all_reduce(x, async_op=True).get_future().then(lambda f: f.value()[0] * 10)
    same(future.wait(), torch.full((n,), 20.0))
    # nothing waits on the host: rank 1 comes a second late, and rank 0's call returns long before
    x = torch.ones(n, device=D)
    dist.barrier()
    if rank == 1:
        time.sleep(1.0)
    begin = time.monotonic()
    dist.all_reduce(x)
    took = time.monotonic() - begin
    assert rank == 1 or took < 0.8, took
    same(x, torch.full((n,), 2.0))
    dist.destroy_process_group()
    """
    variable = f"{NAME.upper()}_STREAM_JITTER"
    ranks(script, 2, **{variable: "2000"}).good()


def test_wrong_calls(ranks):
    """A wrong call is an error that says what is wrong, and the group works after it; DETAIL finds ranks that disagree."""
    script = """
    init()
    good = torch.ones(4, device=D)
    wrong = {
        "output too small": lambda: dist.all_gather_into_tensor(torch.ones(7, device=D), good),
        "dtypes differ": lambda: dist.all_gather_into_tensor(torch.ones(8, device=D, dtype=torch.int32), good),
        "list too short": lambda: dist.all_gather([torch.ones(4, device=D)], good),
        "not divisible": lambda: dist.reduce_scatter_tensor(torch.ones(3, device=D), torch.ones(7, device=D)),
        "tensor of the CPU": lambda: dist.all_reduce(torch.ones(4)),
        "sparse": lambda: dist.all_reduce(torch.ones(4, 4).to_sparse().to(D)),
        "no such rank": lambda: dist.broadcast(good, 7),
        "send to itself": lambda: dist.send(good, rank),
        "splits": lambda: dist.all_to_all_single(torch.ones(4, device=D), good, [1, 2], [2, 2]),
        "bitwise of floats": lambda: dist.all_reduce(good, dist.ReduceOp.BAND),
        "complex max": lambda: dist.all_reduce(torch.ones(2, dtype=torch.complex64, device=D), dist.ReduceOp.MAX),
        "scatter sizes": lambda: dist.scatter(good, [torch.ones(3, device=D)] * 2 if rank == 0 else None, src=0) if rank == 0 else 1 / 0,
    }
    for name, call in wrong.items():
        text = error(call)
        print(name, "->", text[:300])
        assert len(text) > 25 or rank == 1, (name, text)
    x = torch.ones(4, device=D)
    dist.all_reduce(x)
    same(x, torch.full((4,), 2.0))
    dist.destroy_process_group()

    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    init("detail", seconds=20)
    x = torch.ones(4, device=D)
    dist.all_reduce(x)
    same(x, torch.full((4,), 2.0))
    text = error(lambda: dist.all_reduce(torch.ones(4 + rank, device=D)))
    print("shapes ->", text)
    assert "mismatch" in text.lower() and "[4]" in text and "[5]" in text, text
    text = error(lambda: dist.all_reduce(x) if rank else dist.broadcast(x, 0))
    print("kinds ->", text)
    assert "ALLREDUCE" in text and "BROADCAST" in text, text
    x = torch.ones(4, device=D)
    dist.all_reduce(x)  # nothing of the refused operations was sent
    same(x, torch.full((4,), 2.0))
    dist.destroy_process_group()
    """
    ranks(script, 2).good()


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


def test_coalesced_operations(ranks):
    """Many operations become one: by the coalescing manager, by batches of sends and receives, and by functional collectives."""
    script = """
    import torch.distributed._functional_collectives as functional
    init()
    n = size
    xs = [torch.full((i + 1,), float(rank + i), device=D) for i in range(5)]
    with dist._coalescing_manager(device=D):
        for x in xs:
            dist.all_reduce(x)
    for i, x in enumerate(xs):
        same(x, torch.full((i + 1,), float(sum(r + i for r in range(n)))))
    outs = [torch.zeros(n * (i + 1), device=D) for i in range(3)]
    with dist._coalescing_manager(device=D, async_ops=True) as manager:
        for i, out in enumerate(outs):
            dist.all_gather_into_tensor(out, torch.full((i + 1,), float(rank), device=D))
    manager.wait()
    for i, out in enumerate(outs):
        same(out, torch.arange(float(n)).repeat_interleave(i + 1))
    outs = [torch.zeros(2, device=D) for i in range(3)]
    with dist._coalescing_manager(device=D):
        for i, out in enumerate(outs):
            dist.reduce_scatter_tensor(out, torch.arange(2.0 * n, device=D) + i)
    for i, out in enumerate(outs):
        same(out, n * (torch.arange(2.0) + 2 * rank + i))
    # each rank sends to each, itself among them, with strides and an empty tensor
    out = [torch.zeros(3, 2, device=D).t() for _ in range(n)]
    inputs = [(torch.arange(6.0, device=D).view(2, 3) + 10 * rank + r) for r in range(n)]
    empty = torch.zeros(0, device=D)
    ops = [dist.P2POp(dist.isend, inputs[r], r) for r in range(n)]
    ops += [dist.P2POp(dist.irecv, out[r], r) for r in reversed(range(n))]
    right, left = (rank + 1) % n, (rank - 1) % n
    ops += [dist.P2POp(dist.isend, empty, right), dist.P2POp(dist.irecv, torch.zeros(0, device=D), left)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    for r in range(n):
        same(out[r], torch.arange(6.0).view(2, 3) + 10 * r + rank)
    xs = [torch.full((2,), float(rank), device=D), torch.full((3,), 1.0, device=D)]
    summed = functional.all_reduce_coalesced(xs, "sum", dist.group.WORLD)
    same(summed[0] + 0, torch.full((2,), float(sum(range(n)))))
    same(summed[1] + 0, torch.full((3,), float(n)))
    same(xs[0], torch.full((2,), float(rank)))
    dist.destroy_process_group()
    """
    ranks(script, 3).good()


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


def test_sends_and_receives(ranks):
    """Sends meet receives of the same tag, from any source, in both directions at once, and keep their order."""
    script = """
    init(seconds=15)
    n = 3
    if rank == 0:
        # both directions at once, and a large tensor
        big = torch.arange(300000.0, device=D)
        works = [dist.isend(big, 1), dist.irecv(back := torch.zeros(300000, device=D), 1)]
    elif rank == 1:
        works = [dist.isend(torch.full((300000,), 4.0, device=D), 0), dist.irecv(back := torch.zeros(300000, device=D), 0)]
    if rank < 2:
        for work in works:
            work.wait()
        same(back, torch.full((300000,), 4.0) if rank == 0 else torch.arange(300000.0))
    dist.barrier()
    # the order of equal tags
    if rank == 0:
        for i in range(5):
            dist.send(torch.full((n,), float(i), device=D), 2, tag=9)
    elif rank == 2:
        for i in range(5):
            got = torch.zeros(n, device=D)
            dist.recv(got, 0, tag=9)
            same(got, torch.full((n,), float(i)))
    dist.barrier()
    # from anyone
    if rank == 0:
        seen = set()
        for _ in range(2):
            got = torch.zeros(n, device=D)
            source = dist.recv(got, tag=3)
            same(got, torch.full((n,), float(source)))
            seen.add(source)
        assert seen == {1, 2}, seen
    else:
        dist.send(torch.full((n,), float(rank), device=D), 0, tag=3)
    dist.barrier()
    # into strides, and an empty tensor
    if rank == 0:
        dist.send(torch.arange(6.0, device=D).view(2, 3).t(), 1)
        dist.send(torch.zeros(0, device=D), 1)
    elif rank == 1:
        got = torch.zeros(3, 4, device=D)
        dist.recv(got[:, ::2], 0)
        dist.recv(torch.zeros(0, device=D), 0)
        same(got[:, ::2], torch.arange(6.0).view(2, 3).t())
        same(got[:, 1::2], torch.zeros(3, 2))
    dist.barrier()
    # objects
    objects = [{"a": 1}, "b"] if rank == 0 else [None, None]
    dist.send_object_list(objects, 1) if rank == 0 else rank == 1 and dist.recv_object_list(objects, 0)
    assert rank == 2 or objects == [{"a": 1}, "b"], objects
    dist.barrier()
    dist.destroy_process_group()
    """
    ranks(script, 3).good()


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


def test_tags_in_another_order(ranks):
    """Sends and receives of a pair meet in their order, whatever their tags are, as docs/distributed.md says."""
    script = """
    init(seconds=20)
    if rank == 0:
        works = [dist.isend(torch.full((3,), float(tag), device=D), 1, tag=tag) for tag in (1, 2)]
    else:
        first, second = torch.zeros(3, device=D), torch.zeros(3, device=D)
        works = [dist.irecv(first, 0, tag=2), dist.irecv(second, 0, tag=1)]
    for work in works:
        work.wait()
    api.synchronize()
    if rank == 1:
        same(first, torch.full((3,), 1.0))
        same(second, torch.full((3,), 2.0))
    """
    ranks(script, 2).good()
