"""Functions of allocators from shared libraries, and their errors, tested from their documentation alone: docs/reference/allocators.md, the Python help and
PyTorch's page about torch.cuda's pluggable allocators."""

import pytest
from pluggable_library import CLASS

pytestmark = pytest.mark.nightly
pytest_plugins = "pluggable_library"

if CLASS is None:
    pytest.skip("the tree has no pluggable allocators", allow_module_level=True)


def test_functions_are_called_with_what_is_documented(run):
    """The library gets each size, device and stream; views and empty tensors need nothing; training works."""
    run("""
    swap()
    assert api.memory.get_allocator_backend() == "pluggable"
    x = torch.zeros(1000, device=D)
    (call,) = library.calls("alloc")
    assert call[1] == x.untyped_storage().data_ptr() == x.data_ptr() and call[2] >= 4000 and call[3] == 0, call
    assert call[4] == 0 or call[4] == getattr(api.current_stream(), f"{NAME}_stream", call[4]), call
    library.forget()
    y = x[10:].view(-1, 10).t()
    torch.empty(0, device=D)
    torch.empty(3, 0, 5, device=D)
    assert library.calls() == [], library.calls()
    pointer = x.data_ptr()
    del x
    assert library.calls("free") == []
    del y
    (free,) = library.calls("free")
    assert free[1] == pointer and free[2:5] == call[2:5], (free, call)
    # the second device, while the first is current: the functions run with their device current
    library.forget()
    z = torch.ones(10, device=f"{NAME}:1")
    (call,) = library.calls("alloc")
    assert call[3] == 1 and call[5] == 1, call
    same(z + 1, torch.full((10,), 2.0))
    assert api.current_device() == 0
    del z
    # a side stream's handle, also where another stream is current when the tensor dies
    library.forget()
    side = api.Stream()
    with api.stream(side):
        z = torch.empty(10, device=D)
    (call,) = library.calls("alloc")
    del z
    (free,) = library.calls("free")
    assert call[4] != 0 and free[4] == call[4], (call, free)
    # training
    library.forget()
    model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1)).to(D)
    step = torch.optim.Adam(model.parameters(), 0.01)
    data = torch.randn(64, 20, device=D)
    first = None
    for _ in range(15):
        step.zero_grad()
        loss = (model(data) - data.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        step.step()
        first = first or loss.item()
    assert loss.item() < first
    del model, step, data, loss
    gc.collect()
    api.synchronize()
    allocated = sorted(c[1:5] for c in library.calls("alloc"))
    assert allocated == sorted(c[1:5] for c in library.calls("free"))
    assert library.get("live", ctypes.c_int64) == 0 and api.memory_allocated() == 0
    """).good()


def test_swapped_too_late(run):
    """After the first tensor or stream a swap is an error, and all goes on with the former allocator; before it, not."""
    run("""
    assert api.device_count() == 2
    api.get_device_name(0)
    api.memory.get_allocator_backend()
    api.manual_seed(1)
    x = torch.ones(5, device=D)
    text = error(swap, RuntimeError)
    print("after a tensor ->", text)
    assert "use" in text or "initialized" in text, text
    assert api.memory.get_allocator_backend() == "native"
    same(x + 1, torch.full((5,), 2.0))
    assert library.calls() == []
    """).good()
    run("""
    stream = api.Stream()
    text = error(swap, RuntimeError)
    print("after a stream ->", text)
    torch.ones(5, device=D)
    assert library.calls() == []
    """).good()
    run("""
    # what only describes the device is no use of it
    assert api.device_count() == 2 and api.is_available()
    torch.device(NAME, 1), torch.accelerator.current_accelerator()
    torch.empty(5, device="meta")
    first = swap()
    # a second swap before the first use
    try:
        second = PluggableAllocator(PATH, "my_alloc", "my_free")
        api.memory.change_current_allocator(second)
    except RuntimeError as caught:
        print("second swap ->", caught)
    del first
    gc.collect()  # nobody has to keep the allocator
    x = torch.ones(5, device=D)
    same(x, torch.ones(5))
    assert len(library.calls("alloc")) == 1
    text = error(swap, RuntimeError)
    print("after use ->", text)
    y = torch.ones(5, device=D)
    assert len(library.calls("alloc")) == 2
    """).good()


