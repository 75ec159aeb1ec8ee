"""Blocks of memory, who used them, and what was left behind when they were freed.

Note [Freed memory]
The caching allocator gives freed memory to the next tensor at once, because that one's work comes later on the same stream. Work
on another stream isn't known to it unless record_stream() said so. So what used a freed block stays known as its remains, and
the next user of these addresses is checked against them. An allocator need not report that memory is freed: when it gives
the addresses away again, it was.
"""

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .clocks import Stream
from .stacks import Stack

_MOST = 512  # accesses of a block that are kept


class Geometry(NamedTuple):
    """The bytes that a tensor uses, from the address of its first element on."""

    start: int
    end: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int


@dataclass(frozen=True, eq=False)
class Access:
    """One tensor of one call."""

    stream: Stream
    tick: int
    write: bool
    op: str
    argument: str
    """Its name in the schema; "result" of a result."""
    tensor: str
    """Dtype and shape."""
    where: Geometry
    stack: Stack

    def overlaps(self, other: "Access") -> bool:
        if self.where.start >= other.where.end or other.where.start >= self.where.end:
            return False
        return _share_bytes(self.where, other.where)


@dataclass(eq=False)
class Block:
    """The memory of one storage."""

    start: int
    stream: Stream | None = None
    """The stream for which it was allocated; None if nobody saw that."""
    stack: Stack | None = None
    owner: Any = None
    """A weak reference to its storage, where no allocator reports when it is freed."""
    end: int = 0
    accesses: list[Access] = field(default_factory=list)
    recorded: set[Stream] = field(default_factory=set)
    """By record_stream(): the allocator waits for them before it reuses the block."""

    def add(self, access: Access) -> None:
        """Keep an access that was checked, and forget those for which it stands: who is in order with it is with them, too."""
        span = access.where
        self.accesses = [
            old
            for old in self.accesses
            if not (
                span.start <= old.where.start
                and old.where.end <= span.end
                and (access.write or (not old.write and old.stream == access.stream))
            )
        ][-_MOST:]
        self.accesses.append(access)


@dataclass(frozen=True)
class _Remains:
    start: int
    end: int
    block: Block
    accesses: tuple[Access, ...]


class Memory:
    """The blocks of all devices by address."""

    def __init__(self, free_waits: bool) -> None:
        self._free_waits = free_waits
        self._blocks: dict[int, Block] = {}
        self._allocated: list[int] = []  # starts of those that an allocator reported, in order
        self._starts: list[int] = []  # of remains, which don't overlap, in order
        self._remains: list[_Remains] = []

    def allocate(self, start: int, stream: Stream, stack: Stack) -> None:
        at = bisect.bisect(self._allocated, start)
        if at and self._blocks[self._allocated[at - 1]].end > start:  # freed, and nobody said so
            self.free(self._allocated[at - 1])
        self.free(start)
        self._blocks[start] = Block(start, stream, stack)
        bisect.insort(self._allocated, start)

    def find(self, start: int) -> Block | None:
        return self._blocks.get(start)

    def block_of(self, storage: torch.UntypedStorage, start: int) -> Block:
        """The block of a storage; a new one if no allocator reported it, or another storage had the address then."""
        block = self._blocks.get(start)
        if block is None or (block.owner is not None and block.owner.expired()):
            block = self._blocks[start] = Block(start, owner=_Owner(storage))
        if block.end < start + storage.nbytes():
            block.end = start + storage.nbytes()
            if block.owner is None:
                first = bisect.bisect(self._allocated, start)
                for inside in self._allocated[first : bisect.bisect_left(self._allocated, block.end)]:
                    self.free(inside)  # as above
        return block

    def free(self, start: int) -> None:
        block = self._blocks.pop(start, None)
        if block is not None and block.owner is None:
            del self._allocated[bisect.bisect_left(self._allocated, start)]
        if block is None or not block.accesses or self._free_waits:
            return
        self._carve(block.start, block.end)
        left = tuple(access for access in block.accesses if access.stream not in block.recorded)
        if left:
            at = bisect.bisect(self._starts, block.start)
            self._starts.insert(at, block.start)
            self._remains.insert(at, _Remains(block.start, block.end, block, left))

    def remains(self, start: int, end: int) -> Iterator[tuple[Block, Access]]:
        """Accesses to earlier blocks in this range."""
        for remains in self._remains[self._touching(start, end)]:
            for access in remains.accesses:
                yield remains.block, access

    def _touching(self, start: int, end: int) -> slice:
        first = bisect.bisect(self._starts, start)
        if first and self._remains[first - 1].end > start:
            first -= 1
        return slice(first, max(first, bisect.bisect_left(self._starts, end)))

    def _carve(self, start: int, end: int) -> None:
        """Forget the remains in a range, and keep what sticks out of it."""
        where = self._touching(start, end)
        kept = []
        for old in self._remains[where]:
            if old.start < start:
                kept.append(_Remains(old.start, start, old.block, old.accesses))
            if old.end > end:
                kept.append(_Remains(end, old.end, old.block, old.accesses))
        self._remains[where] = kept
        self._starts[where] = [each.start for each in kept]


class _Owner:
    """Whether a storage still exists."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self._reference = storage._weak_ref()

    def expired(self) -> bool:
        return bool(torch.UntypedStorage._expired(self._reference))

    def __del__(self) -> None:
        torch.UntypedStorage._free_weak_ref(self._reference)


def _dense(where: Geometry) -> bool:
    elements = 1
    for size in where.sizes:
        elements *= size
    return elements * where.itemsize == where.end - where.start


def _share_bytes(one: Geometry, other: Geometry) -> bool:
    """Of two that overlap from first to last byte, whether they have an element in common: two halves of columns have none."""
    if _dense(one) or _dense(other):
        return True
    start, end = min(one.start, other.start), max(one.end, other.end)
    if end - start > 1 << 28:
        return True

    def bytes_of(each: Geometry) -> torch.Tensor:
        strides = [stride * each.itemsize for stride in each.strides]
        return touched.as_strided([*each.sizes, each.itemsize], [*strides, 1], each.start - start)

    with _disable_current_modes():
        touched = torch.zeros(end - start, dtype=torch.bool)
        bytes_of(one).fill_(True)
        return bool(bytes_of(other).any())
