"""A trace as lines for a terminal."""

from collections.abc import Iterator

from .events import Event, KeyStep, Place, TensorInfo, Trace
from .words import first_sentence, short

_STYLES = {
    "call": "1",
    "operator": "36",
    "backward": "35",
    "dim": "2",
    "bad": "31;1",
    "device": "32",
    "host": "33",
    "wait": "33",
}


def tensor_text(tensor: TensorInfo) -> str:
    what = f"{tensor.dtype}{list(tensor.shape)}"
    name = f"{tensor.name}=" if tensor.name else ""
    return f"{name}{tensor.label} {what}" if tensor.label else f"{name}{what}"


def key_text(step: KeyStep) -> str:
    """`PrivateUse1  kernel  csrc/aten/RegisterMinimal.cpp:46`"""
    if step.fate == "missing":
        return f"{step.key}  no kernel"
    return f"{step.key}  {step.kernel}  {short(step.file)}:{step.line}"


def place_text(place: Place) -> str:
    return place.file if place.file == "<expression>" else f"{short(place.file)}:{place.line}"


def in_place(name: str) -> bool:
    """Whether an operator's name ("aten::add_.Tensor") is that of its in-place form."""
    return name.partition(".")[0].endswith("_")


def matters(event: Event) -> bool:
    """Whether an operator inside of another did something: computed, queued, allocated, waited, fell back or failed."""
    return any(
        inner.kind in ("allocation", "kernel", "copy", "runtime", "call", "backward", "range")
        or any(key in inner.fields for key in ("computes", "wait", "fallbacks", "error", "delegate"))
        for inner in event.walk()
    )


class Printer:
    """Prints events as a tree. `everything`: with keys that are skipped, and operators that do nothing by themselves."""

    def __init__(self, everything: bool, colours: bool) -> None:
        self.everything, self.colours = everything, colours

    def style(self, text: str, name: str) -> str:
        return f"\033[{_STYLES[name]}m{text}\033[0m" if self.colours and name in _STYLES else text

    def tree(self, event: Event, before: str = "", inside: bool = False) -> Iterator[str]:
        """The lines of an event, which is a part of an operator if `inside`; `before` stands at the left of all but one."""
        yield self.head(event)
        within = event.kind == "operator"
        parts = [part for part in event.children if self.is_shown(part, within)]
        margin = before + ("│  " if parts else "   ")
        yield from (margin + line for line in self.details(event, inside))
        for part in parts:
            branch, onward = ("└─ ", "   ") if part is parts[-1] else ("├─ ", "│  ")
            lines = self.tree(part, before + onward, within)
            yield before + branch + next(lines)
            yield from lines

    def is_shown(self, event: Event, inside: bool = False) -> bool:
        """Whether an event is worth a line; `inside`: it is a part of an operator."""
        if self.everything:
            return True
        if event.kind == "repeat":
            return any(self.is_shown(part, inside) for part in event.children)
        return event.kind != "operator" or not inside or matters(event)

    def head(self, event: Event) -> str:
        fields = event.fields
        if event.kind == "repeat":
            return self.style(f"{fields['times']} times:", "call")
        if event.kind == "call":
            text = event.place.text if event.place else ""
            where = self.style(place_text(event.place), "dim") if event.place else ""
            parts = [self.style(text, "call"), event.name, where] if text else [self.style(event.name, "call"), where]
            return "  ".join(part for part in parts if part)
        if event.kind == "operator":
            given = ", ".join(tensor_text(tensor) for tensor in event.inputs)
            result = ", ".join(tensor_text(tensor) for tensor in event.outputs)
            text = self.style(event.name, "operator") + (f"  ({given})" if given else "")
            return text + (f" -> {result}" if result else "")
        if event.kind == "backward":
            return self._backward(event)
        if event.kind == "allocation":
            return self.style(f"allocates {fields['bytes']:,} bytes on {fields['device']}", "dim")
        if event.kind in ("kernel", "copy"):
            size = f", {fields['bytes']:,} bytes" if fields.get("bytes") else ""
            stream = f"stream {fields['stream']}" if "stream" in fields else ""
            where = ", ".join(part for part in (f"device {fields.get('device', 0)}", stream) if part)
            if fields.get("host"):
                return self.style(f"host function {event.name}", "host") + f"  on the CPU, queued on {where}"
            return self.style(f"{event.kind} {event.name}", "device") + f"  {where}{size}"
        return f"{event.kind} {event.name}"

    def _backward(self, event: Event) -> str:
        text = self.style(event.name.removeprefix("torch::autograd::"), "backward")
        leaf, forward = event.fields.get("leaf"), event.fields.get("forward")
        if leaf:
            return f"{text}  adds to {leaf['label']}.grad"
        if forward:
            where = f" in {event.place.text or place_text(event.place)}" if event.place else ""
            return f"{text}  backward of {forward['name']}{where}"
        return text

    def details(self, event: Event, inside: bool) -> Iterator[str]:
        steps = [step for step in event.keys if self.everything or step.fate != "skipped"]
        for step in steps:
            text = key_text(step) + ("  (skipped)" if step.fate == "skipped" else "")
            yield self.style(text, "bad" if step.fate == "missing" else "dim")
        skipped = [step.key for step in event.keys if step.fate == "skipped"]
        if skipped and not self.everything and not inside:
            yield self.style(f"skips {', '.join(skipped)}", "dim")
        if "delegate" in event.fields:
            result = "passes self as the result to" if in_place(event.name) else "allocates the result and calls"
            yield f"structured: the default kernel {result} {event.fields['delegate']}"
        yield from event.notes
        for row in event.fields.get("fallbacks", ()):
            copied = f", {row['bytes']:,} bytes copied" if row["bytes"] else ""
            reason = row["reason"] or "the backend does not say why"
            yield self.style(f"falls back to the CPU: {row['op']}: {reason}{copied}", "wait")
        if "wait" in event.fields:
            yield self.style(f"waits: {event.fields['wait']}", "wait")
        if "error" in event.fields and not any("error" in part.fields for part in event.children):
            yield self.style(f"failed: {first_sentence(event.fields['error'])}", "bad")


def lines(trace: Trace, everything: bool, tree: bool, colours: bool) -> Iterator[str]:
    """The trace's lines: the tree of calls if `tree`, then answers and what can't be shown."""
    printer = Printer(everything, colours)
    if tree:
        for event in trace.events:
            if printer.is_shown(event):
                yield from printer.tree(event)
        yield ""
    for answer in trace.answers:
        yield printer.style(answer.question, "call")
        yield from (f"  {text}" for text in answer.text)
        yield ""
    for note in trace.notes:
        yield f"note: {note}"
    if trace.error:
        yield printer.style(f"{trace.error['type']}: {first_sentence(trace.error['text'])}", "bad")
