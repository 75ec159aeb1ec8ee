"""The device that a tool examines: found by its name, loaded, and refused with what to do about it."""

import argparse
import importlib
import os
import sys
from importlib.metadata import entry_points, packages_distributions, version
from typing import Any

import torch


class DeviceError(Exception):
    """A device that can't be examined; the text says what to do about it."""


def backends() -> list[str]:
    """Packages of this environment that bring a backend to PyTorch, by the entry points that `import torch` loads."""
    return sorted({point.dist.name if point.dist else point.value for point in entry_points(group="torch.backends")})


def versions(kind: str, package: str | None = None) -> dict[str, str]:
    """The version of the package that brought a device, by the package's name. Empty if it isn't known.

    package: the module that was imported for it, if any. Otherwise, it is the package of the device's module.
    """
    found = module(kind)
    if kind == "cpu" or found is None:
        return {}
    name = package or getattr(found, "__name__", "") or type(found).__module__
    top = name.partition(".")[0]
    listed = sorted(set(packages_distributions().get(top, ())) - {"torch"})
    if listed:
        return {each: version(each) for each in listed}
    points = [point for point in entry_points(group="torch.backends") if point.dist is not None]
    brought = [point.dist for point in points if point.value.partition(":")[0].partition(".")[0] == top and point.dist]
    if brought:  # one that is installed in place, whose files its metadata does not list
        return {each.name: each.version for each in brought}
    said = getattr(sys.modules.get(top), "__version__", None)
    return {top: str(said)} if said is not None else {top: "without a version"} if package else {}


def current() -> str | None:
    """The name of the PrivateUse1 backend that is loaded; None if there is none."""
    name = torch._C._get_privateuse1_backend_name()
    return name if name != "privateuseone" or hasattr(torch, name) else None


def find_device(name: str | None, package: str | None = None) -> str:
    """Make sure that the backend of `name` is loaded, and return its type. The device itself is not asked yet, so a child
    that is forked later may still use it.

    name: "cpu", or what the backend gave to torch.utils.rename_privateuse1_backend(); an index ("mine:1") is left out. None: the
    backend that is loaded.
    package: a module to import first, for a backend that has no entry point in the group "torch.backends".

    Raises DeviceError if there is no such backend in the environment. A backend that is loaded stays so: a process holds one
    PrivateUse1 backend at most.
    """
    if package is not None:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise DeviceError(f"{package}: can't be imported by {sys.executable}: {error}{_other_python()}") from error
    kind = name.partition(":")[0] if name is not None else current()
    if kind is None:
        raise DeviceError(f"no backend is loaded in {sys.executable}: {_what_there_is()}{_other_python()}")
    if kind not in ("cpu", current()):
        raise DeviceError(f"no device {kind!r} in {sys.executable}: {_what_there_is()}{_other_python()}")
    return kind


def open_device(name: str | None, package: str | None = None) -> str:
    """Make sure that tensors can be made on `name`, and return its type. Arguments and errors are those of find_device();
    DeviceError is also raised if the device does not answer.
    """
    kind = find_device(name, package)
    try:
        torch.empty(1, device=kind)
    except Exception as error:  # foreign code: whatever it throws
        raise DeviceError(f"device {kind!r} makes no tensor: {first_line(error)}") from error
    return kind


def first_line(error: BaseException) -> str:
    """The beginning of an error's text, where its cause is: advice, lists and stacks follow it."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)[:400]


def is_opaque(kind: str) -> bool:
    """Whether tensors of a device have no storage that PyTorch can access: an array library holds their memory."""
    return kind != "cpu" and storage_of(torch.empty(1, device=kind)) is None


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """The tensor's storage; None where it has none, or none that can be accessed, or one that can't hold its elements."""
    try:
        storage = tensor.untyped_storage()
        return None if storage.nbytes() == 0 and tensor.numel() > 0 else storage
    except (NotImplementedError, RuntimeError):
        return None


def _what_there_is() -> str:
    there, packages = current(), backends()
    if there is not None:
        return f"the PrivateUse1 backend that is loaded is {there!r}; try --device {there}"
    if packages:
        return (
            f"{', '.join(packages)} did not register one when torch was imported; is TORCH_DEVICE_BACKEND_AUTOLOAD=0 set? A backend"
            " that torch doesn't load by itself needs --import PACKAGE"
        )
    return "no backend is installed; install one, or name the module that registers it: --import PACKAGE"


def _other_python() -> str:
    """How to choose another Python, if it was `openreg-gen` that chose this one."""
    return "; OPENREG_GEN_PYTHON names another Python" if "OPENREG_GEN_COMMAND" in os.environ else ""


def module(kind: str) -> Any | None:
    """`torch.NAME`, which PyTorch calls the device's module, though it takes any object; None where the backend registered none."""
    return getattr(torch, kind, None)


def count(kind: str) -> int:
    """How many devices there are of a type; 1 for the CPU, and for a backend that does not say."""
    counted = getattr(module(kind), "device_count", None)
    return 1 if counted is None else int(counted())


def wait_for_all(kind: str) -> None:
    """Waits for the devices of a type, if the backend has been used and has a function for that. Raises what they report late."""
    functions = module(kind)
    wait = getattr(functions, "synchronize", None)
    if wait is None or not getattr(functions, "is_initialized", lambda: True)():
        return
    for index in range(count(kind)):
        wait(torch.device(kind, index))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--device` and `--import`, as all tools take them."""
    parser.add_argument(
        "--device",
        metavar="NAME",
        help="the backend's device type, or cpu; default: that of the backend that is loaded",
    )
    parser.add_argument(
        "--import",
        dest="package",
        metavar="PACKAGE",
        help="a module to import first; a backend that `import torch` loads by itself needs none",
    )
