"""Replaces names for a while: of torch.cuda by the table, and of the few functions that no TorchFunctionMode sees."""

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from .. import device as devices
from ..collectives import library_of
from ..cuda_names import ROWS, Row, is_cuda, translated
from .mode import on_device, translate
from .substitutes import refused_type, stand_in, substitutes

_ABSENT = object()
# torch.compile makes calls of the function that it traces, and repeats them to find out whether the result is still right.
_SCRIPTS_CALLS = ("torch._dynamo.variables.", "torch._dynamo.guards", "torch._dynamo.source")


class Patches:
    """Attributes that are replaced, with what they were."""

    def __init__(self) -> None:
        self._were: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace `owner.name`, which may be missing."""
        self._were.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, names: str, wrapper: Callable[[Any], Any]) -> None:
        """Replace functions by what `wrapper` makes of each; names that are missing are passed over."""
        for name in names.split():
            if name in vars(owner):
                real = vars(owner)[name]
                self.set(owner, name, functools.wraps(real)(wrapper(real)))

    def undo(self) -> None:
        """Put everything back, last first."""
        for owner, name, value in reversed(self._were):
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        self._were.clear()


def _why_not(name: str, row: Row, kind: str) -> str:
    said = f"torch.cuda.{name} doesn't work on {kind!r}"
    if row.runs.startswith("raises "):
        return f"{said}: {row.runs.removeprefix('raises ')}; instead: {row.write}"
    if row.write.startswith("torch.get_device_module()"):
        return f"{said}: torch.{kind} has no such name; the backend has to provide it"
    return f"{said}: torch.{kind} has no such name; instead: {row.write}"


def _raiser(name: str, row: Row, kind: str, real: Any) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(_why_not(name, row, kind))

    return refused_type(real, refuse) if isinstance(real, type) else functools.wraps(real)(refuse)


def _target(row: Row, kind: str) -> Any:
    """What "device X, accelerator Y" names; _ABSENT if neither is there."""
    for place in row.runs.split(", "):
        where, name = place.split()
        found = getattr(devices.module(kind) if where == "device" else torch.accelerator, name, _ABSENT)
        if found is not _ABSENT:
            return found
    return _ABSENT


def _replacement(name: str, row: Row, kind: str, own: dict[str, Any], real: Any) -> Any:
    if row.runs.startswith("here "):
        return own[row.runs.split()[1]]
    if row.runs.startswith("raises "):
        return _raiser(name, row, kind, real)
    if row.runs.startswith("constant "):
        value: Any = {"None": None, "False": False, "True": True, "0": 0, "[]": [], "''": ""}[row.runs.split()[1]]
        return (lambda *_, **__: value) if callable(real) else value
    found = _target(row, kind)
    if found is _ABSENT:
        return _raiser(name, row, kind, real)
    return found if isinstance(found, type) or not callable(found) else _translating(kind)(found)


def _unless_pytorch_calls(real: Any, ours: Any) -> Any:
    """`ours`; for callers in PyTorch itself `real`, so that they don't take CUDA's paths."""

    @functools.wraps(real)
    def function(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        inside = caller == "torch" or (caller.startswith("torch.") and not caller.startswith(_SCRIPTS_CALLS))
        return (real if inside else ours)(*args, **kwargs)

    return function


def _translating(kind: str) -> Callable[[Any], Any]:
    """Makes a function take "cuda" for the device, as any of its arguments."""

    def wrapper(real: Any) -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            given = {name: translate(value, kind) for name, value in kwargs.items()}
            return real(*(translate(value, kind) for value in args), **given)

        return function

    return wrapper


def patch_torch_cuda(patches: Patches, kind: str) -> None:
    """Make the names of torch.cuda, there and in its submodules, what the table says."""
    own = substitutes(kind)
    places = [torch.cuda, *(value for value in vars(torch.cuda).values() if _is_part(value))]
    for name, row in ROWS.items():
        real = vars(torch.cuda).get(name, _ABSENT)
        if row.runs == "same" or real is _ABSENT:
            continue
        ours = _replacement(name, row, kind, own, real)
        if callable(real) and not isinstance(real, type):
            ours = _unless_pytorch_calls(real, ours)
        for place in places:
            if vars(place).get(name, _ABSENT) is real:
                patches.set(place, name, ours)
    _submodules(patches, own)


def _submodules(patches: Patches, own: dict[str, Any]) -> None:
    """torch.cuda.nvtx and the like, for those who say `from torch.cuda.nvtx import range`."""
    for name in ("nvtx", "profiler", "nccl"):
        for part, value in vars(own[name]).items():
            patches.set(sys.modules[f"torch.cuda.{name}"], part, value)


def _is_part(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.startswith("torch.cuda.")


def patch_torch(patches: Patches, kind: str) -> None:
    """Replace what a TorchFunctionMode doesn't see: types of C++, and classes and functions of Python that take a device's type."""
    translating = _translating(kind)
    for name in ("Generator", "Stream", "Event"):
        real = getattr(torch, name)
        patches.set(torch, name, stand_in(real, translating(real)))
    patches.wrap(torch, "is_autocast_enabled set_autocast_enabled", functools.partial(_cuda_by_default, kind=kind))
    patches.wrap(torch, "get_autocast_dtype set_autocast_dtype", translating)
    patches.wrap(torch, "get_autocast_gpu_dtype", lambda real: lambda: torch.get_autocast_dtype(kind))
    patches.wrap(torch, "set_default_tensor_type", functools.partial(_default_type, kind=kind))
    patches.wrap(torch.amp.autocast_mode, "is_autocast_available", translating)
    patches.wrap(torch.amp, "is_autocast_available custom_fwd custom_bwd", translating)
    patches.wrap(torch.amp.autocast_mode.autocast, "__init__", translating)
    patches.wrap(torch.amp.GradScaler, "__init__", functools.partial(_scaler, kind=kind))
    patches.wrap(torch.random, "fork_rng", functools.partial(_fork_rng, kind=kind))
    patches.wrap(torch.nested, "nested_tensor as_nested_tensor", translating)
    for storage in (torch.storage._StorageBase, torch.storage.TypedStorage):
        patches.wrap(
            storage,
            "cuda",
            lambda real: (
                lambda self, device=None, non_blocking=False: self.to(
                    device=on_device(device, kind), non_blocking=non_blocking
                )
            ),
        )
    for owner in (torch.UntypedStorage, torch.storage.TypedStorage):
        patches.set(owner, "is_cuda", property(lambda self: self.device.type == kind))
    patches.wrap(torch.profiler.profile, "__init__", functools.partial(_profile, kind=kind))
    patches.wrap(torch.autograd.profiler.profile, "__init__", functools.partial(_old_profile, kind=kind))


def patch_load(patches: Patches, kind: str) -> None:
    """Make torch.load take what was saved on CUDA, and what was saved here when map_location says "cuda"."""

    def of(real: Any) -> Any:
        def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
            if isinstance(map_location, dict):
                moved = {translate(name, kind): to for name, to in map_location.items()}
                map_location = {**moved, **map_location}
            return real(f, map_location, *args, **kwargs)

        return load

    for place in (torch, torch.serialization):
        patches.wrap(place, "load", of)


def _cuda_by_default(real: Any, kind: str) -> Any:
    """torch.is_autocast_enabled() and set_autocast_enabled(True) mean CUDA."""

    def function(*args: Any) -> Any:
        device = [] if args and isinstance(args[0], str) else [kind]
        return real(*device, *(translate(value, kind) for value in args))

    return function


def _default_type(real: Any, kind: str) -> Any:
    def function(t: Any) -> None:
        name = t if isinstance(t, str) else f"{getattr(t, '__module__', '')}.{getattr(t, '__name__', '')}"
        if not name.startswith("torch.cuda."):
            return real(t)
        real(f"torch.{name.rpartition('.')[2]}")
        torch.set_default_device(kind)
        return None

    return function


def _scaler(real: Any, kind: str) -> Any:
    def function(self: Any, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
        real(self, translate(device, kind), *args, **kwargs)

    return function


def _fork_rng(real: Any, kind: str) -> Any:
    def function(
        devices: Any = None, enabled: bool = True, *args: Any, device_type: str = "cuda", **kwargs: Any
    ) -> Any:
        return real(devices, enabled, *args, device_type=translate(device_type, kind), **kwargs)

    return function


def _profile(real: Any, kind: str) -> Any:
    activity = torch.profiler.ProfilerActivity

    def function(self: Any, *, activities: Any = None, use_cuda: bool | None = None, **kwargs: Any) -> None:
        if activities is not None or use_cuda:
            said = {activity.CPU} if activities is None else set(activities)
            if use_cuda or activity.CUDA in said:
                said = (said - {activity.CUDA}) | {activity.PrivateUse1}
            activities = said
        real(self, activities=activities, **kwargs)

    return function


def _old_profile(real: Any, kind: str) -> Any:
    def function(
        self: Any, enabled: bool = True, *, use_cuda: bool = False, use_device: Any = None, **kwargs: Any
    ) -> None:
        real(self, enabled, use_device=kind if use_cuda else translate(use_device, kind), **kwargs)

    return function


def patch_distributed(patches: Patches, kind: str) -> None:
    """Make "nccl" the library of the backend."""
    if not torch.distributed.is_available():
        return
    import torch.distributed.device_mesh as mesh
    import torch.distributed.distributed_c10d as c10d

    own, why = library_of(kind)

    def library(name: Any) -> Any:
        parts = [part.rpartition(":") for part in name.split(",")] if isinstance(name, str) else []
        if all(part[2] != "nccl" for part in parts):
            return name
        if own is None:
            raise NotImplementedError(f"'nccl' doesn't work on {kind!r}: {why}; 'gloo' moves tensors of the CPU")
        named = ((translate(device, kind) + colon, own if what == "nccl" else what) for device, colon, what in parts)
        return ",".join(map("".join, named))

    def taking(real: Any) -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            # The backend is the first argument of init_process_group() and the third of new_group().
            given = [library(value) for value in args]
            if "backend" in kwargs:
                kwargs["backend"] = library(kwargs["backend"])
            return real(*given, **kwargs)

        return function

    for place in (torch.distributed, c10d):
        patches.wrap(place, "init_process_group new_group is_backend_available", taking)
        patches.wrap(place, "is_nccl_available", lambda real: lambda: own is not None)
        patches.wrap(place, "get_default_backend_for_device", _translating(kind))
    for place in (torch.distributed, mesh):
        patches.wrap(place, "init_device_mesh", _translating(kind))
    patches.wrap(mesh.DeviceMesh, "__init__", _translating(kind))


def restore_location(obj: Any, location: str, kind: str) -> Any:
    """torch.load's deserializer of what was saved on CUDA, or is mapped there."""
    if is_cuda(location):
        return torch.serialization.default_restore_location(obj, translated(location, kind))
    return None
