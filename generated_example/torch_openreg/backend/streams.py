# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Streams and events. torch.Stream and torch.Event do the work, through the device guard."""

from typing import Any

import torch

from .. import _C
from ._utils import Device, _get_device_index
from .device import current_device


class Stream(torch.Stream):
    """A queue of work that a device does in order, of high `priority` if that is below 0; stream_id, device_index and
    device_type name an existing stream instead."""

    def __new__(cls, device: Device = None, priority: int = 0, **kwargs: Any) -> "Stream":
        if kwargs:
            return super().__new__(cls, **kwargs)
        where = torch.device("openreg", _get_device_index(device, optional=True))
        return super().__new__(cls, device=where, priority=priority)

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        """Record `event`, or a new one, after the work queued so far, and return it."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event


class _EventMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        if cls is Event and isinstance(instance, torch.Event):
            return instance.device.type == "openreg"
        return super().__instancecheck__(instance)


class Event(torch.Event, metaclass=_EventMeta):
    """A point in a stream's work, to wait for or, with `enable_timing`, to measure from, in milliseconds.

    What is made is a torch.Event of the device, and each such is an instance: torch.Event.elapsed_time() takes no event of
    a class derived from it. `blocking` is a hint that synchronize() should not spin; `interprocess` has no effect.
    """

    def __new__(
        cls,
        device: Device = None,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> torch.Event:
        return torch.Event.__new__(
            torch.Event if cls is Event else cls,
            device=torch.device("openreg", _get_device_index(device, optional=True)),
            enable_timing=enable_timing,
            blocking=blocking,
            interprocess=interprocess,
        )


class StreamContext:
    """Context manager that makes a stream current, on its device, and restores stream and device. See stream()."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> torch.Stream | None:
        if self.stream is not None:
            self.previous_device = current_device()
            self.previous_stream = current_stream(self.stream.device)
            try:
                set_stream(self.stream)
            except BaseException:
                self.__exit__()
                raise
        return self.stream

    def __exit__(self, *exc_info: object) -> None:
        if self.stream is not None:
            _C._restore_stream(self.previous_stream.stream_id, self.previous_stream.device_index)
            _C._restore_device(self.previous_device)


def stream(stream: torch.Stream | None) -> StreamContext:
    """`with torch.openreg.stream(s):` queues the work of the block on `s`; None changes nothing."""
    return StreamContext(stream)


def _wrap(stream: torch.Stream, stream_id: int) -> Stream:
    return Stream(stream_id=stream_id, device_index=stream.device_index, device_type=stream.device_type)


def current_stream(device: Device = None) -> Stream:
    """The calling thread's current stream of `device`."""
    stream = torch.accelerator.current_stream(_get_device_index(device, optional=True))
    return _wrap(stream, stream.stream_id)


def default_stream(device: Device = None) -> Stream:
    """The default stream of `device`: the one that is current until another is made so."""
    return _wrap(torch.accelerator.current_stream(_get_device_index(device, optional=True)), 0)


def set_stream(stream: torch.Stream | None) -> None:
    """Make `stream` the calling thread's current one, and its device the current device; None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)
