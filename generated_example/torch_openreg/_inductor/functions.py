# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Dynamo's support of functions and classes of torch.openreg in a graph."""

import inspect
import sys
from typing import Any

import torch
from torch._dynamo.decorators import assume_constant_result, substitute_in_graph
from torch._dynamo.eval_frame import skip_code

from .. import backend

# The same in the whole life of a process: Dynamo calls them while it traces.
_CONSTANT = (
    backend.can_device_access_peer,
    backend.device_count,
    backend.get_amp_supported_dtype,
    backend.get_device_capability,
    backend.get_device_name,
    backend.get_device_properties,
    backend.is_available,
    backend.is_bf16_supported,
)


def register() -> None:
    """Register them with Dynamo: it knows torch.Stream and torch.Event, the bases of our streams and events."""
    _skip_frames()
    for function in _CONSTANT:
        assume_constant_result(function)
    substitute_in_graph(backend.current_stream, skip_signature_check=True)(_current_stream)
    substitute_in_graph(backend.current_device, skip_signature_check=True)(_current_device)
    substitute_in_graph(backend.stream, skip_signature_check=True)(_stream_context)
    for made, function in ((backend.Stream, _stream), (backend.Event, _event)):
        substitute_in_graph(made, skip_signature_check=True, is_embedded_type=True)(function)


def _skip_frames() -> None:
    """PyTorch calls the device's functions in the middle of compiling (it saves random states), where no frame can be compiled.

    That holds for calls of Dynamo's own alone: in a user's function they are traced as ever.
    """
    package = backend.__name__
    modules = [module for name, module in sys.modules.items() if name == package or name.startswith(f"{package}.")]
    for module in modules:
        for value in list(vars(module).values()):
            ours = inspect.isclass(value) and value.__module__ == module.__name__
            for member in vars(value).values() if ours else [value]:
                function = inspect.unwrap(getattr(member, "__func__", member))
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    skip_code(function.__code__)


def _current_stream(device: Any = None) -> torch.Stream:
    return torch.accelerator.current_stream() if device is None else torch.accelerator.current_stream(device)


def _current_device() -> int:
    return torch.accelerator.current_device_index()


def _stream_context(stream: torch.Stream) -> torch.Stream:
    return stream  # is itself what makes it current


def _stream(device: Any = None, priority: int = 0) -> torch.Stream:
    return torch.Stream(device="openreg" if device is None else device, priority=priority)


def _event(
    device: Any = None,
    enable_timing: bool = False,
    blocking: bool = False,
    interprocess: bool = False,
) -> torch.Event:
    where = "openreg" if device is None else device
    return torch.Event(device=where, enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)
