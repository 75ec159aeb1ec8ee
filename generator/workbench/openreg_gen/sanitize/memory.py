"""Blocks of memory, who used them, and what was left behind when they were freed.

Note [Freed memory]
The caching allocator gives freed memory to the next tensor at once, because that one's work comes later on the same stream. Work
on another stream isn't known to it unless record_stream() said so. So what used a freed block stays known as its remains, and
the next user of these addresses is checked against them. An allocator need not report that memory is freed: when it gives
the addresses away again, it was.
"""

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .clocks import Stream
from .stacks import Stack

_MOST = 1 << 14  # accesses of a block that are kept
_SETTLE = 64  # from which on those are looked for that can be forgotten
_MOST_RUNS = 1 << 22  # of a tensor's bytes, to look at each


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
        apart = self.where.start >= other.where.end or other.where.start >= self.where.end
        return not apart and _share_bytes(self.where, other.where)


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
    settle_at: int = _SETTLE
    pointed: bool = False
    """Whether Python has its address, as numpy does."""
    noted: bool = False
    """Whether the result says so."""

    def touching(self, where: Geometry) -> list[Access]:
        """Accesses whose first and last bytes enclose some of these. There may be thousands, so it comes before other questions."""
        start, end = where.start, where.end
        return [old for old in self.accesses if old.where.start < end and start < old.where.end]

    def add(self, access: Access, settled: Callable[[Access], bool]) -> int:
        """Keep an access that was checked, and forget those for which it stands: who is in order with it is with them, too.

        `settled` says of an access that all that follows is in order with it. Returns how many others were forgotten.
        """
        stood_for = {
            id(old)
            for old in self.touching(access.where)
            if (access.write or (not old.write and old.stream == access.stream)) and covers(access.where, old.where)
        }
        if stood_for:
            self.accesses = [old for old in self.accesses if id(old) not in stood_for]
        self.accesses.append(access)
        if len(self.accesses) <= self.settle_at:
            return 0
        self.accesses = [old for old in self.accesses if not settled(old)]
        forgotten = max(0, len(self.accesses) - _MOST)
        del self.accesses[:forgotten]
        self.settle_at = min(_MOST, max(_SETTLE, 2 * len(self.accesses)))
        return forgotten


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
        if block is None and storage.device.type != "cpu":
            block = self._around(start, start + storage.nbytes())
        if block is None or (block.owner is not None and block.owner.expired()):
            block = self._blocks[start] = Block(start, owner=_Owner(storage))
        if block.end < start + storage.nbytes():
            block.end = start + storage.nbytes()
            if block.owner is None:
                first = bisect.bisect(self._allocated, start)
                for inside in self._allocated[first : bisect.bisect_left(self._allocated, block.end)]:
                    self.free(inside)  # as above
        return block

    def _around(self, start: int, end: int) -> Block | None:
        """The block in whose middle a storage begins, such as that of from_dlpack()."""
        at = bisect.bisect(self._allocated, start)
        block = self._blocks[self._allocated[at - 1]] if at else None
        return block if block is not None and end <= block.end else None

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


def covers(one: Geometry, other: Geometry) -> bool:
    """Whether each byte of the other is one of the first, as far as that is cheap to know."""
    if one.start > other.start or other.end > one.end:
        return False
    return one == other or _run(one)[1] == one.end - one.start


def _run(where: Geometry) -> tuple[list[tuple[int, int]], int]:
    """A tensor as runs of bytes: sizes and strides, in bytes, of where they begin, and how long each is."""
    run = where.itemsize
    outer: list[tuple[int, int]] = []
    dims = sorted((stride * where.itemsize, size) for size, stride in zip(where.sizes, where.strides, strict=True))
    for stride, size in dims:
        if stride == 0 or size == 1:
            continue
        if stride <= run and not outer:
            run += (size - 1) * stride
        else:
            outer.append((size, stride))
    return outer, run


def _share_bytes(one: Geometry, other: Geometry) -> bool:
    """Of two that overlap from first to last byte, whether they have an element in common: two halves of columns have none."""
    (outer, run), (other_outer, other_run) = _run(one), _run(other)
    if any(math.prod(size for size, _ in each) > _MOST_RUNS for each in (outer, other_outer)):
        return True
    with _disable_current_modes():
        starts, others = _starts(one.start, outer), _starts(other.start, other_outer)
        after = torch.searchsorted(starts, others + other_run)  # those before begin before the other's end
        begun = starts[(after - 1).clamp(min=0)]
        return bool(((after > 0) & (begun + run > others)).any())


def _starts(start: int, outer: list[tuple[int, int]]) -> torch.Tensor:
    """Where runs begin, in order."""
    starts = torch.tensor([start], dtype=torch.int64)
    for size, stride in outer:
        starts = (starts[:, None] + torch.arange(size, dtype=torch.int64) * stride).flatten()
    return starts.sort().values
