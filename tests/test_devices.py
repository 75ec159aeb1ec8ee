"""Devices that run out of memory or threads: C++ programs with the device's library alone, without PyTorch."""

import subprocess

import pytest
from trees import ROOT

SMALL = ["errors_of_kernels_are_not_taken_by_free", "no_thread", "no_memory_of_the_host"]


@pytest.fixture(scope="module")
def small(openreg_gen, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", folder / "tree")
    device, program = folder / "tree/third_party/mybackend", folder / "program"
    sources = [ROOT / "tests/devices/small.cpp", *sorted(device.glob("src/*.cpp"))]
    options = ["-std=c++17", "-pthread", "-I", device / "include", "-o", program, "-ldl"]
    subprocess.run(["c++", *sources, *options], check=True, timeout=600)
    return program


@pytest.mark.parametrize("name", SMALL)
def test_the_small_device(small, name):
    subprocess.run([small, name], check=True, timeout=120)
