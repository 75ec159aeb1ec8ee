# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg: device functions, streams, events, random numbers and memory of the openreg backend.

Wherever a function takes a device, it may be an index, a string such as "openreg:0", a `torch.device`, or None for
the calling thread's current device.
"""

import sys as _sys

import torch as _torch

from . import _utils, memory, random, amp, multiprocessing
from ._lazy import _is_in_bad_fork, _lazy_init, init, is_initialized
from .device import (
    DeviceProperties,
    current_device,
    device,
    device_count,
    device_of,
    get_device_name,
    get_device_properties,
    is_available,
    set_device,
    synchronize,
)
from .memory import (
    empty_cache,
    max_memory_allocated,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
)
from .random import (
    _get_generator,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream
from .capability import (
    can_device_access_peer,
    get_device_capability,
)
from .dtypes import (
    get_amp_supported_dtype,
    is_bf16_supported,
)
from .fallback import (
    FallbackCount,
    FallbackReport,
    fallback_report,
    reset_fallback_report,
)
from .graphs import (
    Graph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from .memory_history import (
    memory_snapshot,
)
from .memory_host import (
    empty_host_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from .memory_limits import (
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
)
from .memory_pluggable import (
    change_current_allocator,
)
from .memory_pools import (
    MemPool,
    use_mem_pool,
)
from .multiprocessing import (
    ipc_collect,
)
from ._gpu_trace import _register as _register__gpu_trace
from .multiprocessing import _register as _register_multiprocessing

default_generators: tuple[_torch.Generator, ...]  # one per device

__all__ = [
    "DeviceProperties",
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "random",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
    "amp",
    "multiprocessing",
    "can_device_access_peer",
    "get_device_capability",
    "get_amp_supported_dtype",
    "is_bf16_supported",
    "FallbackCount",
    "FallbackReport",
    "fallback_report",
    "reset_fallback_report",
    "Graph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
    "memory_snapshot",
    "empty_host_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "reset_accumulated_host_memory_stats",
    "reset_peak_host_memory_stats",
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
    "change_current_allocator",
    "MemPool",
    "use_mem_pool",
    "ipc_collect",
]

# What PyTorch itself calls by these names.
_private = (_get_generator, _is_in_bad_fork, _lazy_init, _utils)


def __getattr__(name: str) -> object:
    if name == "default_generators":  # made when asked for: counting the devices is not part of an import
        return tuple(_get_generator(index) for index in range(device_count()))
    if name == "_initialized":  # torch.utils.checkpoint saves the random state of devices in use
        return is_initialized()
    if name == "_workbench":  # of those who examine the backend, not of those who use it
        from .. import workbench

        return workbench
    raise AttributeError(f"module 'torch.openreg' has no attribute '{name}'")


def _register() -> None:
    """Make this module torch.openreg, so that `import torch.openreg.random` gives the same modules."""
    _torch._register_device_module("openreg", _sys.modules[__name__])
    for module in (memory, random, amp, multiprocessing):
        _sys.modules[f"torch.openreg.{module.__name__.rpartition('.')[2]}"] = module
    _register__gpu_trace()
    _register_multiprocessing()
