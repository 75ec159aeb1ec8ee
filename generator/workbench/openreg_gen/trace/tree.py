"""Makes a trace's events of a recording: the profiler's tree, with the records of the modes in their places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .. import protocol
from . import keys
from .events import Event
from .graph import starts_backward
from .record import CALL, NODE, OPERATOR, WAIT, OperatorRecord, Recording

_ENGINE = "autograd::engine::evaluate_function: "
_READS = {"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::equal"}  # a value that Python waits for


@dataclass(frozen=True)
class _Around:
    """The values that an event inherits from those around it."""

    raw: int = 0
    thread: tuple[int, int] = (0, 0)
    below: bool = False  # below autograd, in an operator that the dispatch mode saw
    backend: str | None = None


class Builder:
    """Turns the profiler's nodes into events. `kind`: the type of the device that is traced.

    says_why: the backend tells of its fallbacks; else those of the dispatch tables are shown.
    """

    def __init__(self, recording: Recording, tables: keys.Tables, kind: str, says_why: bool) -> None:
        self.recording, self.tables, self.kind, self.says_why = recording, tables, kind, says_why
        self.overloads: dict[tuple[str, int], Any] = {}
        for row in recording.rows:
            self.overloads[(row.name(), row.start_ns())] = row
        self.began = min((root.start_time_ns for root in recording.roots), default=0)
        self.calls: list[tuple[Event, _Around]] = []

    def events(self) -> list[Event]:
        """The tree, with ids from 1 on, parents before their children."""
        roots = self.recording.roots
        found = self.build((root for root in roots if not root.name.startswith(_ENGINE)), _Around())
        # A device's part of a backward pass runs in a thread of autograd's own: it belongs to the call that waits for it.
        for root in roots:
            if root.name.startswith(_ENGINE):
                call, around = self._call_at(root.start_time_ns - self.began)
                event = self.backward(root, around)
                (found if call is None else call.children).append(event)
        for call, _ in self.calls:
            call.children.sort(key=lambda event: event.start)
        found = _without_empty_ranges(sorted(found, key=lambda event: event.start))
        for number, event in enumerate((event for root in found for event in root.walk()), 1):
            event.id = number
            event.fields.pop("seen", None)
            if keys.computes(event.name, event.keys):
                event.fields["computes"] = True
        return found

    def _call_at(self, time: int) -> tuple[Event | None, _Around]:
        """The innermost Python call that was running at a time."""
        running = [
            (event, around) for event, around in self.calls if event.start <= time <= event.start + event.duration
        ]
        return min(running, key=lambda pair: pair[0].duration, default=(None, _Around()))

    def build(self, nodes: Iterable[Any], around: _Around) -> list[Event]:
        made: list[Event] = []
        for node in sorted(nodes, key=lambda node: node.start_time_ns):
            made += self.one(node, around)
        return _in_ranges(made)

    def one(self, node: Any, around: _Around) -> list[Event]:
        name, tag = node.name, node.tag.name
        if name.startswith(CALL):
            return self.call(node)
        if name.startswith(OPERATOR):
            return self.recorded(node, around)
        if name.startswith(WAIT):
            place = self.recording.waits[int(name.removeprefix(WAIT))]
            event = self.event("call", "synchronize", node, fields={"wait": "synchronize() waits for the device"})
            event.place, event.children = place, self.build(node.children, around)
            return [event]
        if tag == "Allocation":
            return self.allocation(node)
        if tag == "Kineto":
            return self.of_device(node, around)
        if name.startswith(_ENGINE):
            return [self.backward(node, around)]
        scope = getattr(node.typed[1], "scope", None)
        if name.startswith("profiler::"):
            return self.build(node.children, around)
        if tag != "TorchOp" or ("::" not in name and scope is not None and scope.name != "USER_SCOPE"):
            return self.build(node.children, around)  # the modes' own ranges, and autograd's inner ones
        if scope is not None and scope.name == "USER_SCOPE":
            event = self.event("range", name, node)
            event.children = self.build(node.children, around)
            return [event]
        return self.operator(node, around)

    def event(self, kind: str, name: str, node: Any, fields: dict[str, Any] | None = None) -> Event:
        start = node.start_time_ns - self.began
        return Event(kind, name, start, max(node.duration_time_ns, 0), node.start_tid, fields=fields or {})

    def call(self, node: Any) -> list[Event]:
        """A call, or nothing if it called no operator."""
        record = self.recording.calls[int(node.name.removeprefix(CALL))]
        event = self.event("call", record.name, node)
        event.place = record.place
        if record.error:
            event.fields["error"] = record.error
        inside = _Around(record.raw_keys, record.thread_keys)
        self.calls.append((event, inside))
        event.children = self.build(node.children, inside)
        return [event] if event.children or record.error or starts_backward(record.name) else []

    def recorded(self, node: Any, around: _Around) -> list[Event]:
        """An operator that the dispatch mode saw; what it did is in the operator of the same name just inside."""
        record = self.recording.operators[int(node.name.removeprefix(OPERATOR))]
        event = self.event("operator", record.name, node)
        event.place, event.inputs, event.outputs = record.place, record.inputs, record.outputs
        event.notes = list(record.notes)
        # What is excluded here is what autograd's kernel has left; a composite's parts still meet autograd.
        names = keys.ordered(record.raw_keys, (0, record.thread_keys[1]))
        backend = next((name for name in names if not name.startswith(("Autograd", "ADInplace"))), None)
        inner = self.build(node.children, _Around(record.raw_keys, record.thread_keys, True, backend))
        event.children = [
            part for child in inner for part in (child.children if _same(child, record.name) else [child])
        ]
        whole = keys.ordered(record.raw_keys, around.thread if not around.below else record.thread_keys)
        if not record.inputs:  # a factory: BackendSelect finds the backend
            whole.append(torch._C._dispatch_key_for_device(record.made_on))
        event.keys = self.tables.path(record.name, whole)
        event.fields["seen"] = "mode"
        self._fallback(event, record)
        self._wait(event, record)
        if record.error:
            event.fields["error"] = record.error
        return [_delegating(event)]

    def operator(self, node: Any, around: _Around) -> list[Event]:
        """An operator that only the profiler saw."""
        row = self.overloads.get((node.name, node.start_time_ns))
        overload = row.overload_name() if row is not None else ""
        name = f"{node.name}.{overload}" if overload else node.name
        event = self.event("operator", name, node)
        sequence = getattr(node.typed[1], "sequence_number", -1)
        if sequence >= 0:
            event.fields["sequence"] = sequence
        event.children = self.build(node.children, around)
        same = [child for child in event.children if child.fields.get("seen") == "mode" and _same(child, name)]
        if len(same) == 1:
            return [_delegating(_merged(event, same[0]))]
        backend = keys.backend_key(list(_devices(node.typed[1])) or _allocated(event)) or around.backend
        if around.below:
            event.keys = self.tables.path(name, ["BackendSelect", *([backend] if backend else [])])
        else:
            event.keys = self.tables.path(name, keys.ordered(around.raw, around.thread))
        return [_delegating(event)]

    def _fallback(self, event: Event, record: OperatorRecord) -> None:
        for row in record.fallbacks:
            inner = [part for part in event.walk() if part.kind == "operator" and part.name == row.op]
            fell = inner[0] if inner else event
            fell.fields.setdefault("fallbacks", []).append(row._asdict())
            for part in fell.walk():  # the backend queues the CPU's kernel on the stream, as a function of the host
                if part.kind == "kernel":
                    part.fields["host"] = True
        for part in event.walk() if not self.says_why else ():
            last = part.keys[-1] if part.keys else None
            if last and last.kernel == "backend fallback" and last.fate == "runs" and self.kind != "cpu":
                row = protocol.Fallback(part.name, 1, 0, 0.0)
                part.fields["fallbacks"] = [row._asdict()]

    def _wait(self, event: Event, record: OperatorRecord) -> None:
        where = {tensor.device.partition(":")[0] for tensor in record.inputs}
        to = {tensor.device.partition(":")[0] for tensor in record.outputs}
        if record.name in _READS:
            on = (
                "the device computes it"
                if self.kind in where and self.kind != "cpu"
                else "the cpu has computed it already"
            )
            event.fields["wait"] = f"Python needs the value: waits until {on}"
        elif record.name.startswith(("aten::_to_copy", "aten::copy_")) and self.kind != "cpu":
            target = (
                {tensor.device.partition(":")[0] for tensor in record.inputs[:1]} if "copy_" in record.name[-5:] else to
            )
            if target == {"cpu"} and self.kind in where:
                event.fields["wait"] = "the copy to the host waits for the device"
                event.fields["to_host"] = True

    def allocation(self, node: Any) -> list[Event]:
        extra = node.typed[1]
        size, place = extra.alloc_size, str(extra.device)
        return [self.event("allocation", place, node, {"bytes": size, "device": place})] if size > 0 else []

    def of_device(self, node: Any, around: _Around) -> list[Event]:
        """A call of the device's own API, or what it queued; the two are one event where both are there."""
        children = self.build(node.children, around)
        queued = [child for child in children if child.kind in ("kernel", "copy")]
        for child in queued:
            child.fields.setdefault("queued_by", node.name)
            child.fields.setdefault("queued", node.start_time_ns - self.began)
        if queued:
            return children
        row = self.recording.device_rows.get((node.name, node.correlation_id))
        if row is None:
            event = self.event("runtime", node.name, node)
            if "ynchron" in node.name:
                event.fields["wait"] = f"{node.name} waits for the device"
            return [event, *children]
        copies = row["category"] in ("gpu_memcpy", "gpu_memset")
        event = self.event("copy" if copies else "kernel", node.name, node)
        for key in ("bytes", "stream", "device"):
            if key in row:
                event.fields[key] = row[key]
        if "DtoH" in node.name:
            event.fields["to_host"] = True
        return [event, *children]

    def backward(self, node: Any, around: _Around) -> Event:
        """A node of autograd's graph; its number in the graph is that of the empty range that its hook opened."""
        name = node.name.removeprefix(_ENGINE)
        event = self.event("backward", name, node)
        marks = [child for child in node.children if child.name.startswith(NODE)]
        if marks:
            number = int(marks[0].name.removeprefix(NODE))
            graph = self.recording.graph.nodes[number]
            event.fields["node"] = number
            if graph.sequence is not None:
                event.fields["sequence"] = graph.sequence
            if graph.leaf is not None:
                event.fields["leaf"] = graph.leaf.json()
        sequence = getattr(node.typed[1], "sequence_number", -1)
        if sequence >= 0:
            event.fields.setdefault("sequence", sequence)
        rest = [child for child in node.children if not child.name.startswith(NODE)]
        inner = [part for child in rest for part in (child.children if child.name == name else [child])]
        event.children = self.build(inner, around)
        return event


