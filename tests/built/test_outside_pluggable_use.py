"""Threads, statistics, pools and streams with allocators from shared libraries, tested from their documentation alone: docs/reference/allocators.md, the Python help and
PyTorch's page about torch.cuda's pluggable allocators."""

import pytest
from built import NAME
from pluggable_library import CLASS

pytestmark = pytest.mark.nightly
pytest_plugins = "pluggable_library"

if CLASS is None:
    pytest.skip("the tree has no pluggable allocators", allow_module_level=True)


def test_two_threads(run):
    """Threads allocate and free at once; a tensor may die on another thread; two threads that swap leave one allocator."""
    run("""
    swap()
    faults = []
    kept = [None] * 4
    def work(index):
        try:
            api.set_device(index % 2)
            stream = api.Stream()
            with api.stream(stream):
                held = []
                for i in range(200):
                    t = torch.full((17 + i,), float(index), device=f"{NAME}:{index % 2}")
                    held.append(t)
                    if i % 3 == 0:
                        held.pop(0)
                for t in held:
                    assert (t == index).all().item()
                kept[index] = held
            stream.synchronize()
        except BaseException as caught:
            faults.append(repr(caught))
    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(40)
        assert not t.is_alive()
    assert not faults, faults
    living = sum(t.untyped_storage().nbytes() for held in kept for t in held)
    assert api.memory_allocated(0) + api.memory_allocated(1) >= living
    for call in library.calls("alloc"):
        assert call[3] == call[5], call
    kept.clear()  # all die on this thread
    gc.collect()
    assert api.memory_allocated(0) == api.memory_allocated(1) == 0
    assert library.get("live", ctypes.c_int64) == 0
    allocs, frees = library.calls("alloc"), library.calls("free")
    assert sorted(c[1:5] for c in allocs) == sorted(c[1:5] for c in frees)
    """).good()
    run("""
    barrier = threading.Barrier(3)
    results = []
    def change():
        allocator = PluggableAllocator(PATH, "my_alloc", "my_free")
        barrier.wait()
        try:
            api.memory.change_current_allocator(allocator)
            results.append("ok")
        except RuntimeError as caught:
            results.append(str(caught))
    def use():
        barrier.wait()
        x = torch.ones(5, device=D)
        same(x, torch.ones(5))
        results.append("used")
    threads = [threading.Thread(target=f, daemon=True) for f in (change, change, use)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(30)
        assert not t.is_alive()
    assert len(results) == 3 and "used" in results, results
    x = torch.ones(5, device=D)
    kind = api.memory.get_allocator_backend()
    assert (kind == "pluggable") == (len(library.calls("alloc")) > 0) == ("ok" in results), (kind, results)
    """).good()


