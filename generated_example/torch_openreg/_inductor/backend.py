# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Registers the device with Inductor. Code generators are imported when Inductor needs them."""

from typing import Any

from torch._inductor.codegen.common import (
    DeviceOpOverrides,
    register_backend_for_device,
    register_device_op_overrides,
)


class _Overrides(DeviceOpOverrides):
    """Expressions for generated Python code."""

    def import_get_raw_stream_as(self, name: str) -> str:
        return f"from torch_openreg._inductor.launch import get_raw_stream as {name}"

    def set_device(self, device_idx: int) -> str:
        return f"torch.openreg.set_device({device_idx})"

    def synchronize(self) -> str:
        return "torch.openreg.synchronize()"

    def device_guard(self, device_idx: int) -> str:
        return f"torch.openreg.device({device_idx})"

    def current_stream(self) -> str:
        return "torch.openreg.current_stream()"

    def stream_handle(self, stream_name: str) -> str:
        return f"{stream_name}.native_handle"


class _Wrapper:
    """The wrapper that calls the kernels, imported on first use."""

    supports_caching = True

    @staticmethod
    def create(*args: Any) -> Any:
        from .wrapper import create

        return create(*args)


class _CppWrapper:
    """A placeholder for Inductor's C++ wrapper."""

    supports_caching = False

    @staticmethod
    def create(*args: Any) -> Any:
        raise NotImplementedError(
            "openreg has no C++ wrapper: neither torch._inductor.config.cpp_wrapper nor AOTInductor (aoti_compile_and_package) "
            "can compile for it. Use torch.compile as it is, or torch.export and torch.compile of the exported module."
        )


class _Scheduling:
    """Chooses kernels. Inductor needs a class here."""

    def __new__(cls, scheduler: Any) -> Any:
        from .scheduling import scheduling_for

        return scheduling_for(scheduler)


def register() -> None:
    """Register the device's code generation with Inductor."""
    from .settings import Settings

    register_device_op_overrides("openreg", _Overrides())
    register_backend_for_device(
        "openreg",
        _Scheduling,
        _Wrapper,
        _CppWrapper,
        _CppWrapper,
        device_custom_pass=Settings(),
    )
