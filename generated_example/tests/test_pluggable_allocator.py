# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Allocators from shared libraries. Each test has a process of its own: an allocator stays until the process ends."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import torch_openreg
import pytest

ROOT = Path(torch_openreg.__file__).parent
INCLUDE = Path(__file__).resolve().parents[1] / "third_party" / "openreg" / "include"

SOURCE = r"""
#include <openreg.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <utility>

extern "C" {
int allocations = 0, frees = 0, inits = 0, resets = 0, streams = 0;
double fraction = 1;

void* good_alloc(size_t size, int device, orStream_t) {
  int now = 0;
  orGetDevice(&now);
  if (now != device) return nullptr;
  void* pointer = nullptr;
  if (orMalloc(&pointer, size) != orSuccess) return nullptr;
  ++allocations;
  return pointer;
}
void good_free(void* pointer, size_t size, int, orStream_t) {
  if (size == 0) abort();
  ++frees;
  orFree(pointer);
}
void* null_alloc(size_t, int, orStream_t) { return nullptr; }
void* host_alloc(size_t size, int, orStream_t) { return malloc(size); }
void host_free(void* pointer, size_t, int, orStream_t) { free(pointer); }
void* throwing_alloc(size_t, int, orStream_t) { throw std::runtime_error("no luck today"); }
void* odd_alloc(size_t, int, orStream_t) { throw 7; }
void throwing_free(void* pointer, size_t, int, orStream_t) {
  orFree(pointer);
  throw std::runtime_error("cannot let go");
}
void* same_alloc(size_t, int device, orStream_t stream) {
  static void* one = good_alloc(4096, device, stream);
  return one;
}

void my_init(int) { ++inits; }
void my_reset() { ++resets; }
void my_fraction(double value, int) { fraction = value; }
void my_record_stream(void*, orStream_t) { ++streams; }
void* my_base(void* pointer, size_t* size) {
  orPointerAttributes attributes;
  orPointerGetAttributes(&attributes, pointer);
  *size = attributes.size;
  return attributes.base;
}
void my_cache_info(int, size_t* largest) { *largest = 12345; }

int begun = 0, released = 0;
using Pool = std::pair<unsigned long long, unsigned long long>;
void my_begin(int, Pool, std::function<bool(orStream_t)>) { ++begun; }
void my_end(int, Pool) { --begun; }
void my_release(int, Pool) { ++released; }
}
"""

PREAMBLE = """
import ctypes, gc, os, warnings
import torch, torch_openreg
api = torch.openreg
memory = api.memory
path = os.environ["LIBRARY"]
library = ctypes.CDLL(path)
def count(name):
    return ctypes.c_int.in_dll(library, name).value
def use(alloc, free="good_free"):
    allocator = memory.OpenRegPluggableAllocator(path, alloc, free)
    memory.change_current_allocator(allocator)
    return allocator.allocator()
def message(call, kind=RuntimeError):
    try:
        call()
    except kind as error:
        return str(error)
    raise SystemExit("nothing was raised")
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    if not INCLUDE.exists():
        pytest.skip("the device's header isn't here")
    folder = tmp_path_factory.mktemp("allocator")
    (folder / "allocator.cpp").write_text(SOURCE)
    command = [*shlex.split(compiler), "-shared", "-fPIC", "-I", str(INCLUDE), "allocator.cpp", "-o", "allocator.so"]
    command += ["-L", str(ROOT / "lib"), "-lopenreg", f"-Wl,-rpath,{ROOT / 'lib'}"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "allocator.so"


def run(library, code):
    path = os.pathsep.join(filter(None, [str(ROOT.parent), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "LIBRARY": str(library), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_memory_comes_from_the_library(library):
    run(
        library,
        """
use("good_alloc")
assert memory.get_allocator_backend() == "pluggable"
history = "memory_snapshot" in memory.__all__
x = torch.arange(1000.0).to("openreg")
y = torch.ones(1000, device="openreg:1") if api.device_count() > 1 else torch.ones(1000, device="openreg")
assert torch.equal(x.cpu(), torch.arange(1000.0))
assert count("allocations") >= 2
stats = api.memory_stats(0)
assert stats["allocated_bytes.all.current"] >= x.nbytes
if history:
    assert sum(s["total_size"] for s in memory.memory_snapshot() if s["device"] == 0) == api.memory_reserved(0)
del x, y
gc.collect()
assert count("frees") == count("allocations")
assert api.memory_allocated(0) == 0
pointer = memory.caching_allocator_alloc(100)
memory.caching_allocator_delete(pointer)
assert "is not a live allocation of the pluggable" in message(lambda: memory.caching_allocator_delete(pointer))
assert "doesn't support memory fractions" in message(lambda: memory.set_per_process_memory_fraction(0.5), NotImplementedError)
if history:
    assert "pluggable allocator has no" in message(lambda: memory._record_memory_history(), NotImplementedError)
