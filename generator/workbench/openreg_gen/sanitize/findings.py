"""The findings of a sanitizer, and the text that says so."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .clocks import HOST, Stream
from .memory import Access, Block
from .stacks import Stack
from .unseen import Unseen


class Kind(Enum):
    ORDER = "two streams use one block without order"
    REUSE = "a block is reused while another stream may still use it"
    HOST = "the CPU uses memory that a stream may still copy"


class RaceError(AssertionError):
    """Two operators use the same memory without order. `race` says which."""

    def __init__(self, race: "Race") -> None:
        super().__init__(str(race))
        self.race = race


@dataclass(frozen=True)
class Race:
    """Two uses of the same memory without order."""

    device: str
    """The device's type."""
    kind: Kind
    earlier: Access
    later: Access
    block: Block
    """The memory that both use; of a reuse, as it was before it was freed."""
    frames: int = 5

    def __str__(self) -> str:
        return "\n".join(self._lines())

    @property
    def key(self) -> tuple[Any, ...]:
        """Races of equal keys are one mistake in the code."""
        return (
            self.kind,
            *((each.op, each.argument, each.stream, each.stack.place) for each in (self.earlier, self.later)),
        )

    @property
    def line(self) -> str:
        """The race in one line."""
        uses = (f"{each.op}, {each.stack.lines(1)[0].partition(': ')[0]}" for each in (self.earlier, self.later))
        return f"{self.kind.value}: " + "; then ".join(uses)

    @property
    def fix(self) -> tuple[str, ...]:
        """What to write."""
        first, second = (self._name(each.stream) for each in (self.earlier, self.later))
        ordered = (
            f"`second.wait_stream(first)` between the two; first is {first}, second is {second}",
            "or `event = first.record_event()` right after the first operator, and `second.wait_event(event)` before the second",
        )
        if self.kind is Kind.HOST:
            return (
                f"`stream.synchronize()` before the CPU uses it; stream is {first}",
                "or copy without non_blocking=True, which waits",
            )
        if self.kind is Kind.REUSE and self.earlier.stream != self.block.stream:
            owner = "the stream that allocated it" if self.block.stream is None else self._name(self.block.stream)
            return (
                f"`tensor.record_stream(first)` before the last reference to the first tensor goes; first is {first}",
                f"or let {owner} wait for it before that: `owner.wait_stream(first)`",
            )
        return ordered

    def as_json(self) -> dict[str, Any]:
        def of(each: Access) -> dict[str, Any]:
            return {
                "stream": self._name(each.stream),
                "operator": each.op,
                "argument": each.argument,
                "tensor": each.tensor,
                "access": "write" if each.write else "read",
                "stack": each.stack.lines(1000),
            }

        return {
            "kind": self.kind.name.lower(),
            "first": of(self.earlier),
            "second": of(self.later),
            "allocated": None if self.block.stack is None else self.block.stack.lines(1000),
            "allocated_for": None if self.block.stream is None else self._name(self.block.stream),
            "write": list(self.fix),
        }

    def _name(self, stream: Stream) -> str:
        return stream.named(self.device)

    def _lines(self) -> Iterator[str]:
        yield self.kind.value
        for title, each in (("first", self.earlier), ("second", self.later)):
            does = "writes" if each.write else "reads"
            what = each.argument if each.argument.startswith("result") else f"argument {each.argument}"
            yield f"  {title}: {self._name(each.stream)} {does} {each.tensor}, {what} of {each.op}"
            yield from self._stack(each.stack)
        if self.block.stack is not None and self.block.stream is not None:
            which = "the first tensor's memory" if self.kind is Kind.REUSE else "the memory"
            yield f"  {which} was allocated for {self._name(self.block.stream)}"
            yield from self._stack(self.block.stack)
        first, *others = self.fix
        yield f"  write {first}"
        yield from (f"  {each}" for each in others)

    def _stack(self, stack: Stack) -> Iterator[str]:
        yield from (f"    {line}" for line in stack.lines(self.frames))


@dataclass
class Races:
    """The findings of a run; kept up to date while it runs."""

    limit: int = 20
    """Races that are kept; others are only counted."""
    races: list[Race] = field(default_factory=list)
    found: int = 0
    """Different ones, those beyond the limit too."""
    times: int = 0
    """Pairs of calls; a race in a loop is found several times."""
    calls: int = 0
    """Operators that were looked at."""
    streams: set[Stream] = field(default_factory=set)
    unseen: dict[Unseen, int] = field(default_factory=dict)
    """Work that was not seen, and how often."""
    threads: list[str] = field(default_factory=list)
    """Names of threads that started earlier, and so were not seen."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for number, race in enumerate(self.races, 1):
            yield f"race {number}: {race}"
            yield ""
        if self.found > len(self.races):
            yield f"and {self.found - len(self.races)} more; --limit {self.found} shows them"
        streams = len(self.streams - {HOST})
        seen = f"{_many(self.calls, 'operator call')} on {_many(streams, 'stream')}"
        if self.found:
            often = f", in {self.times} pairs of calls" if self.times > self.found else ""
            yield f"{seen}: {_many(self.found, 'race')}{often}"
        else:
            yield f"{seen}: no race" + (" in what was seen" if self.unseen else "")
        for what, count in self.unseen.items():
            names = f": {', '.join(self.threads[:5])}" if what is Unseen.EARLIER_THREADS else ""
            yield f"not seen ({count}): {what.value}{names}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
