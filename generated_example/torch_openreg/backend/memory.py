# Written by openreg-gen 0.1.0 from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Memory of a device: how much there is, how much tensors hold. All sizes are in bytes.

What the allocator counts comes through torch.accelerator; before its first allocation all numbers are 0.
"""

from typing import Any

import torch

from ._utils import Device, _get_device_index


def memory_stats(device: Device = None) -> dict[str, Any]:
    """All the allocator counts, by names such as "allocated_bytes.all.peak"; see torch.accelerator.memory_stats."""
    return torch.accelerator.memory_stats(_get_device_index(device, optional=True))


def memory_allocated(device: Device = None) -> int:
    """What tensors on `device` hold now."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Device = None) -> int:
    """The most that tensors held since the start, or since reset_peak_memory_stats()."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Device = None) -> int:
    """What the allocator has taken from the device, for tensors and for its cache."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Device = None) -> int:
    """The most the allocator held since the start, or since reset_peak_memory_stats()."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """(free, total) of `device`, as its driver says."""
    return torch.accelerator.get_memory_info(_get_device_index(device, optional=True))


def reset_peak_memory_stats(device: Device = None) -> None:
    """Let all peaks start from what is held now."""
    torch.accelerator.reset_peak_memory_stats(_get_device_index(device, optional=True))


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Set the sums ("...allocated", "...freed") and the counters of `device` to 0."""
    torch.accelerator.reset_accumulated_memory_stats(_get_device_index(device, optional=True))


def empty_cache() -> None:
    """Give memory that no tensor holds back to the device."""
    torch.accelerator.empty_cache()


def empty_host_cache() -> None:
    """Give pinned host memory that no tensor holds back to the system."""
    torch.accelerator.empty_host_cache()


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """A table of memory_stats(), to print.

    Args:
        device: the device.
        abbreviated: leave out the small and the large pool.
    """
    index = _get_device_index(device, optional=True)
    stats = memory_stats(index)
    free, total = mem_get_info(index)
    ooms, retries = stats.get("num_ooms", 0), stats.get("num_alloc_retries", 0)
    lines = [
        f"Memory of openreg:{index}: {free} of {total} bytes free",
        f"{ooms} times out of memory, {retries} retries",
        f"{'':<36}{'current':>16}{'peak':>16}{'allocated':>16}{'freed':>16}",
    ]
    pools = ("all",) if abbreviated else ("all", "small_pool", "large_pool")
    for metric in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes", "allocation", "segment"):
        for pool in pools:
            row = [stats.get(f"{metric}.{pool}.{kind}", 0) for kind in ("current", "peak", "allocated", "freed")]
            lines.append(f"{f'{metric} ({pool})':<36}" + "".join(f"{value:>16}" for value in row))
    return "\n".join(lines)
