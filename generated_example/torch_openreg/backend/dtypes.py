# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `amp` in the spec changes it, then `openreg-gen generate`.
"""Dtypes that the device supports, and those that autocast may compute in. PyTorch reads both, with or without autocast."""

import torch

from ._utils import Device, _get_device_index
from .device import is_available


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes torch.autocast may compute in, from key `amp.dtypes` of the spec."""
    return [
        torch.float16,
        torch.bfloat16,
    ]


def is_bf16_supported(device: Device = None) -> bool:
    """Whether `device` holds bfloat16 tensors; False without a device."""
    if not is_available():
        return False
    capability = torch.accelerator.get_device_capability(_get_device_index(device, optional=True))
    return torch.bfloat16 in capability["supported_dtypes"]
