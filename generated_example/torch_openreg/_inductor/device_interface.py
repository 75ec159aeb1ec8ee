# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""The interface of Dynamo and Inductor to a device: streams, events, contexts, properties."""

from typing import Any

import torch
from torch._dynamo.device_interface import DeviceInterface, register_interface_for_device

from .. import _C, backend
from ..backend._utils import _get_device_index


class Interface(DeviceInterface):
    """torch.openreg, under the names that PyTorch's compiler uses."""

    device = backend.device
    Event = backend.Event
    Stream = backend.Stream

    class Worker:
        """For processes that only compile: they see the device as the process that started them."""

        _current: int | None = None

        @classmethod
        def set_device(cls, device: int) -> None:
            cls._current = device

        @classmethod
        def current_device(cls) -> int:
            return backend.current_device() if cls._current is None else cls._current

        @staticmethod
        def get_device_properties(device: torch.types.Device = None) -> Any:
            return backend.get_device_properties(device)

    current_device = staticmethod(backend.current_device)
    set_device = staticmethod(backend.set_device)
    device_count = staticmethod(backend.device_count)
    is_available = staticmethod(backend.is_available)
    stream = staticmethod(backend.stream)
    current_stream = staticmethod(backend.current_stream)
    set_stream = staticmethod(backend.set_stream)
    synchronize = staticmethod(backend.synchronize)
    get_device_properties = staticmethod(backend.get_device_properties)
    memory_allocated = staticmethod(backend.memory_allocated)
    exchange_device = staticmethod(_C._exchange_device)
    maybe_exchange_device = staticmethod(_C._exchange_device)  # -1 changes nothing

    @staticmethod
    def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
        backend.set_stream(backend.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type))

    @staticmethod
    def get_raw_stream(device_idx: int) -> int:
        return _C._stream_handle(backend.current_stream(device_idx).stream_id, device_idx)

    @staticmethod
    def get_compute_capability(device: torch.types.Device = None) -> str:
        major, minor = backend.get_device_capability(_get_device_index(device, optional=True))
        return f"{major}.{minor}"

    @staticmethod
    def is_bf16_supported(including_emulation: bool = False) -> bool:
        return backend.is_bf16_supported()


def register() -> None:
    """Register the device with Dynamo, also with each index."""
    register_interface_for_device("openreg", Interface)
    for index in range(backend.device_count()):
        register_interface_for_device(f"openreg:{index}", Interface)
