"""The tree and PyTorch: which PyTorch the build finds, on packages that only look like one (CMake is run, nothing is compiled), and
docs/integration.md against the headers of the installed one and the files that it names.

A virtual function that PyTorch gained, or one that the named file doesn't override, fails here: its default
mostly throws, or is silently wrong.
"""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from built import NAME, PACKAGE, ROOT

CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
needs_cmake = pytest.mark.skipif(CMAKE is None, reason="needs CMake")
BUILD = (ROOT / "cmake/PyTorch.cmake").read_text(encoding="utf-8")
REQUIREMENT = re.search(r">=[\d.]+,<[\d.]+", BUILD)[0]
FIRST = re.search(r">=([\d.]+)", REQUIREMENT)[1]

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(looks LANGUAGES NONE)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
include("${TREE}/cmake/PyTorch.cmake")
foreach(library IN ITEMS c10 torch_cpu torch_python)
  foreach(property IN ITEMS IMPORTED_LOCATION INTERFACE_INCLUDE_DIRECTORIES INTERFACE_COMPILE_DEFINITIONS)
    get_target_property(value PyTorch::${library} ${property})
    message(STATUS "${library} ${property}: ${value}")
  endforeach()
endforeach()
"""

# As in the packages for CUDA: the CMake package stops without a toolkit, and libraries for CUDA come first.
CUDA_CONFIG = 'message(FATAL_ERROR "Your installed Caffe2 version uses CUDA but I cannot find the CUDA libraries")\n'
CUDA_TARGETS = """
set_target_properties(c10_cuda PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_NVSHMEM"
)
set_target_properties(torch_cpu PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO"
  INTERFACE_LINK_LIBRARIES "c10"
)
set_target_properties(torch_cuda PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_C10D_NCCL"
)
"""


@needs_cmake
@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_another_system_is_refused_before_a_compiler_is_looked_for(tmp_path, system):
    done = subprocess.run(
        [CMAKE, "-S", ROOT, "-B", tmp_path, f"-DCMAKE_SYSTEM_NAME={system}", "-DCMAKE_CXX_COMPILER=/nonexistent"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode != 0
    assert f"is for Linux, and this is {system}" in " ".join(done.stdout.split())
    assert "/nonexistent" not in done.stdout


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_pip_learns_it_too(system):
    # What the file imports comes first: Python's own modules believe sys.platform.
    imports = "import pathlib, runpy, setuptools, shutil, subprocess, sys"
    program = f"{imports}; sys.platform = {system!r}; runpy.run_path({str(ROOT / 'setup.py')!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"is for Linux, and this is {system}" in done.stderr


@pytest.fixture
def package(tmp_path):
    """A folder that Python takes for PyTorch, as pip would install it."""
    files = {
        "__init__.py": "raise AssertionError('what configures the build imports PyTorch')\n",
        "version.py": f"cuda: Optional[str] = '13.0'\n__version__ = '{FIRST}.0+cu130'\nhip: Optional[str] = None\n",
        "include/c10/core/Device.h": "",
        "include/torch/csrc/api/include/torch/all.h": "",
        "lib/libc10.so": "_ZN3c106DeviceC1ERKNSt7__cxx1112basic_stringIcE\n",
        "lib/libtorch_cpu.so": "",
        "lib/libtorch_python.so": "",
        "share/cmake/Torch/TorchConfig.cmake": CUDA_CONFIG,
        "share/cmake/Caffe2/Caffe2Config.cmake": CUDA_CONFIG,
        "share/cmake/Caffe2/Caffe2Targets.cmake": CUDA_TARGETS,
    }
    for name, text in files.items():
        path = tmp_path / "packages/torch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "packages/torch"


def configure(package, *options):
    """What CMake says, in one line, and whether it went through."""
    source = package.parent.parent / "project"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    done = subprocess.run(
        [
            CMAKE,
            "-S",
            source,
            "-B",
            source / "build",
            f"-DTREE={ROOT}",
            f"-DPython_EXECUTABLE={sys.executable}",
            *options,
        ],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, " ".join(done.stdout.split())


@needs_cmake
def test_a_package_for_cuda_needs_no_toolkit(package):
    good, said = configure(package)
    assert good, said
    assert f"PyTorch {FIRST}.0+cu130 in {package}" in said
    include = package / "include"
    for library in ("c10", "torch_cpu", "torch_python"):
        assert f"{library} IMPORTED_LOCATION: {package}/lib/lib{library}.so " in said
        assert f"{library} INTERFACE_INCLUDE_DIRECTORIES: {include};{include}/torch/csrc/api/include" in said
        assert f"{library} INTERFACE_COMPILE_DEFINITIONS: USE_DISTRIBUTED;USE_C10D_GLOO -- " in said


@needs_cmake
def test_the_abi_is_that_of_the_libraries(package):
    (package / "lib/libc10.so").write_text("_ZN3c106DeviceC1ERKSs\n")
    good, said = configure(package)
    assert good, said
    assert "INTERFACE_COMPILE_DEFINITIONS: USE_DISTRIBUTED;USE_C10D_GLOO;_GLIBCXX_USE_CXX11_ABI=0 -- " in said


@needs_cmake
def test_no_pytorch(package):
    (package / "version.py").unlink()
    good, said = configure(package)
    assert not good
    assert f"There is no PyTorch in {sys.executable}." in said
    assert f"pip install 'torch{REQUIREMENT}'" in said


@needs_cmake
@pytest.mark.parametrize("version", ["1.13.1", "99.0.0"])
def test_another_release(package, version):
    (package / "version.py").write_text(f"__version__ = '{version}'\n")
    good, said = configure(package)
    assert not good
    assert f"PyTorch {version} in {package} is not {REQUIREMENT}." in said
    assert "or widen `torch:`" in said


@needs_cmake
def test_another_release_that_is_tried(package):
    (package / "version.py").write_text("__version__ = '99.0.0.dev20990101'\n")
    good, said = configure(package, f"-D{NAME.upper()}_ANY_PYTORCH=ON")
    assert good, said
    assert f"PyTorch 99.0.0.dev20990101 in {package}" in said


@needs_cmake
@pytest.mark.parametrize("missing", ["lib/libtorch_python.so", "include/c10/core/Device.h"])
def test_half_a_pytorch(package, missing):
    (package / missing).unlink()
    good, said = configure(package)
    assert not good
    assert f"lacks {missing}, which C++ is built against." in said


# --- The interfaces of PyTorch that the tree answers

INCLUDE = Path(torch.__file__).parent / "include"

# The interfaces a device answers, with the files that are there if it answers them; each must have its section in the table.
INTERFACES = {
    "DeviceGuardImplInterface": "csrc/runtime/Guard.h",
    "AcceleratorHooksInterface": "csrc/runtime/Hooks.h",
    "PrivateUse1HooksInterface": "csrc/runtime/Hooks.h",
    "Allocator": "csrc/runtime/Allocator.h",
    "DeviceAllocator": "csrc/runtime/Allocator.h",
    "HostAllocator": "csrc/runtime/HostAllocator.h",
    "GeneratorImpl": "csrc/runtime/Generator.h",
    "BackendMeta": "csrc/runtime/Serialization.h",
    "GraphImplInterface": "csrc/graphs",
    "Backend": "csrc/distributed",
    "Work": "csrc/distributed",
}
INTERFACES = {name for name, file in INTERFACES.items() if (ROOT / file).exists()}


def is_there(row):
    """Whether the installed PyTorch is one that the row is for."""
    since = re.match(r"since (\d+)\.(\d+): ", row["note"])
    return (
        since is None or tuple(map(int, since.groups())) <= importlib.import_module(f"{PACKAGE}._release").installed()
    )


def read_table():
    """By interface: its header, and its rows."""
    sections = re.split(
        r"^## `(?:\w+::)*(\w+)`$", (ROOT / "docs/integration.md").read_text(encoding="utf-8"), flags=re.M
    )
    table = {}
    for name, text in zip(sections[1::2], sections[2::2], strict=True):
        rows = re.findall(r"^\| `(.*?)` \| `(.*?)` \| (\w+) \| (.*?) ?\|$", text, re.M)
        rows = [dict(zip(("name", "file", "status", "note"), row, strict=True)) for row in rows]
        table[name] = re.search(r"Declared in `(.*)`", text)[1], [row for row in rows if is_there(row)]
    return table


TABLE = read_table()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def class_body(text, name):
    """The text between the braces of a class at the outermost level, whose closing brace starts a line."""
    start = re.search(r"\b(?:struct|class) (?:\w+_API )?" + name + r"\b[^;{]*\{", text)
    assert start, f"no class {name}"
    rest = text[start.end() :]
    return rest[: re.search(r"^\};", rest, re.M).start()]


def declared_virtuals(header, name):
    body = class_body(without_comments((INCLUDE / header).read_text(encoding="utf-8")), name)
    return re.findall(r"\bvirtual\s[^;{}(]*?\b(?<!~)(\w+)\s*\(", body)


def overrides(text, name):
    return re.search(r"\b" + name + r"\s*\([^;{}]*\)[^;{}]*\boverride\b", without_comments(text))


def test_table_has_every_interface():
    assert set(TABLE) == INTERFACES


@pytest.mark.parametrize("name", sorted(INTERFACES))
def test_table_has_every_virtual(name):
    header, rows = TABLE[name]
    declared = declared_virtuals(header, name)
    assert declared, f"{header} declares no virtual in {name}: its layout has changed"
    assert sorted({row["name"] for row in rows}) == sorted(set(declared))


@pytest.mark.parametrize("name", sorted(INTERFACES))
def test_named_files_override_what_they_should(name):
    for row in TABLE[name][1]:
        virtual, file, status, note = row["name"], row["file"], row["status"], row["note"]
        assert status in {"implemented", "inherited", "unsupported", "default"}
        assert status == "implemented" or note, f"{virtual} is {status}, but the table doesn't say why"
        if status == "default":
            ours = {row["file"] for row in TABLE[name][1] if row["status"] == "implemented"}
            assert not any(overrides((ROOT / file).read_text(encoding="utf-8"), virtual) for file in ours)
            continue
        root = INCLUDE.parent.parent if file.startswith("torch/") else ROOT
        text = (root / file).read_text(encoding="utf-8")
        assert overrides(text, virtual), f"{file} doesn't override {name}::{virtual}"


def test_a_missing_override_would_be_seen():
    assert overrides("void init() const override;", "init")
    assert not overrides("void initialize() const override;", "init")
    assert not overrides("// void init() const override;", "init")
    assert not overrides("void init() const; void other() override;", "init")
