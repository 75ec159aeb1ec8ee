# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""The capabilities of a device."""

from .. import _C
from ._utils import Device, _get_device_index
from .device import get_device_properties


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """Compute capability, (major, minor). The supported dtypes: torch.accelerator.get_device_capability."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    """Whether kernels on `device` can reach the memory of `peer_device`. A device is not its own peer."""
    return _C._can_device_access_peer(
        _get_device_index(device, optional=True),
        _get_device_index(peer_device, optional=True),
    )
