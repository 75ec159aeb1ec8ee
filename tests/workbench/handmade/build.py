"""Compiles handmade.cpp with the running Python's PyTorch; the library is kept beside what else is built here."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess

import torch

FOLDER = pathlib.Path(__file__).parent
SOURCE = FOLDER / "handmade.cpp"
BUILD = FOLDER.parents[2] / "build"


def library() -> pathlib.Path:
    """The path of the library. Compiled once for a source and a PyTorch, however many tests ask for it at a time."""
    key = hashlib.sha256(SOURCE.read_bytes() + torch.__version__.encode()).hexdigest()[:16]
    BUILD.mkdir(exist_ok=True)
    wanted = BUILD / f"handmade-{key}.so"
    with open(BUILD / "handmade.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.exists():
            part = wanted.with_suffix(".part")
            subprocess.run([*_command(), str(SOURCE), "-o", str(part), *_libraries()], check=True, timeout=900)
            part.replace(wanted)
    return wanted


def environment() -> dict[str, str]:
    """Variables with which Python finds the module `handmade`, and no backend that is installed."""
    paths = [str(FOLDER), str(FOLDER.parents[2] / "generator/workbench")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "HANDMADE_LIBRARY": str(library()),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }


def _torch() -> pathlib.Path:
    return pathlib.Path(torch.__file__).parent


def _command() -> list[str]:
    compiler = os.environ.get("CXX") or shutil.which("g++") or "c++"
    include = _torch() / "include"
    return [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", f"-I{include}", f"-I{include}/torch/csrc/api/include"]


def _libraries() -> list[str]:
    return [f"-L{_torch() / 'lib'}", "-ltorch_cpu", "-lc10"]
