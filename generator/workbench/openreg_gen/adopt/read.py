"""`python -m openreg_gen.adopt.read PACKAGE --json FILE`: the facts of an installed backend.

It imports PACKAGE in a process that has no other backend, so that what is registered afterwards and wasn't before is the
package's own. The file is an audit (`openreg-gen audit --saved FILE` reads it) with the key "adopt".
"""

import os

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # before torch is imported: PACKAGE is to be the only backend

import argparse
import importlib
import pathlib
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

import torch

from .. import device
from ..audit import children, dispatcher, document
from ..audit.__main__ import outcome
from ..audit.probes import all_probes
from ..command import Exit, Parser, fail

_DEBUG = re.compile(r"^debug: registered at (?P<place>.*)$", re.MULTILINE)
_CUDA = re.compile(r"^CUDA(?:\[alias\])?: registered at", re.MULTILINE)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = Parser(prog="python -m openreg_gen.adopt.read", description=__doc__)
    parser.add_argument("package", metavar="PACKAGE", help="the module whose import registers the backend")
    parser.add_argument("--json", metavar="FILE", required=True, help="the file to write")
    parser.add_argument("--timeout", type=float, default=20, metavar="S", help="seconds per call of an interface (20)")
    parser.add_argument("--no-calls", action="store_true", help="read the dispatcher only; call no interface")
    return parser.parse_args(words)


def import_backend(package: str) -> set[str]:
    """Import the package, and return the operators that it defines. Ends with an error if it brings no backend."""
    before = set(dispatcher.all_operators())
    try:
        importlib.import_module(package)
    except ImportError as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        hint = f"activate the environment that has it, or install it: {sys.executable} -m pip install {package}"
        if missing not in (None, package.partition(".")[0]):
            hint = f"install what it needs: {sys.executable} -m pip install {missing}"
        fail(f"{package}: can't be imported by {sys.executable}: {error}", hint, Exit.ENVIRONMENT)
    except Exception as error:  # foreign code: whatever it raises
        fail(
            f"{package}: its import raised {type(error).__name__}: {error}",
            f"repeat it alone: {sys.executable} -c 'import {package}'",
            Exit.ENVIRONMENT,
        )
    return set(dispatcher.all_operators()) - before


def own_registrations(kind: str, before: set[tuple[str, str]]) -> set[tuple[str, str]]:
    found = dispatcher.registrations(kind, dispatcher.all_operators())
    return {(each.op, each.key) for each in found} - before


def refuse(package: str, defined: set[str]) -> None:
    """Say why a package can't be adopted: it is for CUDA, or it registers nothing."""
    on_cuda = [op for op in sorted(defined) if _CUDA.search(torch._C._dispatch_dump(op))]
    if on_cuda:
        fail(
            f"{package} registers kernels for CUDA ({on_cuda[0]} and {len(on_cuda) - 1} more), and none for PrivateUse1",
            "--from is for a backend of a device outside PyTorch; `openreg-gen lint-cuda DIR` finds what ties code to CUDA",
        )
    others = [each for each in device.backends() if each != package]
    fail(
        f"{package} registers nothing for PrivateUse1",
        f"name the module that loads the backend's library{': ' + ', '.join(others) if others else ''}; "
        "`openreg-gen audit --import PACKAGE` shows what a module registers",
    )


def custom_operators(defined: set[str], registered: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Operators that the package defines: their schemas, the keys at which it has kernels, and where they were defined."""
    rows = []
    keys: dict[str, set[str]] = {}
    for each in registered:
        keys.setdefault(each["op"], set()).add(each["key"])
    for op in sorted(defined):
        base, _, overload = op.partition(".")
        found = _DEBUG.search(torch._C._dispatch_dump(op))
        place = dispatcher.place_of(found["place"]) if found else dispatcher.Place("", 0)
        of_torch = "/pytorch/" in place.file or place.file.startswith(os.path.dirname(torch.__file__) + os.sep)
        if op in keys or (place.file and not of_torch):
            schema = str(torch._C._get_schema(base, overload))
            rows.append(
                {"op": op, "schema": schema, "keys": sorted(keys.get(op, ())), "file": place.file, "line": place.line}
            )
    return rows


def amp_dtypes(module: Any) -> list[str]:
    """The dtypes of autocast that the backend reports; empty if it reports none."""
    try:
        return [str(each).removeprefix("torch.") for each in module.get_amp_supported_dtype()]
    except Exception:  # foreign code, which may not have it
        return []


def read(package: str, timeout: float, calls: bool) -> dict[str, Any]:
    begin = time.monotonic()
    kind = torch._C._get_privateuse1_backend_name()
    before = {(each.op, each.key) for each in dispatcher.registrations(kind, dispatcher.all_operators())}
    defined = import_backend(package)
    kind = torch._C._get_privateuse1_backend_name()
    own = own_registrations(kind, before)
    if not own:
        refuse(package, defined)
    found = document.of_dispatcher(kind, package)
    found["registrations"] = [row for row in found["registrations"] if (row["op"], row["key"]) in own]
    interfaces: list[dict[str, str]] = []
    if calls:
        probes = {probe.name: probe for probe in all_probes()}
        jobs = children.Jobs("probes", kind, package, children.Limits(job=timeout))
        results = children.run(jobs, list(probes))
        interfaces = document.of_probes(kind, [(probes[each.name], outcome(each)) for each in results])
    module = device.module(kind)
    return {
        **found,
        "interfaces": interfaces,
        "dtypes": [],
        "deaths": [],
        "seconds": round(time.monotonic() - begin, 1),
        "adopt": {
            "import": package,
            "folder": os.path.dirname(getattr(sys.modules[package], "__file__", None) or ""),
            "module": getattr(module, "__name__", ""),
            "amp_dtypes": amp_dtypes(module),
            "custom": custom_operators(defined, found["registrations"]),
        },
    }


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    try:
        found = read(given.package, given.timeout, not given.no_calls)
    except children.ChildError as error:
        text, _, rest = str(error).partition(": ")
        fail(text, rest, Exit.ENVIRONMENT)
    pathlib.Path(given.json).write_text(document.text_of(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
