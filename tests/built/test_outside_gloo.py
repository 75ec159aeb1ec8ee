"""Collectives over Gloo, tested from their documentation alone: docs/distributed.md and PyTorch's own pages."""

import pytest
import torch.distributed as dist
from built import NAME, ROOT

pytestmark = pytest.mark.nightly
pytest_plugins = "gloo_ranks"

if not dist.is_available() or not (ROOT / "tests/distributed_processes.py").exists():
    pytest.skip("the tree has no process group", allow_module_level=True)


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


def test_tags_in_another_order(ranks):
    """Sends and receives of a pair meet in their order; with other tags they wait until the time-out, as docs/distributed.md says."""
    script = """
    init(seconds=5)
    for there in ((1, 2), (2, 1)):
        if rank == 0:
            works = [dist.isend(torch.full((3,), float(tag), device=D), 1, tag=tag) for tag in (1, 2)]
        else:
            received = [torch.zeros(3, device=D), torch.zeros(3, device=D)]
            works = [dist.irecv(x, 0, tag=tag) for x, tag in zip(received, there)]
        if there == (1, 2):
            for work in works:
                work.wait()
            api.synchronize()
            if rank == 1:
                same(received[0], torch.full((3,), 1.0))
                same(received[1], torch.full((3,), 2.0))
        else:
            assert "timed out" in error(api.synchronize)
    """
    ranks(script, 2).good()