def _in_ranges(events: list[Event]) -> list[Event]:
    """Events with those inside of a range as its children: the modes end a range early in the profiler's tree."""
    out: list[Event] = []
    for event in events:
        around = out[-1] if out and out[-1].kind == "range" else None
        if around is not None and event.thread == around.thread and event.start < around.start + around.duration:
            around.children = _in_ranges([*around.children, event])
        else:
            out.append(event)
    return out


def _without_empty_ranges(events: list[Event]) -> list[Event]:
    for event in events:
        event.children = _without_empty_ranges(event.children)
    return [event for event in events if event.kind != "range" or event.children]


def _same(event: Event, name: str) -> bool:
    """Whether an event is a call of the operator of this name; the profiler may not know its overload."""
    return event.kind == "operator" and event.name in (name, name.partition(".")[0])


def _merged(outer: Event, inner: Event) -> Event:
    """An operator as the profiler saw it above autograd, with the dispatch mode's record of the same call."""
    at = outer.children.index(inner)
    inner.children = outer.children[:at] + inner.children + outer.children[at + 1 :]
    inner.start, inner.duration = outer.start, outer.duration
    inner.fields |= {key: value for key, value in outer.fields.items() if key not in inner.fields}
    return inner


def _allocated(event: Event) -> list[tuple[str, bool]]:
    """The devices on which an operator without tensors, a factory, allocated."""
    return [(part.name.partition(":")[0], False) for part in event.walk() if part.kind == "allocation"]


def _delegating(event: Event) -> Event:
    """Say which out= form a structured operator's default kernel calls: a backend registers that one only."""
    last = event.keys[-1] if event.keys else None
    if last is not None and "CompositeExplicitAutogradNonFunctional" in last.file:
        base = event.name.partition(".")[0].rstrip("_")
        names = [child.name for child in event.children if child.name.startswith(base + ".")]
        if names:
            event.fields["delegate"] = names[-1]
    return event


def _devices(extra: Any) -> Iterable[tuple[str, bool]]:
    """The devices of an operator's tensors, and whether they are sparse."""
    flat: list[Any] = []
    for value in getattr(extra, "inputs", ()):
        flat += value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    for value in flat:
        if hasattr(value, "device") and hasattr(value, "layout"):
            yield value.device.type, "sparse" in str(value.layout)
