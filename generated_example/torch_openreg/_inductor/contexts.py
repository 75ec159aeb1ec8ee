# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Dynamo's support of `with torch.openreg.device(i)`."""

from torch._dynamo.variables.ctx_manager import GenericDeviceVariable, register_device_context_manager

from .. import _C, backend
from ..backend._utils import _get_device_index


class _Device(GenericDeviceVariable):
    """`with torch.openreg.device(i)` in a graph: switches the device, and restores it."""

    _exchange_fn = staticmethod(_C._exchange_device)
    _maybe_exchange_fn = staticmethod(_C._exchange_device)  # -1 changes nothing
    _get_device_index_fn = staticmethod(_get_device_index)

    def module_name(self) -> str:
        return "torch.openreg"

    def python_type(self) -> type:
        return backend.device


def register() -> None:
    """Tell Dynamo of it."""
    register_device_context_manager(backend.device, _Device)
