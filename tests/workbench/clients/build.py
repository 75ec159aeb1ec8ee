"""Compiles the C++ file of a client backend with the running Python's PyTorch. Kept beside what else is built here."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sysconfig

import torch

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parents[2]
BUILD = ROOT / "build"
SECONDS = 900


def library(name: str) -> pathlib.Path:
    """The path of the library. Compiled once for a source and a PyTorch, however many tests ask for it at a time."""
    (source,) = (FOLDER / name).glob("*.cpp")
    key = hashlib.sha256(source.read_bytes() + torch.__version__.encode()).hexdigest()[:16]
    BUILD.mkdir(exist_ok=True)
    wanted = BUILD / f"{name}-{key}.so"
    with open(BUILD / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.exists():
            part = wanted.with_suffix(".part")
            subprocess.run([*_command(name), str(source), "-o", str(part), *_libraries()], check=True, timeout=SECONDS)
            part.replace(wanted)
    return wanted


def environment(name: str, compiled: bool = True, arrays: str = "numpy") -> dict[str, str]:
    """Variables with which Python finds the package `name`, the workbench, and no backend that is installed.

    arrays: the array library with which py_kernels computes, numpy or tinygrad.
    """
    paths = [str(FOLDER), str(ROOT / "generator/workbench")]
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "CLIENT_LIBRARY": str(library(name)) if compiled else "",
        "CLIENT_ARRAYS": arrays,
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        **(_compiler_of_tinygrad() if arrays == "tinygrad" else {}),
    }


def _compiler_of_tinygrad() -> dict[str, str]:
    """It computes on the CPU with clang; without one, in Python."""
    found = next(filter(None, map(shutil.which, ("clang", "clang-14", "clang-16", "clang-18", "clang-19"))), None)
    return {"DEV": "CPU", "CC": found} if found else {"DEV": "PYTHON"}


def _torch() -> pathlib.Path:
    return pathlib.Path(torch.__file__).parent


def _command(name: str) -> list[str]:
    compiler = os.environ.get("CXX") or shutil.which("g++") or "c++"
    include = _torch() / "include"
    folders = [include, include / "torch/csrc/api/include", sysconfig.get_paths()["include"]]
    words = [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", f"-DTORCH_EXTENSION_NAME={name}_C"]
    return [*words, *(f"-I{folder}" for folder in folders)]


def _libraries() -> list[str]:
    return [f"-L{_torch() / 'lib'}", "-ltorch_python", "-ltorch_cpu", "-lc10"]
