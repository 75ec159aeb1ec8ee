# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Devices: how many, which one is current, what they are."""

from dataclasses import dataclass
from typing import Any

import torch

from .. import _C
from ._utils import Device, _get_device_index


@dataclass(frozen=True)
class DeviceProperties:
    """A device's properties, from its driver."""

    name: str
    total_memory: int  # bytes
    multi_processor_count: int
    major: int  # compute capability
    minor: int
    host_accessible: bool  # whether code of the host runs on the device's own memory


def device_count() -> int:
    """The number of devices; 0 if there is none or the driver can't be used. Doesn't use a device."""
    return _C._device_count()


def is_available() -> bool:
    """Whether there is a device. Doesn't use one, so it is safe before fork()."""
    return device_count() > 0


def current_device() -> int:
    """The index of the calling thread's device."""
    return _C._current_device()


def set_device(device: Device) -> None:
    """Make `device` the calling thread's current device; -1 changes nothing. Prefer `with torch.openreg.device(i):`."""
    index = _get_device_index(device, optional=True)
    if index != -1:
        _C._set_device(index)


def synchronize(device: Device = None) -> None:
    """Wait until all streams of `device` are idle."""
    _C._synchronize(_get_device_index(device, optional=True))


def get_device_properties(device: Device = None) -> DeviceProperties:
    """The properties of `device`, from its driver; a RuntimeError if there is no such device."""
    return DeviceProperties(**_C._device_properties(_get_device_index(device, optional=True)))


def get_device_name(device: Device = None) -> str:
    """The name the driver gives `device`."""
    return get_device_properties(device).name


class device:
    """Context manager that makes a device the calling thread's current one, and restores the previous one.

    torch.load and checkpointing use it. None and -1 change nothing.
    """

    def __init__(self, device: Device) -> None:
        self.idx = -1 if device is None else _get_device_index(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _C._exchange_device(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        _C._restore_device(self.prev_idx)


class device_of(device):
    """`device`, of a tensor or storage; changes nothing if that is on another backend's device."""

    def __init__(self, obj: Any) -> None:
        where: torch.device = obj.device
        super().__init__(where if where.type == "openreg" else -1)
