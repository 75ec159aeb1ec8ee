"""What people ask of a trace: why does the error name this operator, which operator computed this gradient, what copied to the host."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .events import Answer, Event, Place
from .graph import Graph
from .words import at, short


def _paths(events: Iterable[Event], above: tuple[Event, ...] = ()) -> Iterable[tuple[Event, ...]]:
    """Each event with those around it, outermost first."""
    for event in events:
        path = (*above, event)
        yield path
        yield from _paths(event.children, path)


def place_of(path: tuple[Event, ...]) -> Place | None:
    """The line of the user's code that a path of events comes from."""
    return next((event.place for event in reversed(path) if event.place is not None), None)


# ---------------------------------------------------------------------------------------------------------- gradients


def _makers(events: list[Event]) -> dict[int, tuple[Event, ...]]:
    """The forward operator that made the node of autograd's graph with each number.

    A number is read when an operator starts, so that the operators around it and those just before have it too: the last
    one to start that is not part of a backward pass made the node.
    """
    found: dict[int, tuple[Event, ...]] = {}
    for path in _paths(events):
        number = path[-1].fields.get("sequence")
        if number is None or path[-1].kind != "operator" or any(event.kind == "backward" for event in path):
            continue
        before = found.get(number)
        if before is None or path[-1].start >= before[-1].start:
            found[number] = path
    return found


def gradients(events: list[Event], graph: Graph) -> Answer | None:
    """The operators that computed each leaf's gradient; None without a backward pass. Backward events learn their forward call."""
    passes = [event for root in events for event in root.walk() if event.kind == "backward"]
    if not passes:
        return None
    makers = _makers(events)
    for event in passes:
        maker = makers.get(event.fields.get("sequence", -1))
        if maker is not None:
            event.fields["forward"] = {"id": maker[-1].id, "name": maker[-1].name}
            event.place = place_of(maker)
    answer = Answer("Which operator computed this gradient?", [])
    done: set[str] = set()
    for event in passes:
        node = event.fields.get("node")
        if "leaf" not in event.fields or node is None:
            continue
        sources = []
        for number in graph.nodes[node].above:
            above = graph.nodes[number]
            maker = makers.get(-1 if above.sequence is None else above.sequence)
            made = f", the backward of {maker[-1].name} in {at(place_of(maker))}" if maker else ""
            sources.append(above.name + made)
        leaf = event.fields["leaf"]
        how = "adds up" if len(sources) > 1 else "is"
        line = (
            f"{leaf['label']}.grad {leaf['dtype']}{leaf['shape']} {how} what {' and '.join(sources) or 'the call'} gave"
        )
        if line not in done:
            done.add(line)
            answer.text.append(line)
            answer.events.append(event.id)
    return answer if answer.text else None


# -------------------------------------------------------------------------------------------------- copies and fallbacks


@dataclass
class _Group:
    times: int = 0
    bytes: int = 0
    events: list[int] = field(default_factory=list)


def copies(events: list[Event]) -> Answer | None:
    """Where each copy from the device to the host came from; None if there was none."""
    groups: dict[str, _Group] = {}
    for path in _paths(events):
        event = path[-1]
        hidden = sum(row["bytes"] for row in event.fields.get("fallbacks", ()))
        if hidden and not any(inner.fields.get("to_host") for inner in event.walk()):
            group = groups.setdefault(f"{at(place_of(path))}: {_cause(path)}, copied both ways", _Group())
            group.times += 1
            group.bytes += hidden
            group.events.append(event.id)
        if not event.fields.get("to_host"):
            continue
        if event.kind == "operator" and any(inner.kind == "copy" for inner in event.walk()):
            continue  # what the profiler saw of it is counted
        group = groups.setdefault(f"{at(place_of(path))}: {_cause(path)}", _Group())
        group.times += 1
        group.bytes += int(event.fields.get("bytes") or _size(path))
        group.events.append(event.id)
    if not groups:
        return None
    answer = Answer("Where did a copy to the host come from?", [])
    for what, group in groups.items():
        answer.text.append(f"{what} ({_times(group.times)}, {group.bytes:,} bytes)")
        answer.events.append(group.events[0])
    return answer


def _cause(path: tuple[Event, ...]) -> str:
    for event in reversed(path):
        for row in event.fields.get("fallbacks", ()):
            return f"{row['op']} fell back to the CPU" + (f", {row['reason']}" if row["reason"] else "")
    operators = [event for event in path if event.kind == "operator"]
    for event in operators:
        if event.name.startswith(("aten::item", "aten::_local_scalar_dense")):
            return f"{event.name} reads a number"
    return f"{operators[0].name} copies the tensor" if operators else "the device's own API"


