"""Allocators from shared libraries, tested from their documentation alone: docs/reference/allocators.md, the Python help and
PyTorch's page about torch.cuda's pluggable allocators."""

import importlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from built import NAME, PACKAGE
from forks import Forks

pytestmark = pytest.mark.nightly

memory = getattr(torch.get_device_module(NAME), "memory", None)
CLASS = next((name for name in dir(memory) if name.endswith("PluggableAllocator")), None)
if CLASS is None:
    pytest.skip("the tree has no pluggable allocators", allow_module_level=True)

LIBRARY = """
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>
#include <sys/types.h>
#include <DEVICE.h>

namespace {
struct Call { int64_t kind, pointer, size, device, stream, current; };
std::mutex mutex;
std::vector<Call> calls;
int current() { int device = -1; PRE(GetDevice)(&device); return device; }
void note(int64_t kind, void* pointer, int64_t size, int64_t device, void* stream) {
  std::lock_guard<std::mutex> lock(mutex);
  calls.push_back({kind, reinterpret_cast<int64_t>(pointer), size, device, reinterpret_cast<int64_t>(stream), current()});
}
void* from_device(size_t size) { void* pointer = nullptr; return PRE(Malloc)(&pointer, size) == PRE(Success) ? pointer : nullptr; }
char host[1 << 16];
}

extern "C" {
// What the tests read and set.
int mode = 0;        // what my_alloc does: 0 allocates, others fail
int fail_next = 0;   // so many calls return null
int throw_in_free = 0;
void* again = nullptr;  // what mode 4 returns
int64_t limit = INT64_MAX;
int64_t live = 0;
int64_t count() { std::lock_guard<std::mutex> lock(mutex); return calls.size(); }
int64_t call(int64_t index, int64_t field) { std::lock_guard<std::mutex> lock(mutex); return (&calls[index].kind)[field]; }
void forget() { std::lock_guard<std::mutex> lock(mutex); calls.clear(); }

void* my_alloc(size_t size, int device, STREAM stream) {
  void* pointer = nullptr;
  if (mode == 1) throw std::runtime_error("no luck today");
  if (mode == 2) throw 42;
  if (mode == 3) return host;
  if (mode == 4) return again;
  if (mode == 5) { PRE(SetDevice)(1 - device); pointer = from_device(size); PRE(SetDevice)(device); return pointer; }
  if (mode == 6) { PRE(SetDevice)(1 - device); return from_device(size); }
  { std::lock_guard<std::mutex> lock(mutex); if (fail_next > 0) { fail_next--; return nullptr; } if (live + int64_t(size) > limit) return nullptr; live += size; }
  pointer = from_device(size);
  note(1, pointer, size, device, stream);
  return pointer;
}
void my_free(void* pointer, size_t size, int device, STREAM stream) {
  note(2, pointer, size, device, stream);
  { std::lock_guard<std::mutex> lock(mutex); live -= size; }
  PRE(Free)(pointer);
  if (throw_in_free) throw std::runtime_error("no luck in free");
}
void my_init(int devices) { note(3, nullptr, devices, -1, nullptr); }
void my_reset() { note(4, nullptr, 0, -1, nullptr); }
void my_fraction(double fraction, int device) { note(5, nullptr, int64_t(fraction * 1000), device, nullptr); }
void my_record_stream(void* pointer, STREAM stream) { note(6, pointer, 0, -1, stream); }
void* my_base(void* pointer, size_t* size) { note(7, pointer, 0, -1, nullptr); if (size) *size = 1; return pointer; }
void my_empty_cache() { note(8, nullptr, 0, -1, nullptr); limit = INT64_MAX; }
}
"""

PRELUDE = f"""
import ctypes, gc, os, re, warnings
import torch, torch.multiprocessing
NAME = "{NAME}"
D = torch.device(NAME, 0)
api = torch.get_device_module(NAME)
PluggableAllocator = api.memory.{CLASS}
PATH = os.environ["LIBRARY_OF_ALLOCATOR"]

class Library:
    "The library as ctypes sees it; calls() are (kind, pointer, size, device, stream, current device)."
    KINDS = "? alloc free init reset fraction record base empty".split()
    def __init__(self):
        self.c = ctypes.CDLL(PATH)
        self.c.call.restype = self.c.count.restype = ctypes.c_int64
        self.c.call.argtypes = [ctypes.c_int64] * 2
    def calls(self, kind=None):
        rows = [tuple(self.c.call(i, f) for f in range(6)) for i in range(self.c.count())]
        return [(self.KINDS[r[0]], *r[1:]) for r in rows if kind in (None, self.KINDS[r[0]])]
    def forget(self):
        self.c.forget()
    def set(self, name, value, kind=ctypes.c_int):
        kind.in_dll(self.c, name).value = value
    def get(self, name, kind=ctypes.c_int):
        return kind.in_dll(self.c, name).value

library = Library()

def swap():
    allocator = PluggableAllocator(PATH, "my_alloc", "my_free")
    api.memory.change_current_allocator(allocator)
    return allocator

def error(function, *kinds):
    "The text of the error that function() raises."
    try:
        function()
    except kinds or Exception as caught:
        return f"{{type(caught).__name__}}: {{caught}}"
    raise AssertionError("nothing was raised")

def same(got, expected):
    assert torch.equal(got.cpu(), torch.as_tensor(expected)), (got, expected)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler")
    if torch.get_device_module(NAME).device_count() != 2:
        pytest.skip("needs two devices")
    backend = importlib.import_module(f"{PACKAGE}.utils.cpp_extension")
    header = next(Path(path, f"{NAME}.h") for path in backend.include_paths() if Path(path, f"{NAME}.h").exists())
    prefix = re.search(r"(\w+)Malloc\(void\*\*", header.read_text())[1]  # of the device's C API
    folder = tmp_path_factory.mktemp("allocator")
    text = LIBRARY.replace("DEVICE", NAME).replace("STREAM", f"{prefix}Stream_t")
    (folder / "alloc.cpp").write_text(f"#define PRE(x) {prefix}##x\n{text}")
    command = [compiler, "-std=c++17", "-shared", "-fPIC", "-O0", "alloc.cpp", "-o", "alloc.so"]
    command += [f"-I{path}" for path in backend.include_paths()]
    command += [f"-L{path}" for path in backend.library_paths()] + [f"-l{name}" for name in backend.libraries()]
    subprocess.run(command, cwd=folder, check=True, timeout=100)
    server = Forks(PRELUDE)
    path = str(folder / "alloc.so")
    yield lambda script, ranks=1, **options: server.run(
        script, ranks, LIBRARY_OF_ALLOCATOR=path, FOLDER=str(folder), **options
    )
    server.close()


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
    # empty_cache() reaches the library, which then has memory again
    library.set("limit", library.get("live", ctypes.c_int64) + 100, ctypes.c_int64)
    error(lambda: torch.ones(1000, device=D), torch.OutOfMemoryError)
    api.empty_cache()
    assert library.calls("empty")
    y = torch.ones(1000, device=D)
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
