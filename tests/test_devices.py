"""Devices that run out of memory or threads: C++ programs with the device's library alone, without PyTorch."""

import pathlib
import subprocess

import pytest
from trees import ROOT

SMALL = ["errors_of_kernels_are_not_taken_by_free", "no_thread", "no_memory_of_the_host"]
OPENCL = ["no_thread", "memory_of_a_copy_that_was_not_flushed", "a_function_that_was_not_flushed"]


def build(openreg_gen, folder, name, *options, device="emulator", libraries=()):
    openreg_gen("new", "mybackend", "--device", device, "--profile", "minimal", "--out", folder / "tree")
    library, program = folder / "tree/third_party/mybackend", folder / "program"
    (folder / "all.cpp").write_text("".join(f'#include "{path}"\n' for path in sorted(library.glob("src/*.cpp"))))
    command = ["c++", *options, "-pthread", "-I", library / "include", "-I", library / "src", "-o", program]
    sources = [ROOT / "tests/devices" / f"{name}.cpp", folder / "all.cpp"]
    subprocess.run([*command, *sources, "-ldl", *libraries], check=True, timeout=900)
    return program


@pytest.fixture(scope="module")
def small(openreg_gen, tmp_path_factory):
    return build(openreg_gen, tmp_path_factory.mktemp("small"), "small", "-std=c++17")


@pytest.mark.parametrize("name", SMALL)
def test_the_small_device(small, name):
    subprocess.run([small, name], check=True, timeout=120)


@pytest.fixture(scope="module")
def opencl(openreg_gen, tmp_path_factory):
    if not pathlib.Path("/usr/include/CL/cl.h").exists():
        pytest.skip("there are no headers of OpenCL")
    folder, options = tmp_path_factory.mktemp("opencl"), ("-std=c++20", "-DCL_TARGET_OPENCL_VERSION=300")
    return build(openreg_gen, folder, "opencl", *options, device="opencl", libraries=["-lOpenCL"])


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPENCL)
def test_the_opencl_device(opencl, name):
    subprocess.run([opencl, name], check=True, timeout=120)
