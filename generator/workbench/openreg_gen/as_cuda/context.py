"""Turns the translation on and off."""

import functools
import multiprocessing.spawn
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch

from .. import device as devices
from ..collectives import library_of
from .mode import CudaMode
from .patches import Patches, patch_distributed, patch_load, patch_torch, patch_torch_cuda, restore_location
from .source import patch_sources

_state: dict[str, str] = {}


@contextmanager
def as_cuda(name: str, package: str | None = None, folder: str | Path | None = None) -> Iterator[None]:
    """Run code that says "cuda" on a device. Threads and processes that start inside do so too.

    name: the backend's device type.
    package: a module to import first, for a backend that `import torch` doesn't load.
    folder: scripts and modules there see "cuda" where they compare a device's type with it.

    Raises openreg_gen.device.DeviceError if there is no such backend or PyTorch has CUDA, and RuntimeError if this is on already.
    """
    kind = devices.find_device(name, package)
    if kind == "cpu":
        raise devices.DeviceError("cpu can't stand in for cuda: name a backend's device")
    if torch.backends.cuda.is_built():
        raise devices.DeviceError("this PyTorch has CUDA; install the CPU's build, with which the backend was compiled")
    if _state:
        raise RuntimeError(f"as_cuda is already on, for {_state['kind']!r}")
    with ExitStack() as stack:
        patches = Patches()
        stack.callback(patches.undo)
        stack.callback(_state.clear)
        _state["kind"] = kind
        patch_torch_cuda(patches, kind)
        patch_torch(patches, kind)
        patch_load(patches, kind)
        patch_distributed(patches, kind)
        _patch_threads(patches, kind, package, folder)
        if folder is not None:
            stack.callback(patch_sources(patches, kind, library_of(kind)[0], Path(folder)))
        package_of = (1, lambda obj: None, functools.partial(restore_location, kind=kind))
        registry = torch.serialization._package_registry
        registry.insert(0, package_of)
        stack.callback(registry.remove, package_of)
        with CudaMode(kind):
            yield


def _patch_threads(patches: Patches, kind: str, package: str | None, folder: str | Path | None) -> None:
    """A mode belongs to a thread; children that are forked have it, those that are spawned turn it on first of all."""

    def start_of(real: Any) -> Any:
        def start(self: threading.Thread) -> None:
            run = self.run

            def run_in_mode() -> None:
                with CudaMode(kind):
                    run()

            self.run = run_in_mode  # type: ignore[method-assign]
            real(self)

        return start

    def preparation_of(real: Any) -> Any:
        def get_preparation_data(name: str) -> dict[str, Any]:
            return {**real(name), "as_cuda": _Child(kind, package, folder)}

        return get_preparation_data

    def backward_of(real: Any) -> Any:
        # Functions that PyTorch lets a mode see run without it, backward too: and with it hooks, Function.backward and
        # forward passes that are repeated, which are the script's code.
        def run_backward(*args: Any, **kwargs: Any) -> Any:
            with CudaMode(kind):
                return real(*args, **kwargs)

        return run_backward

    for place in (torch.autograd, torch.autograd.graph):
        patches.wrap(place, "_engine_run_backward", backward_of)
    patches.wrap(threading.Thread, "start", start_of)
    patches.wrap(multiprocessing.spawn, "get_preparation_data", preparation_of)


class _Child:
    """Is pickled into what a spawned process reads first, and turns the translation on when that process unpickles it."""

    def __init__(self, *words: Any) -> None:
        self._words = words

    def __reduce__(self) -> Any:
        return _start_in_child, self._words


_forever = ExitStack()


def _start_in_child(kind: str, package: str | None, folder: str | Path | None) -> None:
    _forever.enter_context(as_cuda(kind, package, folder))
