# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""Builds the C++ libraries with CMake and Ninja in build/, and packs them.

    pip install --no-build-isolation -e .     for work on the backend: after an edit, `cmake --build build` is enough
    pip wheel --no-build-isolation .          a wheel to pass on

Environment: MAX_JOBS limits parallel compiles; CMAKE_BUILD_TYPE (default Release); CMAKE_ARGS is added to cmake's.
"""

import fcntl
import importlib.util
import os
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

if sys.platform != "linux":
    sys.exit(
        f"torch_openreg is for Linux, and this is {sys.platform} (darwin is macOS): CMakeLists.txt says why.\n"
        "Build it in a container or a virtual machine with Linux; on Windows, in WSL 2."
    )

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    import setuptools.command.bdist_wheel  # noqa: F401  (since 70.1)
except ImportError:
    if importlib.util.find_spec("wheel") is None:
        sys.exit("building needs setuptools 70.1 or package wheel: pip install wheel")

ROOT = Path(__file__).resolve().parent
PACKAGE = "torch_openreg"
VERSION = "0.1.0"


def tool(name: str) -> str:
    """The path of a build tool; beside this Python, or on PATH."""
    scripts = Path(sys.executable).parent
    found = shutil.which(name, path=f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}")
    if not found:
        sys.exit(f"{PACKAGE} is built with {name}, which was not found: pip install {name}")
    return found


class CMakeBuild(build_ext):
    """CMake builds all libraries at once, in the source tree; a wheel gets copies."""

    def run(self) -> None:
        if importlib.util.find_spec("torch") is None:
            sys.exit(
                f"{PACKAGE} is built against PyTorch, which {sys.executable} does not have.\n"
                "Install it (pip install 'torch>=2.13,<2.16') and use"
                " `pip install --no-build-isolation`, which lets the build see it."
            )
        self.build()
        if not self.inplace:
            for source, target in self.packed().items():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)

    def build(self) -> None:
        cmake = tool("cmake")
        build_type = os.environ.get("CMAKE_BUILD_TYPE", "Release")
        # Whatever of the build runs Python must not load the backend that is being built.
        env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        configure = [cmake, "-S", str(ROOT), "-B", str(ROOT / "build"), "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DPython_EXECUTABLE={sys.executable}"]
        configure += [f"-DCMAKE_BUILD_TYPE={build_type}", *shlex.split(os.environ.get("CMAKE_ARGS", ""))]
        compile_all = [cmake, "--build", str(ROOT / "build")]
        if jobs := os.environ.get("MAX_JOBS"):
            compile_all += ["--parallel", jobs]
        with self.lock():
            for command in (configure, compile_all):
                try:
                    subprocess.run(command, check=True, env=env)
                except subprocess.CalledProcessError as error:
                    sys.exit(f"{PACKAGE} was not built: `{shlex.join(command)}` failed ({error.returncode}).")

    @staticmethod
    def lock() -> IO[str]:
        """Two builds at once write over each other's files. `openreg-gen test` takes the lock, too."""
        (ROOT / "build").mkdir(exist_ok=True)
        lock = (ROOT / "build" / "lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another build runs in {ROOT / 'build'}: waiting for its end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def built(self) -> list[Path]:
        """The libraries of this build, by their file names (`_C` carries the Python version in its own), and what describes it."""
        extension = ROOT / PACKAGE / Path(self.get_ext_filename("_C")).name
        return [extension, *sorted((ROOT / PACKAGE / "lib").glob("*.so")), ROOT / PACKAGE / "lib" / "build.json"]

    def packed(self) -> dict[Path, Path]:
        """The files of a wheel beside the Python files: libraries, and headers for C++ that is built against them."""
        package = Path(self.build_lib, PACKAGE)
        files = {path: Path(self.build_lib, path.relative_to(ROOT)) for path in self.built()}
        csrc, device = ROOT / "csrc", ROOT / "third_party" / "openreg" / "include"
        for folder, headers in ((csrc, csrc.glob("runtime/**/*.h")), (device, device.glob("**/*.h"))):
            files |= {path: package / "include" / path.relative_to(folder) for path in sorted(headers)}
        for config in (ROOT / PACKAGE).glob("share/cmake/*/*.cmake"):  # there with component extensions
            folder = package / config.parent.relative_to(ROOT / PACKAGE)
            files |= {config: folder / config.name, ROOT / "cmake" / "PyTorch.cmake": folder / "PyTorch.cmake"}
        return files

    def get_outputs(self) -> list[str]:
        return [str(path) for path in self.packed().values()]

    def get_output_mapping(self) -> dict[str, str]:
        return {}  # an editable install finds the libraries where CMake puts them


def version_and_requirement() -> tuple[str, str]:
    """A build fits one minor release of PyTorch: its version names it, and pip requires it."""
    major, minor = runpy.run_path(str(ROOT / PACKAGE / "_release.py"))["installed"]()
    if not major:
        return VERSION, "torch>=2.13,<2.16"
    return f"{VERSION}{'.' if '+' in VERSION else '+'}torch{major}.{minor}", f"torch=={major}.{minor}.*"


version, requirement = version_and_requirement()
setup(
    version=version,
    install_requires=[requirement],
    license="BSD-3-Clause",
    ext_modules=[Extension(f"{PACKAGE}._C", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
