"""The programs whose threads are ordered by seed: C++ tests of a tree's device, of its allocators and of its runtime; Python tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SETTINGS = {
    "OPENREG_ISOLATION": "off",  # changing rights of pages is slow, and orders nothing
    "OPENREG_DEVICE_COUNT": "2",
    "OPENREG_ALLOCATOR_OPERATIONS": "2000",
    "OPENREG_ALLOCATOR_THREADS": "1",  # so that a seed replays exactly
    "PYTHONHASHSEED": "0",
}


class Program(NamedTuple):
    path: str  # in the build of a tree
    alone: str  # what builds it without PyTorch's libraries, and the tree's
    filter: str  # of tests; without those that start processes, or wait for times or for the system


PROGRAMS = {
    "device": Program(
        "third_party/openreg/openreg_tests",
        "third_party/openreg",
        "-*DeathTest*:Ipc*:Gemm*:Activity*:*ALateWakeupLosesNoOther:*NoWakeupIsLost:*Large*:*ElapsedTime*",
    ),
    "allocator": Program(
        "tests/cpp/openreg_allocator_tests",
        "tests/cpp/allocator",
        "-EnvironmentTest*:PluggableTest*:FaultTest*:PoolFaultTest*:*EveryCallOfTheDeviceMayFail",
    ),
    "runtime": Program("tests/cpp/openreg_runtime_tests", "", "-*DeathTest*:*Soak*:*ElapsedTimeIs*"),
    # tests/schedule/order_test.cpp, in a copy of a tree
    "order": Program("tests/cpp/openreg_allocator_tests", "tests/cpp/allocator", "OrderTest*"),
}


def command(program: str, tree: Path) -> list[str]:
    """`program`: one of PROGRAMS, of an installed tree with its C++ tests, or a file of its Python tests."""
    if program.endswith(".py"):
        return [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(tree),
            str(tree / program),
        ]
    return with_filter(program, tree / "build" / PROGRAMS[program].path)


def with_filter(program: str, path: Path) -> list[str]:
    return [str(path), f"--gtest_filter={PROGRAMS[program].filter}"]


def build(program: str, tree: Path, folder: Path) -> list[str]:
    """Builds it alone; returns the command."""
    source = tree / PROGRAMS[program].alone
    out = folder / "build"
    options = ["-G", "Ninja", "-DOPENREG_BUILD_TESTS=ON", "-DOPENREG_UNITY_BUILD=ON"]
    options += ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", f"-DPython_EXECUTABLE={sys.executable}"]
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree.parent), "CCACHE_NOHASHDIR": "1"}  # copies compile alike
    if ccache := shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    for words in (["cmake", "-S", source, "-B", out, *options], ["cmake", "--build", out]):
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=1200, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{source} doesn't build:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return with_filter(program, out / Path(PROGRAMS[program].path).name)
