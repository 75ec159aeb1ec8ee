"""Compiles this backend with the running Python's PyTorch, torchgen's part included. Kept beside what else is built here."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

import torch

FOLDER = pathlib.Path(__file__).parent
SOURCES = FOLDER / "csrc"
BUILD = FOLDER.parents[2] / "build"
SECONDS = 1500


def library() -> pathlib.Path:
    """The path of the library. Compiled once for these sources and a PyTorch."""
    contents = b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()))
    key = hashlib.sha256(contents + torch.__version__.encode()).hexdigest()[:16]
    BUILD.mkdir(exist_ok=True)
    wanted = BUILD / f"byhand-{key}.so"
    with open(BUILD / "byhand.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.exists():
            work = BUILD / f"byhand-{key}"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            _torchgen(work)
            whole = work / "all.cpp"
            names = [
                *sorted(str(path) for path in SOURCES.glob("*.cpp")),
                *sorted(str(path) for path in work.glob("Register*.cpp")),
            ]
            whole.write_text("".join(f'#include "{name}"\n' for name in names))
            subprocess.run(
                [*_command(work), str(whole), "-o", str(work / "part"), *_libraries()], check=True, timeout=SECONDS
            )
            (work / "part").replace(wanted)
    return wanted


def environment() -> dict[str, str]:
    """Variables with which Python finds the package `byhand`, and no backend that is installed."""
    paths = [str(FOLDER), str(FOLDER.parents[2] / "generator/workbench")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "BYHAND_LIBRARY": str(library()),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }


def _torchgen(folder: pathlib.Path) -> None:
    words = ["--output_dir", str(folder), "--source_yaml", str(SOURCES / "native_functions.yaml")]
    subprocess.run([sys.executable, "-m", "torchgen.gen_backend_stubs", *words], check=True, timeout=SECONDS)


def _torch() -> pathlib.Path:
    return pathlib.Path(torch.__file__).parent


def _command(folder: pathlib.Path) -> list[str]:
    compiler = os.environ.get("CXX") or shutil.which("g++") or "c++"
    includes = [_torch() / "include", _torch() / "include/torch/csrc/api/include", folder, SOURCES]
    return [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", *(f"-I{each}" for each in includes)]


def _libraries() -> list[str]:
    return [f"-L{_torch() / 'lib'}", "-ltorch_cpu", "-lc10"]
