# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Memory pools: parts of the caching allocator that keep their memory to themselves."""

import contextlib
from collections.abc import Iterator

from .. import _C
from ._lazy import _lazy_init
from ._utils import Device, _get_device_index


class MemPool(_C._MemPool):
    """A part of the caching allocator that keeps its memory to itself; see use_mem_pool().

    Args:
        allocator: where the pool's memory comes from, such as a pluggable allocator's `allocator()`; None for the
            device itself.
        use_on_oom: whether others may take the pool's free memory before they run out of memory.
        no_split: whether blocks are never split.

    Raises:
        NotImplementedError: the current allocator has no pools.
    """

    def __init__(
        self,
        allocator: _C._Allocator | None = None,
        use_on_oom: bool = False,
        no_split: bool = False,
    ) -> None:
        _lazy_init()
        super().__init__(allocator, True, use_on_oom, no_split)

    def snapshot(self, include_traces: bool = True) -> list[dict]:
        """The pool's segments; see memory_snapshot()."""
        return _C._memory_snapshot(self.id, include_traces)["segments"]


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: Device = None) -> Iterator[None]:
    """Context in which the calling thread's allocations on `device` come from `pool`.

    Other threads are not affected, those that backward() uses among them.
    """
    index = _get_device_index(device, optional=True)
    _C._begin_allocate_current_thread_to_pool(index, pool.id)
    try:
        yield
    finally:
        _C._end_allocate_to_pool(index, pool.id)
        _C._release_pool(index, pool.id)
