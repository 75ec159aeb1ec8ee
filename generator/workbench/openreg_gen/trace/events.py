"""The parts of a trace: a tree of events, with the facts about each."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..absent import Absent


@dataclass(frozen=True)
class Place:
    """A line of code. `text` is what the line's call says ("a + b"), where Python knows the columns."""

    file: str
    line: int
    function: str = ""
    text: str = ""

    def json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "function": self.function, "text": self.text}


@dataclass(frozen=True)
class KeyStep:
    """A dispatch key that a call meets, and the kernel there.

    kernel: what the dispatcher calls it: "kernel", "autograd kernel", "default backend kernel" (one for all backends),
    "math kernel" (made of other operators, with their gradients), "backend fallback", or "" where there is none.
    fate: "runs", "skipped" (a fallthrough), "missing" (no kernel: the call fails here).
    """

    key: str
    kernel: str
    file: str
    line: int
    fate: str

    def json(self) -> dict[str, Any]:
        return {"key": self.key, "kernel": self.kernel, "file": self.file, "line": self.line, "fate": self.fate}


@dataclass(frozen=True)
class TensorInfo:
    """A tensor as an operator sees it. Tensors with the same `storage` share memory; `label` names that memory."""

    name: str
    label: str
    dtype: str
    shape: tuple[int, ...]
    device: str
    storage: int | None

    def json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "device": self.device,
            "storage": self.storage,
        }


@dataclass
class Event:
    """Something that happened, with what happened inside of it.

    kind: "call" (a Python function), "operator", "backward" (a node of autograd's graph), "range" (of record_function),
    "allocation", "kernel", "copy", "runtime" (of the device's own API), "repeat" (its children happened
    `times` times in a row). Times are in nanoseconds since the trace began; `fields` holds what only some kinds have,
    ready for JSON: see docs/reference/trace.md.
    """

    kind: str
    name: str
    start: int = 0
    duration: int = 0
    thread: int = 0
    place: Place | None = None
    keys: list[KeyStep] = field(default_factory=list)
    inputs: list[TensorInfo] = field(default_factory=list)
    outputs: list[TensorInfo] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    children: list["Event"] = field(default_factory=list)
    id: int = 0

    def walk(self) -> Iterator["Event"]:
        """This event and all inside of it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def json(self) -> dict[str, Any]:
        """The event as docs/reference/trace.md describes it; empty members are left out."""
        row: dict[str, Any] = {"id": self.id, "kind": self.kind, "name": self.name}
        row |= {"start": self.start, "duration": self.duration, "thread": self.thread}
        row["place"] = self.place.json() if self.place else None
        for name in ("keys", "inputs", "outputs", "children"):
            row[name] = [one.json() for one in getattr(self, name)]
        row["notes"] = self.notes
        row |= self.fields
        return {key: value for key, value in row.items() if value is not None and value != []}


@dataclass
class Answer:
    """A question that people have of a trace, and what the trace says; `events` are the ids of what shows it."""

    question: str
    text: list[str]
    events: list[int] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        return {"question": self.question, "text": self.text, "events": self.events}


@dataclass
class Trace:
    """All of a trace: what was traced, its events and what they say."""

    code: dict[str, Any]
    device: str
    torch: str
    events: list[Event]
    sources: dict[str, str]
    answers: list[Answer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    error: dict[str, str] | None = None

    def walk(self) -> Iterator[Event]:
        for event in self.events:
            yield from event.walk()

    def json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "code": self.code,
            "device": self.device,
            "torch": self.torch,
            "error": self.error,
            "answers": [answer.json() for answer in self.answers],
            "notes": self.notes,
            "absent": [each.json() for each in self.absent],
            "events": [event.json() for event in self.events],
            "sources": self.sources,
        }