def test_statistics(run):
    """Memory is counted without help of the library; what the kind doesn't have raises an error that names it."""
    run("""
    allocator = swap()
    assert api.memory_allocated() == 0
    x = torch.ones(2**20, device=D)
    y = torch.ones(2**18, device=D)
    five = 5 * 2**20
    assert five <= api.memory_allocated() < five + 4096, api.memory_allocated()
    del y
    assert api.max_memory_allocated() >= five > api.memory_allocated() >= 2**22
    api.reset_peak_memory_stats()
    assert api.max_memory_allocated() == api.memory_allocated() == torch.accelerator.memory_allocated()
    assert api.memory_reserved() >= api.memory_allocated()
    free, total = api.mem_get_info()
    assert total - free >= 2**22
    stats = api.memory_stats()
    assert stats["allocated_bytes.all.current"] == api.memory_allocated() and stats["allocation.all.current"] == 1, stats
    assert stats["allocated_bytes.all.freed"] >= 2**20 and stats["num_ooms"] == 0
    nested = api.memory.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == stats["allocated_bytes.all.current"]
    library.set("fail_next", 100)
    error(lambda: torch.ones(2**20, device=D), torch.OutOfMemoryError)
    library.set("fail_next", 0)
    assert api.memory_stats()["num_ooms"] == 1
    api.memory.reset_accumulated_memory_stats()
    assert api.memory_stats()["num_ooms"] == 0 and api.memory_stats()["allocated_bytes.all.freed"] == 0
    assert "llocated" in api.memory.memory_summary() and "llocated" in api.memory.memory_summary(abbreviated=True)
    z = torch.ones(10, device=f"{NAME}:1")
    segments = api.memory.memory_snapshot()
    assert len(segments) == 2 and {s["address"] for s in segments} == {x.data_ptr(), z.data_ptr()}, segments
    assert {s["device"] for s in segments} == {0, 1}
    text = error(api.memory._record_memory_history, NotImplementedError)
    assert "pluggable" in text, text
    text = error(lambda: api.memory.set_per_process_memory_fraction(0.5), NotImplementedError)
    print("fraction ->", text)
    assert "pluggable" in text or "set_memory_fraction_fn" in text, text
    allocator.set_memory_fraction_fn("my_fraction")
    api.memory.set_per_process_memory_fraction(0.25, 1)
    assert [c[2:4] for c in library.calls("fraction")] == [(250, 1)], library.calls("fraction")
    assert api.memory.get_per_process_memory_fraction(1) == 0.25
    error(lambda: api.memory.set_per_process_memory_fraction(1.5), ValueError)
    # raw allocations, also for a stream
    before = api.memory_allocated()
    side = api.Stream()
    raw = api.memory.caching_allocator_alloc(5000, stream=side)
    assert library.calls("alloc")[-1][1] == raw and library.calls("alloc")[-1][4] != 0
    assert api.memory_allocated() >= before + 5000
    api.memory.caching_allocator_delete(raw)
    assert library.calls("free")[-1][1] == raw and api.memory_allocated() == before
    assert api.memory.caching_allocator_alloc(0) == 0
    api.empty_cache()
    torch.accelerator.empty_cache()
    """).good()


def test_memory_pools(run):
    """The kind has no pools; but a pool of the caching allocator takes its memory from a library."""
    run("""
    swap()
    text = error(api.MemPool if hasattr(api, "MemPool") else api.memory.MemPool, NotImplementedError)
    print("MemPool ->", text)
    assert "pluggable" in text, text
    """).good()
    run("""
    x = torch.ones(1000, device=D)  # the caching allocator is in use
    MemPool, use_mem_pool = (getattr(api, n, None) or getattr(api.memory, n) for n in ("MemPool", "use_mem_pool"))
    allocator = PluggableAllocator(PATH, "my_alloc", "my_free")
    pool = MemPool(allocator.allocator())
    with use_mem_pool(pool):
        a = torch.full((1000,), 2.0, device=D)
        b = torch.full((1000,), 3.0, device=D)
        error(lambda: torch.ones(5, device=D) + torch.ones(6, device=D))
    outside = torch.ones(3 * 2**20, device=D)
    calls = library.calls("alloc")
    assert len(calls) == 1 and calls[0][1] <= a.data_ptr() < calls[0][1] + calls[0][2], calls
    same(a + b, torch.full((1000,), 5.0))
    assert len(pool.snapshot()) == 1
    # memory of the pool is reused, and not by others
    pointer = a.data_ptr()
    del a
    assert torch.ones(1000, device=D).data_ptr() != pointer
    with use_mem_pool(pool):
        a = torch.full((1000,), 4.0, device=D)
        assert a.data_ptr() == pointer and len(library.calls("alloc")) == 1
    # the second device: as in PyTorch, a pool's allocator serves the device that was current when the pool was made
    api.set_device(1)
    second = MemPool(allocator.allocator())
    with use_mem_pool(second, 1):
        c = torch.full((1000,), 4.0, device=f"{NAME}:1")
    api.set_device(0)
    assert library.calls("alloc")[-1][3] == 1 and library.calls("alloc")[-1][5] == 1
    # a library that fails
    library.set("fail_next", 1000)
    with use_mem_pool(pool):
        text = error(lambda: torch.ones(30 * 2**20, device=D), torch.OutOfMemoryError)
    library.set("fail_next", 0)
    library.set("mode", 1)
    with use_mem_pool(pool):
        text = error(lambda: torch.ones(30 * 2**20, device=D), RuntimeError)
    assert "no luck today" in text, text
    library.set("mode", 0)
    same(torch.ones(30, device=D), torch.ones(30))
    # all goes back to the library; tensors outlive the pool
    del pool, second
    gc.collect()
    same(b, torch.full((1000,), 3.0))
    assert len(library.calls("free")) < len(library.calls("alloc"))
    del a, b, c
    gc.collect()
    api.synchronize()
    api.empty_cache()
    assert sorted(c[1:3] for c in library.calls("free")) == sorted(c[1:3] for c in library.calls("alloc")), library.calls()
    """).good()