""",
    )


def test_optional_functions(library):
    run(
        library,
        """
allocator = memory.OpenRegPluggableAllocator(path, "good_alloc", "good_free")
allocator.set_init_fn("my_init")
allocator.set_reset_fn("my_reset")
allocator.set_memory_fraction_fn("my_fraction")
allocator.set_record_stream_fn("my_record_stream")
allocator.set_base_alloc_fn("my_base")
allocator.set_cache_info_fn(ctypes.cast(library.my_cache_info, ctypes.c_void_p).value)
assert "has no function 'nobody'" in message(lambda: allocator.set_init_fn("nobody"))
memory.change_current_allocator(allocator)
assert count("inits") == 0
x = torch.empty(1000, device="openreg")
y = torch.empty(1000, device="openreg")
assert count("inits") == 1
x.record_stream(api.Stream())
assert count("streams") == 1
api.empty_cache()
assert count("resets") == 1
memory.set_per_process_memory_fraction(0.5)
assert ctypes.c_double.in_dll(library, "fraction").value == 0.5
assert memory.get_per_process_memory_fraction() == 0.5
from torch_openreg import _C
assert _C._base_allocation(x.data_ptr() + 8) == (x.data_ptr(), 4000)
assert _C._cache_info(0) == 12345
""",
    )


def test_a_capture(library):
    run(
        library,
        """
allocator = memory.OpenRegPluggableAllocator(path, "good_alloc", "good_free")
allocator.set_begin_allocate_to_pool("my_begin")
allocator.set_end_allocate_to_pool_fn("my_end")
allocator.set_release_pool("my_release")
memory.change_current_allocator(allocator)
x = torch.zeros(4, device="openreg")
graph = api.Graph()
with api.graph(graph):
    x.add_(1)
assert count("begun") == 0
graph.replay()
graph.replay()
assert x.tolist() == [2.0] * 4
graph.reset()
assert count("released") == api.device_count()
""",
    )


def test_changing_after_first_use_is_refused(library):
    run(
        library,
        """
torch.empty(1, device="openreg")
assert "Can't swap an already initialized allocator" in message(lambda: use("good_alloc"))
""",
    )


@pytest.mark.parametrize(
    ("alloc", "free", "kind", "text"),
    [
        ("null_alloc", "good_free", "torch.OutOfMemoryError", "null_alloc and good_free of"),
        ("host_alloc", "host_free", "RuntimeError", "isn't memory of a device"),
        ("throwing_alloc", "good_free", "RuntimeError", "threw: no luck today"),
        ("odd_alloc", "good_free", "RuntimeError", "not a std::exception"),
    ],
)
def test_functions_that_fail(library, alloc, free, kind, text):
    run(
        library,
        f"""
use({alloc!r}, {free!r})
found = message(lambda: torch.empty(100, device="openreg"), {kind})
assert {text!r} in found, found
assert api.memory_allocated() == 0
""",
    )


def test_an_address_twice(library):
    run(
        library,
        """
use("same_alloc")
x = torch.empty(10, device="openreg")
assert "still in use" in message(lambda: torch.empty(10, device="openreg"))
""",
    )


def test_a_free_that_throws_is_a_warning(library):
    said = run(
        library,
        """
use("good_alloc", "throwing_free")
x = torch.empty(10, device="openreg")
del x
assert api.memory_allocated() == 0
""",
    )
    assert "Warning" in said
    assert "cannot let go" in said


def test_what_cannot_be_loaded(library, tmp_path):
    not_a_library = tmp_path / "text.so"
    not_a_library.write_text("hello")
    run(
        library,
        f"""
load = memory.OpenRegPluggableAllocator
assert "nowhere.so" in message(lambda: load("/nowhere.so", "good_alloc", "good_free"))
assert "text.so" in message(lambda: load({str(not_a_library)!r}, "good_alloc", "good_free"))
assert "has no function 'bad_alloc'" in message(lambda: load(path, "bad_alloc", "good_free"))
assert "has no function 'bad_free'" in message(lambda: load(path, "good_alloc", "bad_free"))
torch.empty(1, device="openreg")
""",
    )


def test_python_functions(library):
    run(
        library,
        """
ALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
good_alloc = ALLOC(("good_alloc", library))
good_free = FREE(("good_free", library))
sizes = []
def alloc(size, device, stream):
    sizes.append(size)
    return good_alloc(size, device, stream)
kept = ALLOC(alloc), FREE(lambda *args: good_free(*args))
memory.change_current_allocator(memory._custom_allocator(*kept))
x = torch.zeros(100, device="openreg")
assert 400 in sizes
del x
gc.collect()
assert count("frees") == len(sizes)
""",
    )
