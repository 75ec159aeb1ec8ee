"""One call of an operator: which streams and which memory it uses."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from . import accesses, stacks
from .accesses import Rule, Use
from .clocks import Stream
from .memory import Access, Block
from .stacks import Stack
from .unseen import Unseen

if TYPE_CHECKING:
    from .mode import Sanitizer


class Call:
    """Its accesses get their numbers before it runs, so that a wait inside of it counts.

    Not so pinned memory of the CPU in a copy that need not wait: a backend that waits nevertheless hides the mistake.
    """

    def __init__(
        self, sanitizer: "Sanitizer", func: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._sanitizer, self._op, self._rule = sanitizer, str(func), rule
        self._waits = not kwargs.get("non_blocking", _at(args, rule.non_blocking))
        self._target = kwargs.get("device", _at(args, rule.device))
        self._ticks: dict[int, tuple[Stream, int] | None] = {}  # by device
        self._later: list[tuple[Use, int]] = []  # memory of the CPU that is used after the call, and by which device
        self._kept: list[tuple[Block, Access]] = []
        self._stack: Stack | None = None

    def begin(self, uses: list[Use]) -> None:
        with self._sanitizer.lock:
            self._sanitizer.drain()
            self._sanitizer.result.calls += 1
            self._on_device(uses)
            target = self._index(self._target)
            if target is not None:
                self._tick(target)
            if not self._rule.copies or not self._ticks:
                self._sanitizer.use_on_host(uses, self._op)
                return
            for use, index in self._transfers(uses, target):
                self._on_host(use, index)

    def end(self, uses: list[Use], results: list[Use]) -> None:
        """A result in the memory of an argument, a view say, was not written."""
        if not results and not self._later:
            return
        with self._sanitizer.lock:
            self._sanitizer.drain()
            known = set()
            if not self._rule.resizes:
                known = {found[1] for use in uses if (found := accesses.storage_of(use.tensor)) is not None}
            fresh = [use for use in results if (found := accesses.storage_of(use.tensor)) and found[1] not in known]
            self._on_device(fresh)
            source = next(iter(self._ticks), None)
            for use in fresh:
                if use.tensor.is_cpu and self._rule.copies and source is not None:
                    self._on_host(use, source)
            after = {index: self._sanitizer.tick(at[0]) for _, index in self._later if (at := self._ticks[index])}
            for use, index in self._later:
                if index in after:
                    self._sanitizer.use(use, self._op, *after[index], self._taken())

    def cancel(self) -> None:
        """The operator raised, so nothing was queued."""
        with self._sanitizer.lock:
            for block, access in self._kept:
                block.accesses = [each for each in block.accesses if each is not access]

    def _on_device(self, uses: list[Use]) -> None:
        for use in uses:
            index = self._index(use.tensor.device)
            if index is not None:
                at = self._tick(index)
                if at is not None:
                    ends = self._rule.ends
                    used = self._sanitizer.use(use, self._op, *at, self._taken(), keep=not ends, fresh=ends)
                    if used is not None:
                        self._kept.append(used)

    def _transfers(self, uses: list[Use], target: int | None) -> Iterator[tuple[Use, int]]:
        """Memory of the CPU that a stream copies, and the stream's device."""
        half = len(uses) // 2
        others = [*uses[half:], *uses[:half]] if half * 2 == len(uses) else [None] * len(uses)
        for use, other in zip(uses, others, strict=True):
            if use.tensor.is_cpu:
                index = target if other is None else self._index(other.tensor.device)
                if index is None:
                    self._sanitizer.use_on_host([use], self._op)
                else:
                    yield use, index

    def _on_host(self, use: Use, index: int) -> None:
        if not self._waits and accesses.is_pinned(use.tensor):
            self._later.append((use, index))
        elif (at := self._ticks[index]) is not None:
            self._sanitizer.use(use, self._op, *at, self._taken(), keep=False)

    def _index(self, device: Any) -> int | None:
        """The number of a device of this kind."""
        if device is None:
            return None
        device = torch.device(device)
        if device.type != self._sanitizer.kind:
            return None
        return int(torch.accelerator.current_device_index() if device.index is None else device.index)

    def _tick(self, index: int) -> tuple[Stream, int] | None:
        """The current stream, and the call's number there; None while a graph captures it: it runs with each replay, and not now."""
        if index not in self._ticks:
            key, stream = self._sanitizer.streams.current(index)
            capturing = getattr(stream, "is_capturing", None)
            if capturing is not None and capturing():
                self._sanitizer.note(Unseen.CAPTURED)
                self._ticks[index] = None
            else:
                self._sanitizer.result.streams.add(key)
                self._ticks[index] = self._sanitizer.tick(key)
        return self._ticks[index]

    def _taken(self) -> Stack:
        if self._stack is None:
            self._stack = stacks.take()
        return self._stack


def _at(args: tuple[Any, ...], place: int) -> Any:
    return args[place] if 0 <= place < len(args) else None