def test_streams_and_order_of_frees(run):
    """Tensors are freed when they die, in that order; record_stream reaches the library; queued work keeps its operands."""
    run(
        """
    allocator = swap()
    allocator.set_record_stream_fn("my_record_stream")
    xs = [torch.ones(10 + i, device=D) for i in range(6)]
    pointers = [x.data_ptr() for x in xs]
    order = [3, 0, 5, 1, 4, 2]
    library.forget()
    for i in order:
        xs[i] = None
    assert [c[1] for c in library.calls("free")] == [pointers[i] for i in order]
    # record_stream
    side = api.Stream()
    x = torch.ones(1000, device=D)
    side.wait_stream(api.current_stream())
    with api.stream(side):
        y = x * 2
    library.forget()
    x.record_stream(side)
    x[5:].record_stream(side)
    records = library.calls("record")
    assert len(records) == 2 and records[0][1] == x.data_ptr() and records[0][4] != 0, records
    assert all(r[1] == x.data_ptr() for r in records), (records, x.data_ptr())
    pointer = x.data_ptr()
    del x
    assert [c[1] for c in library.calls("free")] == [pointer]
    side.synchronize()
    same(y, torch.full((1000,), 2.0))
    # operands die while work is queued
    for i in range(30):
        a = torch.full((20000,), float(i), device=D)
        with api.stream(side):
            side.wait_stream(api.default_stream())
            b = a + 1
        del a
        torch.full((20000,), -1.0, device=D)
        side.synchronize()
        same(b[:3], torch.full((3,), i + 1.0))
    # events in the library's own calls: a tensor that dies within autograd and in a hook
    w = torch.ones(100, device=D, requires_grad=True)
    w.register_hook(lambda g: g * 2)
    (w * w).sum().backward()
    same(w.grad, torch.full((100,), 4.0))
    """,
        **{f"{NAME.upper()}_STREAM_JITTER": "500"},
    ).good()


def test_exit_and_other_processes(run):
    """Tensors alive at the end of the process do no harm; memory of the device is shared with another process."""
    result = run("""
    import atexit
    class Holder: pass
    swap()
    torch.keep = torch.ones(5, device=D)                # dies with the module, if at all
    holder = Holder(); holder.me = holder; holder.x = torch.ones(5, device=f"{NAME}:1")
    side = api.Stream()
    with api.stream(side):
        late = torch.ones(500, device=D) * 2
    late.record_stream(side)
    atexit.register(lambda: print("at exit:", (torch.keep + 1).sum().item(), flush=True))
    threading.Thread(target=lambda: [torch.ones(5, device=D) for _ in range(50)]).start()
    """).good()
    assert "at exit: 10.0" in result.text, result.text
    run(
        """
    from multiprocessing.reduction import ForkingPickler
    path = os.path.join(os.environ["FOLDER"], "message")
    def until(condition):
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)
    if rank == 0:
        swap()
        x = torch.full((1000,), 7.0, device=D)
        api.synchronize()
        open(path + ".part", "wb").write(bytes(ForkingPickler.dumps(x)))
        os.rename(path + ".part", path)
        until(lambda: os.path.exists(path + ".read"))
        same(x[:2], torch.tensor([8.0, 7.0]))
    else:
        until(lambda: os.path.exists(path))
        y = ForkingPickler.loads(open(path, "rb").read())
        same(y, torch.full((1000,), 7.0))
        y[0] += 1
        api.synchronize()
        open(path + ".read", "w").close()
        del y
    """,
        ranks=2,
    ).good()
