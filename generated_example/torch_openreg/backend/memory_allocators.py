# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""The allocator in use, which provides memory."""

from .. import _C


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