def test_null_is_out_of_memory(run):
    """Null raises OutOfMemoryError; observers see it; the next allocation works."""
    run("""
    allocator = swap()
    allocator.set_empty_cache_fn("my_empty_cache")
    seen = []
    api.memory.attach_out_of_memory_observer(lambda *a: seen.append(a))
    x = torch.ones(100, device=D)
    before = api.memory_allocated()
    library.set("fail_next", 100)
    text = error(lambda: torch.ones(3 * 2**20, device=D), torch.OutOfMemoryError)
    print("null ->", text)
    assert "12" in text and "MiB" in text, text
    assert len(seen) == 1 and seen[0][0] == 0 and seen[0][1] >= 12 * 2**20, seen
    assert api.memory_allocated() == before
    library.set("fail_next", 0)
    y = torch.ones(3 * 2**20, device=D)
    assert y.sum().item() == 3 * 2**20
    del y
    # where memory is out the library empties its cache, and is asked again
    library.set("limit", library.get("live", ctypes.c_int64) + 100, ctypes.c_int64)
    y = torch.ones(1000, device=D)
    assert library.calls("empty")
    # too much for the device, and for anything
    text = error(lambda: torch.empty(2**33, dtype=torch.uint8, device=D), torch.OutOfMemoryError)
    error(lambda: torch.empty(2**62, dtype=torch.uint8, device=D), RuntimeError)
    # in the middle of a step of autograd
    w = torch.ones(1000, device=D, requires_grad=True)
    loss = (w * w).sum()
    library.set("fail_next", 10**6)
    error(loss.backward, torch.OutOfMemoryError)
    library.set("fail_next", 0)
    (w * w).sum().backward()
    same(w.grad, torch.full((1000,), 2.0))
    """).good()


def test_second_attempt(run):
    """When memory is out, the library releases its cache and is asked again."""
    run("""
    allocator = swap()
    allocator.set_empty_cache_fn("my_empty_cache")
    x = torch.ones(100, device=D)
    library.set("limit", library.get("live", ctypes.c_int64) + 100, ctypes.c_int64)
    y = torch.ones(1000, device=D)
    assert library.calls("empty")
    """).good()


def test_exceptions_and_wrong_memory(run):
    """Exceptions, host memory, another device's memory and an address in use are errors that name the function."""
    run("""
    swap()
    x = torch.full((100,), 3.0, device=D)
    before = api.memory_allocated()
    library.set("again", x.data_ptr(), ctypes.c_void_p)
    for mode, words in {1: ["no luck today"], 2: [], 3: ["isn't memory of a device"], 4: ["in use"], 5: ["device 1"], 6: ["device 1"]}.items():
        library.set("mode", mode)
        text = error(lambda: torch.ones(50, device=D), RuntimeError)
        print(mode, "->", text[:400])
        assert "my_alloc" in text and not text.startswith("OutOfMemoryError"), (mode, text)
        assert all(word in text.lower() for word in words), (mode, text)
        library.set("mode", 0)
        assert api.current_device() == 0
        same(x, torch.full((100,), 3.0))
        assert api.memory_allocated() == before, (mode, api.memory_allocated(), before)
        same(torch.ones(50, device=D) + 1, torch.full((50,), 2.0))
    assert not any(c[1] == 0 for c in library.calls("free"))
    library.set("throw_in_free", 1)
    y = torch.ones(50, device=D)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del y
    texts = [str(w.message) for w in caught]
    print("free ->", texts)
    library.set("throw_in_free", 0)
    assert api.memory_allocated() == before
    same(x + 1, torch.full((100,), 4.0))
    sys.stderr.flush()
    """).good()
    result = run("""
    swap()
    library.set("throw_in_free", 1)
    torch.ones(50, device=D)
    library.set("throw_in_free", 0)
    """).good()
    assert "my_free" in result.text and "no luck in free" in result.text, result.text


def test_wrong_libraries_and_names(run):
    """A missing library, a missing function and wrong arguments are errors that name them; a right one still works after."""
    run("""
    here = os.environ["FOLDER"]
    open(f"{here}/text.so", "w").write("no library")
    cases = {
        "/no/such/alloc.so": lambda: PluggableAllocator("/no/such/alloc.so", "my_alloc", "my_free"),
        "text.so": lambda: PluggableAllocator(f"{here}/text.so", "my_alloc", "my_free"),
        "no_alloc": lambda: PluggableAllocator(PATH, "no_alloc", "my_free"),
        "no_free": lambda: PluggableAllocator(PATH, "my_alloc", "no_free"),
    }
    for word, call in cases.items():
        text = error(call, RuntimeError)
        print(word, "->", text)
        assert word in text, text
    allocator = PluggableAllocator(PATH, "my_alloc", "my_free")
    names = sorted(n for n in dir(allocator) if n.startswith("set_"))
    print(names)
    for name in names:
        text = error(lambda: getattr(allocator, name)("no_such_function"), RuntimeError)
        assert "no_such_function" in text, (name, text)
        error(lambda: getattr(allocator, name)(3.5), TypeError)
        error(lambda: getattr(allocator, name)(0))
    error(lambda: api.memory.change_current_allocator(object()))
    error(lambda: api.memory.change_current_allocator(None))
    error(lambda: PluggableAllocator(PATH, 3, "my_free"))
    assert api.memory.get_allocator_backend() == "native"
    # by address: here a function of Python, which needs the GIL
    got = []
    init = ctypes.CFUNCTYPE(None, ctypes.c_int)(got.append)
    allocator.set_init_fn(ctypes.cast(init, ctypes.c_void_p).value)
    api.memory.change_current_allocator(allocator)
    assert api.memory.get_allocator_backend() == "pluggable"
    torch.ones(5, device=D)
    assert got == [2], got
    assert len(library.calls("alloc")) >= 1
    """).good()
