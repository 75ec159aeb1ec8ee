# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""What the build takes PyTorch to be, on packages that only look like PyTorch: CMake is run, nothing is compiled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
pytestmark = pytest.mark.skipif(CMAKE is None, reason="needs CMake")


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
        "version.py": "cuda: Optional[str] = '13.0'\n__version__ = '2.13.0+cu130'\nhip: Optional[str] = None\n",
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


def configure(package):
    """What CMake says, in one line, and whether it went through."""
    source = package.parent.parent / "project"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    done = subprocess.run(
        [CMAKE, "-S", source, "-B", source / "build", f"-DTREE={ROOT}", f"-DPython_EXECUTABLE={sys.executable}"],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, " ".join(done.stdout.split())


def test_a_package_for_cuda_needs_no_toolkit(package):
    good, said = configure(package)
    assert good, said
    assert f"PyTorch 2.13.0+cu130 in {package}" in said
    include = package / "include"
    for library in ("c10", "torch_cpu", "torch_python"):
        assert f"{library} IMPORTED_LOCATION: {package}/lib/lib{library}.so " in said
        assert f"{library} INTERFACE_INCLUDE_DIRECTORIES: {include};{include}/torch/csrc/api/include " in said
        assert f"{library} INTERFACE_COMPILE_DEFINITIONS: USE_DISTRIBUTED;USE_C10D_GLOO -- " in said


def test_the_abi_is_that_of_the_libraries(package):
    (package / "lib/libc10.so").write_text("_ZN3c106DeviceC1ERKSs\n")
    good, said = configure(package)
    assert good, said
    assert "INTERFACE_COMPILE_DEFINITIONS: USE_DISTRIBUTED;USE_C10D_GLOO;_GLIBCXX_USE_CXX11_ABI=0 -- " in said


def test_no_pytorch(package):
    (package / "version.py").unlink()
    good, said = configure(package)
    assert not good
    assert f"There is no PyTorch in {sys.executable}." in said
    assert "pip install 'torch>=2.13,<2.16'" in said


@pytest.mark.parametrize("version", ["1.13.1", "99.0.0"])
def test_another_release(package, version):
    (package / "version.py").write_text(f"__version__ = '{version}'\n")
    good, said = configure(package)
    assert not good
    assert f"PyTorch {version} in {package} is not >=2.13,<2.16." in said
    assert "or widen `torch:`" in said


@pytest.mark.parametrize("missing", ["lib/libtorch_python.so", "include/c10/core/Device.h"])
def test_half_a_pytorch(package, missing):
    (package / missing).unlink()
    good, said = configure(package)
    assert not good
    assert f"lacks {missing}, which C++ is built against." in said
