# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Memory of a device beyond what torch.accelerator shows: limits, raw allocations, the table of statistics, the allocator."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .. import _C
from ._lazy import _lazy_init, is_initialized
from ._utils import Device, _get_device_index
from .memory_table import format_summary


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """memory_stats() as a dictionary of dictionaries: ["allocated_bytes"]["all"]["peak"]."""
    if not torch._C._accelerator_isAllocatorInitialized():
        return {}
    return torch._C._accelerator_getDeviceStats(_get_device_index(device, optional=True))


def max_memory_reserved(device: Device = None) -> int:
    """The most the allocator held since the start, or since reset_peak_memory_stats()."""
    return torch.accelerator.max_memory_reserved(_get_device_index(device, optional=True))


def memory_cached(device: Device = None) -> int:
    """The old name of memory_reserved()."""
    return torch.accelerator.memory_reserved(_get_device_index(device, optional=True))


def max_memory_cached(device: Device = None) -> int:
    """The old name of max_memory_reserved()."""
    return max_memory_reserved(device)


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Set the sums ("...allocated", "...freed") and the counters of `device` to 0."""
    torch.accelerator.reset_accumulated_memory_stats(_get_device_index(device, optional=True))


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """A table of memory_stats(), to print.

    Args:
        device: the device.
        abbreviated: leave out the small and the large pool.
    """
    index = _get_device_index(device, optional=True)
    stats, info = torch.accelerator.memory_stats(index), torch.accelerator.get_memory_info(index)
    return format_summary(index, stats, info, abbreviated)


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Limit this process to `fraction` of the memory of `device`; larger requests raise an out of memory error.

    Raises:
        TypeError: `fraction` is no float.
        ValueError: it is not within 0 to 1.
    """
    _lazy_init()
    index = _get_device_index(device, optional=True)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C._set_memory_fraction(fraction, index)


def get_per_process_memory_fraction(device: Device = None) -> float:
    """The value of set_per_process_memory_fraction(); 1.0 at first."""
    _lazy_init()
    return _C._get_memory_fraction(_get_device_index(device, optional=True))


def caching_allocator_alloc(size: int, device: Device = None, stream: Any = None) -> int:
    """The address of `size` bytes from the allocator, for other frameworks; caching_allocator_delete() frees them.

    Args:
        size: in bytes; 0 gives 0.
        device: the device; its current stream is used unless `stream` is given.
        stream: a stream of that device, or the handle of one.
    """
    _lazy_init()
    index = _get_device_index(device, optional=True)
    if stream is None:
        stream = torch.accelerator.current_stream(index)
    if isinstance(stream, torch.Stream):
        stream = _C._stream_handle(stream.stream_id, stream.device_index)
    if not isinstance(stream, int):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.Stream` or `int` representing a pointer to an existing stream"
        )
    return _C._raw_alloc(size, index, stream)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Free memory from caching_allocator_alloc()."""
    _C._raw_delete(mem_ptr)


def caching_allocator_enable(value: bool = True) -> None:
    """Switch the allocator's cache on or off. If there is one, it is on by default."""
    if is_initialized():
        _C._enable_caching(value)


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Context in which freed memory goes straight back to the device."""
    before = _C._is_caching_enabled()
    caching_allocator_enable(False)
    try:
        yield
    finally:
        caching_allocator_enable(before)


def get_allocator_backend() -> str:
    """Which kind of allocator this process uses: "native" (the caching one), "direct" or "pluggable"."""
    return _C._allocator_backend()


def attach_out_of_memory_observer(observer: Callable[[int, int, int, int], None]) -> None:
    """Call `observer(device, allocated, device_total, device_free)` before each out of memory error, permanently.

    torch.cuda has it as torch._C._cuda_attach_out_of_memory_observer; as there, `allocated` is what was asked for.
    What it raises is reported and ignored.
    """
    _C._attach_out_of_memory_observer(observer)


class _OpenRegAllocator:
    """An allocator of the C++ side."""

    def __init__(self, allocator: _C._Allocator) -> None:
        self._allocator = allocator

    def allocator(self) -> _C._Allocator:
        """The allocator itself, for the functions of `_C`."""
        return self._allocator


def _get_current_allocator() -> _OpenRegAllocator:
    """The allocator in use."""
    return _OpenRegAllocator(_C._get_allocator())