def _size(path: tuple[Event, ...]) -> int:
    """The bytes of a copy that only an operator tells of: those allocated in it."""
    return sum(event.fields["bytes"] for event in path[-1].walk() if event.kind == "allocation")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def fallbacks(events: list[Event]) -> Answer | None:
    """The operators that the host computed, and why; None if there was none."""
    groups: dict[str, _Group] = {}
    for path in _paths(events):
        for row in path[-1].fields.get("fallbacks", ()):
            reason = row["reason"] or "the backend does not say why"
            group = groups.setdefault(f"{row['op']}: {reason}; called by {at(place_of(path))}", _Group())
            group.times += row["calls"]
            group.bytes += row["bytes"]
            group.events.append(path[-1].id)
    if not groups:
        return None
    answer = Answer("What did the host compute for the device, and why?", [])
    for what, group in groups.items():
        copied = f", {group.bytes:,} bytes copied" if group.bytes else ""
        answer.text.append(f"{what} ({_times(group.times)}{copied})")
        answer.events.append(group.events[0])
    return answer


# -------------------------------------------------------------------------------------------------------------- errors

_OPERATOR = re.compile(r"\b([A-Za-z_]\w*::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)")


def error(events: list[Event], text: str, type_name: str, place: Place | None, key: str, table: object) -> Answer:
    """Why code failed, and by which way it came to the operator that the error names.

    text: the error's. key: the backend's dispatch key. table: `Tables.path`, asked about operators that the trace lacks.
    The operator that the error names is added to the tree where it was called, if it never ran.
    """
    named = _OPERATOR.search(text)
    name = named[1] if named else ""
    question = f"Why does the error name {name}?" if name else f"Where does the {type_name} come from?"
    failed = [path for path in _paths(events) if "error" in path[-1].fields]
    if not failed:
        return Answer(question, [f"{at(place) if place else 'the code'} raised it, outside of PyTorch's operators"])
    path = max(failed, key=len)
    while inner := _enters(path[-1], name):  # what failed inside, which only the profiler saw
        path = (*path, inner[-1])
    path[-1].fields["error"] = text
    answer = Answer(question, [f"your code calls {at(place_of(path))}"], [path[-1].id])
    operators = [event for event in path if event.kind == "operator"]
    for event, then in zip(operators, [*(one.name for one in operators[1:]), ""], strict=True):
        answer.text.append(_step(event, then))
    if name and all(event.name != name for event in operators) and _exists(name, table):
        steps = table(name, [key])  # type: ignore[operator]
        event = Event("operator", name, path[-1].start + path[-1].duration, 0, path[-1].thread, keys=steps)
        event.fields["error"] = text
        event.id = max(inner.id for root in events for inner in root.walk()) + 1
        if operators:
            answer.text[-1] = _step(operators[-1], name)
        path[-1].children.append(event)
        answer.events.append(event.id)
        operators.append(event)
        answer.text.append(_step(event, ""))
    return answer


def _exists(name: str, table: object) -> bool:
    return bool(table(name, ["CPU"]))  # type: ignore[operator]


def _enters(event: Event, name: str) -> list[Event]:
    """The children from which an error came: those that lead to the operator that it names, else the out= form behind."""
    if name:
        return [child for child in event.children if any(inner.name == name for inner in child.walk())]
    return [child for child in event.children if child.name == event.fields.get("delegate")]


def _step(event: Event, then: str) -> str:
    """The last key of an operator: which kernel ran, and what it called."""
    last = event.keys[-1] if event.keys else None
    if last is None:
        return f"{event.name} ran" + (f", and called {then}" if then else "")
    where = f"{short(last.file)}:{last.line}"
    if last.fate == "missing":
        return f"{event.name} has no kernel for {last.key} and no fallback: the backend has to register it"
    if "CompositeExplicitAutogradNonFunctional" in last.file and then:
        return (
            f"{event.name} has no kernel of its own for {last.key}: the default one of structured operators ({where}) "
            f"allocates the result and calls {then}, so that a backend registers {then} only"
        )
    if "CompositeExplicitAutogradNonFunctional" in last.file:
        return f"{event.name} is structured: the part that all backends share ({where}) checks the shapes, and raised the error"
    what = {
        "math kernel": "is made of other operators",
        "default backend kernel": "has one kernel for all backends",
        "backend fallback": f"has no kernel for {last.key}: the fallback runs",
    }.get(last.kernel, f"has a kernel for {last.key}")
    return f"{event.name} {what} ({where})" + (f", which calls {then}" if then else ", which raised the error")
