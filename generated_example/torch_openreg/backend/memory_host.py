# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Pinned host memory: its cache and its statistics. The names are those of torch.cuda.memory."""

import collections
from typing import Any

import torch

from .. import _C


def empty_host_cache() -> None:
    """Release cached pinned memory to the system."""
    torch.accelerator.empty_host_cache()


def host_memory_stats() -> dict[str, Any]:
    """All counters of the pinned allocator, by names such as "allocated_bytes.current".

    - "allocations", "allocated_bytes": blocks the allocator has, in use or cached; sizes are powers of two.
    - "active_requests", "active_bytes": blocks in use, up to when all streams are done with them.
    - "num_host_alloc", "num_host_free": calls of the driver.
    - "host_alloc_time", "host_free_time": how long these took, in microseconds ("total", "max", "min", "count", "avg").

    The first four have "current", "peak", "allocated" (the sum so far) and "freed".
    """
    return _flatten(host_memory_stats_as_nested_dict())


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """host_memory_stats() as a dictionary of dictionaries."""
    return _C._host_memory_stats()


def reset_accumulated_host_memory_stats() -> None:
    """Set the sums of host_memory_stats() to 0."""
    _C._reset_accumulated_host_memory_stats()


def reset_peak_host_memory_stats() -> None:
    """Reset the peaks of host_memory_stats() to the current values."""
    _C._reset_peak_host_memory_stats()


def _flatten(nested: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else key, inner)
        else:
            flat[prefix] = value

    add("", nested)
    return collections.OrderedDict(sorted(flat.items()))
