"""The library that lets calls of a device fail (tests/failing/shim.py), on a device of one file; allocations of the simulated device."""

import json
import shutil
import subprocess
import sys

import pytest
from trees import ROOT

HEADER = """\
#pragma once
#define TOY_API
typedef enum toyError { toySuccess = 0, toyErrorInvalidValue = 1, toyErrorUnknown = 9 } toyError_t;
typedef struct toyGraph* toyGraph_t;
// Comments may name toyFree(void* pointer); too.
TOY_API toyError_t toyMalloc(void** pointer, unsigned long size);
TOY_API toyError_t toyLaunch(void (*function)(void* argument), void* argument);
TOY_API toyError_t toyStreamEndCapture(
    int stream, toyGraph_t* graph);
TOY_API toyError_t toyRun(const unsigned long grid[3], const char* const names[]);
TOY_API toyError_t toySynchronize(void);
TOY_API toyError_t toyGetLastError(void);
TOY_API const char* toyGetErrorName(toyError_t error);
"""
DEVICE = """
#include "toy.h"
int captures = 1;
toyError_t toyMalloc(void** pointer, unsigned long size) { *pointer = &captures; return size ? toySuccess : toyErrorInvalidValue; }
toyError_t toyLaunch(void (*function)(void*), void* argument) { function(argument); return toySynchronize(); }
toyError_t toyStreamEndCapture(int stream, toyGraph_t* graph) { *graph = (toyGraph_t)&captures; captures -= stream; return toySuccess; }
toyError_t toyRun(const unsigned long grid[3], const char* const names[]) { return grid[0] * grid[1] * grid[2] + names[0][0] - 'a'; }
toyError_t toySynchronize(void) { return toySuccess; }
"""
BACKEND = """
#include "toy.h"
static void nothing(void* argument) {}
int allocate(int size) { static void* data; toyError_t error = toyMalloc(&data, size); return data ? error : -error; }
int launch(void) { return toyLaunch(nothing, 0); }
int run(void) { const unsigned long grid[3] = {1, 1, 5}; const char* names[] = {"c"}; return toyRun(grid, names); }
int synchronize(void) { return toySynchronize(); }
int end(void) { toyGraph_t graph; toyError_t error = toyStreamEndCapture(1, &graph); return graph ? error : -error; }
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Runs Python that has the backend `b` and the shim `s`; returns what it prints."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "toy.h").write_text(HEADER)
    libraries = {}
    for name, source, *more in (("device", DEVICE), ("backend", BACKEND, "-L.", "-ldevice", "-Wl,-rpath,$ORIGIN")):
        (folder / f"{name}.c").write_text(source)
        libraries[name] = folder / f"lib{name}.so"
        command = ["cc", "-shared", "-fPIC", "-I.", "-o", libraries[name], f"{name}.c", *more]
        subprocess.run(command, check=True, cwd=folder, timeout=60)
    head = f"import ctypes, json, pathlib, sys; sys.path.insert(0, {str(ROOT / 'tests/failing')!r}); import shim\n"
    build = f"shim.build(pathlib.Path({str(folder)!r}), pathlib.Path({str(libraries['device'])!r}), pathlib.Path({str(folder / 'shim.so')!r}))"
    subprocess.run([sys.executable, "-c", head + build], check=True, timeout=60)
    start = f"s = shim.Shim({str(folder / 'shim.so')!r}); b = ctypes.CDLL({str(libraries['backend'])!r})\n"

    def run(script):
        environment = {"LD_PRELOAD": str(folder / "shim.so"), "PATH": "/usr/bin:/bin"}
        words = [sys.executable, "-c", head + start + script]
        done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_calls_are_counted_in_their_order(calls):
    assert calls("""
b.synchronize()  # nothing counts yet
s.begin(None, 0, 0, 9)
out = [b.allocate(1), b.launch(), b.end()]
print(json.dumps([out, s.end(), s.calls()]))
""") == [[0, 0, 0], 0, ["toyMalloc", "toyLaunch", "toyStreamEndCapture"]]  # not what the device calls itself


def test_one_call_fails(calls):
    assert calls("""
