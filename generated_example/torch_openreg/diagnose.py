# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""python -m torch_openreg.diagnose: what a bug report needs. Works where the device can't be registered, and says why."""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from . import __version__, _release

# What only a process that loads the backend knows. Another one: this one lives on if that dies.
ASK = """
import json
import torch
import torch_openreg

module = torch.openreg
said = {
    "devices": module.device_count(),
    "current accelerator": str(torch.accelerator.current_accelerator()),
    "CUDA devices that PyTorch sees": torch.cuda.device_count() if torch.backends.cuda.is_built() else "not built for CUDA",
}
if module.is_available():
    said["device 0"] = str(module.get_device_properties(0))
    said["allocator"] = module.get_allocator_backend()
    said["a sum on the device"] = torch.ones(3, device="openreg").sum().item()
print("\\n" + json.dumps(said))
"""
# Variables that change what this backend or its build does; others of a machine are nobody's business.
OURS = ("OPENREG_", "PYTORCH_", "TORCH_", "CMAKE_", "CUDA_", "OMP_", "MKL_", "PYTHON")
ALSO = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "LD_LIBRARY_PATH", "LD_PRELOAD", "MAX_JOBS", "VIRTUAL_ENV")


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def distribution() -> str:
    """What pip knows of this package."""
    try:
        found = metadata.distribution("torch_openreg")
    except metadata.PackageNotFoundError:
        return "not installed, only on the path"
    return found.version


def generator() -> str:
    """Which command rendered the tree, and from what; a wheel does not say."""
    manifest = _release.PACKAGE.parent / ".openreg-gen" / "manifest.json"
    if not manifest.exists():
        return "openreg-gen 0.1.0"
    said = json.loads(manifest.read_text())
    return f"openreg-gen {said.get('tool', '0.1.0')}, for {said.get('torch', 'unknown')}"


def cpu() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text(errors="replace").splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()}, {os.cpu_count()} threads"
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} threads"


def system() -> str:
    release = Path("/etc/os-release")
    for line in release.read_text(errors="replace").splitlines() if release.exists() else ():
        if line.startswith("PRETTY_NAME="):
            return f"{line.partition('=')[2].strip(chr(34))}, {platform.platform()}"
    return platform.platform()


def entry_points() -> str:
    names = sorted(point.value for point in metadata.entry_points(group="torch.backends"))
    switch = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
    return ("on" if switch == "1" else f"off ({switch})") + ": " + (", ".join(names) or "no package has an entry point")


def with_the_device() -> Iterator[tuple[str, str]]:
    if problem := _release.problem():
        yield "loading", f"refused: {problem}"
        return
    command = [sys.executable, "-c", ASK]
    path = os.pathsep.join(filter(None, [str(_release.PACKAGE.parent), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env)
    except subprocess.TimeoutExpired:
        yield "loading", "does not end"
        return
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode == 0 and last.startswith("{"):
        yield "loading", "works"
        yield from ((key, str(value)) for key, value in json.loads(last).items())
    else:
        yield "loading", f"fails with exit code {done.returncode}:\n{done.stderr.strip()}"


def report() -> Iterator[tuple[str, str]]:
    built = _release.built()
    yield "torch_openreg", f"{__version__} ({distribution()}) in {_release.PACKAGE}"
    yield "rendered by", generator()
    yield "for PyTorch", ">=2.13,<2.16"
    yield "built with PyTorch", built.get("torch", "not built")
    yield "installed PyTorch", _release.installed_version() or "none"
    known = [str(built.get(key, "unknown")) for key in ("build_type", "compiler", "cxx11_abi", "python")]
    yield "build", "{}, {}, _GLIBCXX_USE_CXX11_ABI={}, Python {}".format(*known)
    yield "libraries", _release.stale() or "built from the C++ that was rendered"
    yield "compiler here", first_line(os.environ.get("CXX") or shutil.which("c++") or "c++", "--version")
    yield "CMake here", first_line(shutil.which("cmake") or "cmake", "--version")
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "system", system()
    yield "C library", " ".join(platform.libc_ver()).strip() or "unknown"
    yield "CPU", cpu()
    yield "Autoload", entry_points()
    settings = [os.environ[name] for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF") if name in os.environ]
    yield "allocator settings", "; ".join(settings) or "the defaults: PyTorch's"
    for name in sorted(os.environ):
        if name.startswith(OURS) or name in ALSO:
            yield f"${name}", os.environ[name]
    yield from with_the_device()


def main() -> None:
    for name, value in report():
        print(f"{name + ':':32}{value.replace(chr(10), chr(10) + ' ' * 4)}", flush=True)


if __name__ == "__main__":
    main()
