# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Devices as users write them, turned into indices."""

import torch

from .. import _C

Device = torch.device | str | int | None


def _get_device_index(device: Device, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index of `device`, for torch.load and the functions of torch.openreg.

    Args:
        device: an index, "openreg", "openreg:0", a torch.device, or None.
        optional: whether a device without an index (or None) means the current one.
        allow_cpu: whether the CPU is a valid answer, as -1.

    Raises:
        ValueError: it is no device of this backend, or has no index where one is needed.
    """
    if isinstance(device, int):
        return device
    if device is not None:
        device = torch.device(device)
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type != "openreg":
            raise ValueError(f"expected a device of type 'openreg', got {device}")
        if device.index is not None:
            return device.index
    if not optional:
        raise ValueError(f"expected a device of type 'openreg' with an index, got {device}")
    return _C._current_device()