out = []
for call in range(4):
    s.begin(None, call, 1, 9)
    out.append([b.allocate(1), b.launch(), b.synchronize(), s.end()])
print(json.dumps(out))
""") == [[-9, 0, 0, 1], [0, 9, 0, 1], [0, 0, 9, 1], [0, 0, 0, 0]]  # a failed allocation gives null


def test_calls_of_one_function_fail(calls):
    assert calls("""
s.begin("toySynchronize", 1, 2, 1)
out = [b.synchronize(), b.allocate(1), b.synchronize(), b.synchronize(), b.synchronize(), s.end()]
s.begin("toyLaunch", 0, -1, 1)
print(json.dumps([out, [b.launch(), b.synchronize(), b.launch(), s.end()], b.launch()]))
""") == [[0, 0, 1, 1, 0, 2], [1, 0, 1, 2], 0]


def test_arrays_are_handed_on(calls):
    assert calls("""
s.begin(None, 1, 1, 9)
print(json.dumps([b.run(), b.run(), s.end(), b.run()]))
""") == [7, 9, 1, 7]


def test_a_capture_whose_end_fails_has_ended(calls):
    assert calls("""
captures = ctypes.c_int.in_dll(ctypes.CDLL(b._name.replace("backend", "device")), "captures")
s.begin(None, 0, 1, 9)
print(json.dumps([b.end(), s.end(), captures.value]))
""") == [-9, 1, 0]


def test_the_devices_own_errors_pass(calls):
    assert calls("""
s.begin(None, 5, 1, 9)
print(json.dumps([b.allocate(0), s.end()]))
""") == [1, 0]


def allocations_fail(tree, folder, mode):
    """The exit code and the text of the test of a device library."""
    command = [sys.executable, ROOT / "tests/failing/device_library.py", tree, "--mode", mode, "--work", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    return done.returncode, done.stdout + done.stderr[-3000:]


def test_each_allocation_of_the_small_device_fails(openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text("profile: minimal\nbackend: {name: openreg, api_prefix: or}\n")
    openreg_gen("new", "openreg", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    status, said = allocations_fail(tmp_path / "tree", tmp_path, "off")
    assert (status, "a small device: " in said) == (0, True), said


def test_each_allocation_of_the_device_fails(tmp_path):
    status, said = allocations_fail(ROOT / "generated_example", tmp_path, "auto")
    assert (status, said.count(" 0 problems")) == (0, 8), said


FAULTS = {
    "memory that a failed call has lost": (
        "host_memory.cpp",
        {
            "  std::unique_ptr<void, decltype(&std::free)> owner(base, std::free);": "",
            "return owner.release();": "return base;",
        },
    ),
    "freed before the wait fails": (
        "memory_api.cpp",
        {
            "if (!later) devices.wait();": "if (!later && !device.retire(pointer, &allocation)) return orErrorInvalidValue; "
            "if (!later) devices.wait();",
            "!device.retire(pointer, &allocation)) {": "false) {",
        },
    ),
    "a kernel of a launch that failed": (
        "capture.cpp",
        {
            "  std::size_t& given = given_[&stream];\n": "  graph_->nodes_.push_back(std::move(node));\n  std::size_t& given = given_[&stream];\n",
            "  graph_->nodes_.push_back(std::move(node));  // last": "  //",
        },
    ),
    "an exception on the stream's thread": ("activity.cpp", {"  records();  //": "  //"}),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_a_device_library_are_found(name, tmp_path):
    file, changes = FAULTS[name]
    shutil.copytree(ROOT / "generated_example/third_party", tmp_path / "third_party")
    path = tmp_path / "third_party/openreg/src" / file
    text = path.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
    status, said = allocations_fail(tmp_path, tmp_path, "off")
    assert (status, "problems" in said) == (1, True), said
