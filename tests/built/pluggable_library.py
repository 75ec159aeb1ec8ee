"""A shared library with allocators: the fixture of test_outside_pluggable*.py, and the functions that their scripts use."""

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

memory = getattr(torch.get_device_module(NAME), "memory", None)
CLASS = next((name for name in dir(memory) if name.endswith("PluggableAllocator")), None)

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
