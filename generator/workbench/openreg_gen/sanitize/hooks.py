"""The trace hooks of a backend: what streams, events and memory do.

PyTorch calls `torch.NAME._gpu_trace.EventRecordCallbacks.fire_callbacks(event, stream)` and the like for each backend that calls
c10::impl::GPUTrace. The numbers that the hooks pass are the backend's choice. Understood are:

    streams   c10::Stream::hash(), or the native handle as torch.Stream.native_handle gives it
    events    any number that isn't used twice at a time; an event that has the address of a block, and that was not created, is
              record_stream()
    memory    the address of each storage's memory, also if a cache provides it

`_gpu_trace.FREE_WAITS = True` says that memory is freed only when the device has nothing left to do.
"""

import importlib
from collections.abc import Callable
from types import ModuleType

import torch

from .. import device
from .clocks import Stream

NAMES = (
    "EventRecord",
    "EventWait",
    "EventSynchronization",
    "StreamSynchronization",
    "DeviceSynchronization",
    "MemoryAllocation",
)  # must be there; EventCreation, EventDeletion, StreamCreation and MemoryDeallocation may


class HooksError(device.DeviceError):
    """The backend doesn't call the hooks; the text says what it needs."""


def module_of(kind: str) -> ModuleType:
    """torch.NAME._gpu_trace. Raises HooksError if the backend has none, or one without a callback that is needed."""
    if kind == "cpu":
        raise HooksError("the CPU has no streams: name a backend's device")
    try:
        found = importlib.import_module(f"torch.{kind}._gpu_trace")
    except ImportError as error:
        raise HooksError(
            f"the backend of {kind!r} calls no trace hooks, so nothing is known of its streams and its memory\n"
            "hint: in a tree of openreg-gen: `openreg-gen generate`, then `openreg-gen add component sanitizer`, then build it; a backend written by hand calls "
            f"c10::impl::GPUTrace where streams, events and memory change, and provides torch.{kind}._gpu_trace: see "
            "docs/reference/workbench.md"
        ) from error
    missing = [name for name in NAMES if not hasattr(found, f"{name}Callbacks")]
    if missing:
        raise HooksError(f"torch.{kind}._gpu_trace has no {', '.join(f'{name}Callbacks' for name in missing)}")
    return found


class Listener:
    """Callbacks of a backend's hooks, by the names in NAMES."""

    def __init__(self, module: ModuleType, callbacks: dict[str, Callable[..., None]]) -> None:
        found = ((getattr(module, f"{name}Callbacks", None), callback) for name, callback in callbacks.items())
        self._lists = [(registry, callback) for registry, callback in found if registry is not None]

    def open(self) -> None:
        torch._C._activate_gpu_trace()  # for the rest of the process
        for registry, callback in self._lists:
            registry.add_callback(callback)

    def close(self) -> None:
        for registry, callback in self._lists:
            if callback in registry.callback_list:
                registry.callback_list.remove(callback)


class Streams:
    """The streams of a device type: the current one, and that of a hook's number."""

    def __init__(self) -> None:
        self._seen: dict[int, Stream] = {}

    def current(self, index: int) -> tuple[Stream, torch.Stream]:
        stream = torch.accelerator.current_stream(index)
        key = Stream(stream.device_index, stream.stream_id)
        handle = getattr(stream, "native_handle", None)
        if isinstance(handle, int) and handle and handle not in self._seen:
            self._seen[handle] = key
        return key, stream

    def numbered(self, number: int) -> Stream:
        if number >> 56:  # a hash begins with the device type
            index, id = number >> 48 & 0xFF, number & 0xFFFF_FFFF_FFFF
            return Stream(index, id - (1 << 48) if id >> 47 else id)
        if number == 0:  # the default stream's handle
            return Stream(torch.accelerator.current_device_index(), 0)
        return self._seen.setdefault(number, Stream(0, number))
