# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `torch` in the spec changes it, then `openreg-gen generate`.
"""Checks that the installed PyTorch is the one that the libraries of this package were built with.

C++ built with one minor release of PyTorch finds other classes behind the same names in the next, so that is reported before
any library is loaded. Patch releases fit.
"""

import contextlib
import importlib.util
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent
BUILT = PACKAGE / "lib" / "build.json"  # written by the build, once its libraries are there
MANIFEST = PACKAGE.parent / ".openreg-gen" / "manifest.json"  # beside an editable install; a wheel has none


def minor(version: str) -> tuple[int, int]:
    """(2, 13) of "2.13.0+cpu"."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def installed_version() -> str:
    """PyTorch's, "" where there is none; nothing is imported."""
    spec = importlib.util.find_spec("torch")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, "version.py")
        found = re.search(r"^__version__ = ['\"]([^'\"]+)", path.read_text() if path.exists() else "", re.M)
        if found:
            return found[1]
    return ""


def installed() -> tuple[int, int]:
    return minor(installed_version())


def built() -> dict[str, Any]:
    """The file that the build wrote; empty without a build."""
    return json.loads(BUILT.read_text()) if BUILT.exists() else {}


def problem() -> str:
    """Why the libraries can't be loaded; "" if they can."""
    tree = PACKAGE.parent
    build = f"python -m pip install --no-build-isolation -e {tree}"
    in_tree = (tree / "cmake" / "PyTorch.cmake").exists()
    if not built():
        what = f": {build}" if in_tree else "; install it again."
        return f"torch_openreg was not built{what}"
    version, wanted = installed_version(), built()["torch"]
    if not version:
        return f"torch_openreg needs PyTorch {wanted}, and none is installed."
    if minor(version) == minor(wanted):
        return ""
    was, now = (".".join(map(str, minor(each))) for each in (wanted, version))
    other = f"install a build of torch_openreg whose version ends in +torch{now}"
    if in_tree:
        other = build
    return (
        f"torch_openreg 0.1.0 was built with PyTorch {was} ({wanted}), and {version} is installed.\n"
        "C++ that was built with one minor release can't be loaded with another. Either\n"
        f"    install the release that it was built with:  python -m pip install 'torch=={was}.*'\n"
        f"    or have it built with the installed one:     {other}"
    )


def stale() -> str:
    """What to do if C++ was rendered that is not in the libraries; "" if there is none."""
    head = MANIFEST.read_text(encoding="utf-8")[:1000] if MANIFEST.is_file() else ""
    sources = re.search(r'^  "sources": "(\w+)"', head, re.MULTILINE)
    if sources is None or built().get("sources") == sources[1]:
        return ""
    return f"torch_openreg was rendered after it was built; run: cmake --build {PACKAGE.parent / 'build'}"


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """Wraps loading the libraries: an ImportError if they can't be loaded, a warning if they are stale."""
    if text := problem():
        raise ImportError(text)
    text = stale()
    try:
        yield
    except Exception as error:
        if text:
            raise ImportError(text) from error
        raise
    if text:
        warnings.warn(text, stacklevel=3)
