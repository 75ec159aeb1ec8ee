# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Memory of a device: how much there is, how much tensors hold. All sizes are in bytes."""

from typing import Any

import torch

from ._utils import Device, _get_device_index
from .memory_history import (
    memory_snapshot,
    _allocation_traceback,
    _dump_snapshot,
    _get_memory_metadata,
    _record_memory_history,
    _save_memory_usage,
    _save_segment_usage,
    _set_memory_metadata,
    _snapshot,
)
from .memory_host import (
    empty_host_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from .memory_limits import (
    attach_out_of_memory_observer,
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_disabled,
    caching_allocator_enable,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_cached,
    max_memory_reserved,
    memory_cached,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    set_per_process_memory_fraction,
    _OpenRegAllocator,
    _get_current_allocator,
)
from .memory_pluggable import (
    OpenRegPluggableAllocator,
    change_current_allocator,
    _custom_allocator,
)
from .memory_pools import (
    MemPool,
    use_mem_pool,
)

__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "memory_snapshot",
    "empty_host_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "reset_accumulated_host_memory_stats",
    "reset_peak_host_memory_stats",
    "attach_out_of_memory_observer",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "max_memory_cached",
    "max_memory_reserved",
    "memory_cached",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "set_per_process_memory_fraction",
    "OpenRegPluggableAllocator",
    "change_current_allocator",
    "MemPool",
    "use_mem_pool",
]

# Known from torch.cuda.memory by these names, and not part of the public API there either.
_private = (
    _allocation_traceback,
    _dump_snapshot,
    _get_memory_metadata,
    _record_memory_history,
    _save_memory_usage,
    _save_segment_usage,
    _set_memory_metadata,
    _snapshot,
    _OpenRegAllocator,
    _get_current_allocator,
    _custom_allocator,
)


def memory_stats(device: Device = None) -> dict[str, Any]:
    """All counters of the allocator, by names such as "allocated_bytes.all.peak"; see torch.accelerator.memory_stats."""
    return torch.accelerator.memory_stats(_get_device_index(device, optional=True))


def memory_allocated(device: Device = None) -> int:
    """The memory that tensors on `device` use now."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Device = None) -> int:
    """The most that tensors used since the start, or since reset_peak_memory_stats()."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Device = None) -> int:
    """The bytes that the allocator has taken from the device, for tensors and for its cache if it has one."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """(free, total) of `device`, from its driver."""
    return torch.accelerator.get_memory_info(_get_device_index(device, optional=True))


def reset_peak_memory_stats(device: Device = None) -> None:
    """Reset all peaks to the current values."""
    torch.accelerator.reset_peak_memory_stats(_get_device_index(device, optional=True))


def empty_cache() -> None:
    """Release cached memory to the device."""
    torch.accelerator.empty_cache()
