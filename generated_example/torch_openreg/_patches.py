# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Replaces functions of PyTorch that compare the device with a fixed list which can't be extended.

Each replacement asks whether a tensor is on device "openreg" and otherwise calls the original; _inductor/rng.py has one more.
"""

from enum import IntEnum

import torch
from torch.overrides import has_torch_function_unary
from torch.utils.dlpack import DLDeviceType

from . import _patch_convolutions


def register() -> None:
    _replace_dlpack_device()
    _patch_convolutions.register()


def _replace_dlpack_device() -> None:
    """Make torch.from_dlpack(x) work: Tensor.__dlpack_device__ knows the backend only by the name "privateuse1"."""
    original = torch.Tensor.__dlpack_device__

    def __dlpack_device__(self: torch.Tensor) -> tuple[IntEnum, int]:
        if has_torch_function_unary(self) or self.device.type != "openreg":
            return original(self)
        return DLDeviceType.kDLExtDev, self.device.index

    torch.Tensor.__dlpack_device__ = __dlpack_device__
