# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""Allocators from shared libraries."""

import ctypes
import os
from typing import TypeAlias

from .. import _C
from .memory_limits import _OpenRegAllocator

_Function: TypeAlias = "ctypes._FuncPointer"

# The optional functions of a pluggable allocator, by the names of their setters in torch.cuda's.
_SETTERS = (
    "set_init_fn",
    "set_reset_fn",
    "set_empty_cache_fn",
    "set_memory_fraction_fn",
    "set_base_alloc_fn",
    "set_record_stream_fn",
    "set_begin_allocate_to_pool",
    "set_end_allocate_to_pool_fn",
    "set_release_pool",
    "set_cache_info_fn",
    "set_device_stats_fn",
)


class OpenRegPluggableAllocator(_OpenRegAllocator):
    """An allocator whose functions come from a shared library. change_current_allocator() puts it to use.

    The optional functions are set by name or by address: `allocator.set_init_fn("my_init")`.

    Args:
        path_to_so_file: the library; it stays loaded.
        alloc_fn_name: `void* f(size_t size, int device, orStream_t stream)`; null means out of memory.
        free_fn_name: `void f(void* ptr, size_t size, int device, orStream_t stream)`.

    Raises:
        RuntimeError: there is no such library, or it lacks one of the functions.
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        self._path = os.fspath(path_to_so_file)
        super().__init__(_C._load_pluggable_allocator(self._path, alloc_fn_name, free_fn_name))

    def _set(self, setter: str, function: str | int) -> None:
        address = _C._find_symbol(self._path, function) if isinstance(function, str) else function
        getattr(self._allocator, setter)(address)


def _add_setter(name: str) -> None:
    def setter(self: OpenRegPluggableAllocator, function: str | int) -> None:
        self._set(name, function)

    setter.__name__ = name
    setter.__qualname__ = f"OpenRegPluggableAllocator.{name}"
    setter.__doc__ = "Set an optional function: the name of one in the library, or the address of one."
    setattr(OpenRegPluggableAllocator, name, setter)


for _name in _SETTERS:
    _add_setter(_name)


def _custom_allocator(alloc_fn: _Function, free_fn: _Function) -> _OpenRegAllocator:
    """An allocator of two ctypes functions. The caller keeps them alive as long as memory from them is."""
    alloc, free = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (alloc_fn, free_fn))
    return _OpenRegAllocator(_C._custom_allocator(alloc, free))


def change_current_allocator(allocator: _OpenRegAllocator) -> None:
    """Use `allocator` for all memory of the device, permanently.

    Raises:
        RuntimeError: the device was used before.
    """
    _C._change_current_allocator(allocator.allocator())
