# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""C++ of a user, outside of the tree, uses the streams and guards: built by torch.utils.cpp_extension, and by CMake."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils import cpp_extension as pytorch
from torch_openreg.utils import cmake_prefix_path
from torch_openreg.utils import cpp_extension as backend

NAME = "openreg"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
TOOLS = {tool: shutil.which(tool, path=PATH) for tool in ("cmake", "ninja", os.environ.get("CXX", "c++"))}
needs_tools = pytest.mark.skipif(None in TOOLS.values(), reason="needs a compiler, CMake and Ninja")

SOURCE = """
#include <openreg.h>
#include <runtime/Exception.h>
#include <runtime/Guard.h>
#include <runtime/Stream.h>

#include <torch/library.h>

namespace {

// The device and the stream that are current under a guard, and after it.
std::vector<int64_t> currents(int64_t device, bool pooled) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  std::vector<int64_t> seen;
  const auto look = [&] {
    int current = -1;
    OPENREG_CHECK(orGetDevice(&current));
    seen.push_back(current);
    seen.push_back(openreg::getCurrentStream().id());
  };
  {
    const openreg::OpenRegGuard guard(index);
    const auto stream = pooled ? openreg::getStreamFromPool(0, index) : openreg::getDefaultStream(index);
    const openreg::OpenRegStreamGuard on_stream(stream);
    seen.push_back(stream.id());
    look();
  }
  look();
  return seen;
}

}  // namespace

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
TORCH_LIBRARY_FRAGMENT(cpp_extension_test, m) { m.def(TEXT(OPERATOR), &currents); }
"""

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(outside LANGUAGES CXX)
find_package(torch_openreg REQUIRED)
add_library(outside SHARED outside.cpp)
target_compile_definitions(outside PRIVATE OPERATOR=by_cmake)
target_link_libraries(outside PRIVATE torch_openreg::torch_openreg)
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "outside.cpp"
    path.write_text(SOURCE)
    return path


def use(function):
    last = torch.accelerator.device_count() - 1
    stream, device, current, device_after, stream_after = function(last, True)
    assert (device, current) == (last, stream) and stream != 0
    assert (device_after, stream_after) == (0, 0)
    assert function(last, False)[:3] == [0, last, 0]


@needs_tools
def test_torch_cpp_extension(source, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", PATH)
    flags = [f"-L{path}" for path in backend.library_paths()] + [f"-l{each}" for each in backend.libraries()]
    pytorch.load(
        "outside",
        [str(source)],
        extra_cflags=["-O0", "-DOPERATOR=by_load"],
        extra_include_paths=backend.include_paths(),
        extra_ldflags=flags,
        build_directory=str(tmp_path),
        is_python_module=False,
    )
    use(torch.ops.cpp_extension_test.by_load)


@needs_tools
def test_cmake(source, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    cmake, ninja, _ = TOOLS.values()
    configure = [cmake, "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_PREFIX_PATH={cmake_prefix_path}"]
    for command in (configure, [cmake, "--build", tmp_path / "build"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, shlex.join(map(str, command)) + "\n" + done.stdout
    torch.ops.load_library(str(tmp_path / "build/liboutside.so"))
    use(torch.ops.cpp_extension_test.by_cmake)


@pytest.mark.no_device
def test_what_the_paths_name():
    include = [Path(path) for path in backend.include_paths()]
    for header in ("runtime/Stream.h", "runtime/Guard.h", f"{NAME}.h"):
        assert any((path / header).is_file() for path in include), header
    for library in backend.libraries():
        assert any(Path(path, f"lib{library}.so").is_file() for path in backend.library_paths()), library


@pytest.mark.no_device
def test_a_wheel_has_headers_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "include").mkdir()
    monkeypatch.setattr(backend, "_PACKAGE", tmp_path)
    assert backend.include_paths() == [str(tmp_path / "include")]
