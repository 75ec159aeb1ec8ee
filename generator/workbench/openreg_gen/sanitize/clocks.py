"""Vector clocks of streams, events and the host; Note [Clocks] of __init__.py says how they work."""

from typing import NamedTuple


class Stream(NamedTuple):
    device: int
    id: int

    def named(self, kind: str) -> str:
        name = "the host" if self == HOST else f"stream {self.id}" if self.id else "the default stream"
        return name if self == HOST else f"{name} of {kind}:{self.device}"


HOST = Stream(-1, -1)  # the threads of Python, all of them as one
Clock = dict[Stream, int]


def _merge(clock: Clock, other: Clock) -> None:
    for stream, tick in other.items():
        if tick > clock.get(stream, 0):
            clock[stream] = tick


class Clocks:
    def __init__(self) -> None:
        self._streams: dict[Stream, Clock] = {}
        self._events: dict[int, Clock] = {}
        self._host: Clock = {}

    def tick(self, stream: Stream) -> int:
        """An operator is queued on a stream; return its number there."""
        clock = self._of(stream)
        clock[stream] = clock.get(stream, 0) + 1
        return clock[stream]

    def ordered(self, earlier: Stream, tick: int, later: Stream) -> bool:
        """Whether what is queued on `later` now begins after an earlier operator has ended."""
        return earlier == later or self._of(later).get(earlier, 0) >= tick

    def knows_event(self, event: int) -> bool:
        return event in self._events

    def create_event(self, event: int) -> None:
        self._events[event] = {}

    def delete_event(self, event: int) -> None:
        self._events.pop(event, None)

    def record(self, event: int, stream: Stream) -> None:
        self._events[event] = dict(self._of(stream))

    def wait(self, event: int, stream: Stream) -> None:
        _merge(self._of(stream), self._events.get(event, {}))

    def synchronize_event(self, event: int) -> None:
        _merge(self._host, self._events.get(event, {}))

    def synchronize_stream(self, stream: Stream) -> None:
        _merge(self._host, self._of(stream))

    def synchronize_device(self, device: int) -> None:
        for stream in list(self._streams):
            if stream.device == device:
                self.synchronize_stream(stream)

    def _of(self, stream: Stream) -> Clock:
        if stream == HOST:
            return self._host
        clock = self._streams.setdefault(stream, {})
        _merge(clock, self._host)  # what is queued now comes after all that the host has waited for
        return clock
