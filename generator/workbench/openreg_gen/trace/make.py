"""Makes a trace of code: records it, builds the tree, and answers what people ask of it."""

from pathlib import Path

import torch

from .. import protocol
from . import answers, keys
from .code import Code
from .events import Event, Trace
from .fold import fold
from .record import Recording, record
from .tree import Builder

_INSTEAD = {"expression": "; write a call of one, such as 'torch.relu(a)'", "script": ""}
_SOURCE = 400_000  # bytes of a file that is shown beside the tree


def trace(code: Code, kind: str, workbench: protocol.Workbench, most: int) -> Trace:
    """Run the code and return what happened; `Trace.error` says if the code failed.

    kind: the type of the device that is traced. most: calls after which the code is stopped.
    """
    recording = record(code, kind, workbench, most)
    tables = keys.Tables()
    events = Builder(recording, tables, kind, "fallbacks" in workbench.provided).events()
    described = {"kind": code.kind, "text": code.text if code.kind == "expression" else "", "file": code.file}
    described["arguments"] = " ".join(code.arguments)
    made = Trace(described, kind, torch.__version__, events, {})
    _answer(made, recording, tables, kind)
    made.sources = _sources(made, code)
    made.notes = _notes(events, recording, kind, code.kind, workbench, most)
    made.events = fold(events)
    number = max((event.id for event in made.walk()), default=0)
    for event in made.walk():  # repeats
        if not event.id:
            number += 1
            event.id = number
    kept = {event.id for event in made.walk()}
    for answer in made.answers:
        answer.events = [one for one in answer.events if one in kept]
    return made


def _answer(made: Trace, recording: Recording, tables: keys.Tables, kind: str) -> None:
    failure = recording.error
    if failure is not None:
        text = str(failure) or type(failure).__name__
        made.error = {"type": type(failure).__name__, "text": text}
        key = torch._C._dispatch_key_for_device(kind)
        place = recording.error_place
        made.answers.append(answers.error(made.events, text, type(failure).__name__, place, key, tables.path))
    for answer in (
        answers.gradients(made.events, recording.graph),
        answers.copies(made.events),
        answers.fallbacks(made.events),
    ):
        if answer is not None:
            made.answers.append(answer)


def _sources(made: Trace, code: Code) -> dict[str, str]:
    """The text of the files of the user's code, the traced one first."""
    found = {code.file: code.text}
    for event in made.walk():
        file = event.place.file if event.place else code.file
        if file not in found:
            try:
                found[file] = Path(file).read_text(errors="replace")[:_SOURCE]
            except OSError:
                found[file] = ""
    return {file: text for file, text in found.items() if text}


def _notes(
    events: list[Event], recording: Recording, kind: str, made_of: str, workbench: protocol.Workbench, most: int
) -> list[str]:
    """Reasons why the trace does not show something."""
    notes = []
    if recording.stopped:
        notes.append(f"the code was stopped after {most} calls; --limit N takes more")
    everything = [event for root in events for event in root.walk()]
    if not everything:
        notes.append(f"the code called no operator{_INSTEAD[made_of]}")
    if kind == "cpu":
        return notes
    reports = recording.error is not None or any(event.kind in ("kernel", "copy", "runtime") for event in everything)
    says_why = "fallbacks" in workbench.provided
    if not reports and not says_why:
        notes.append("this backend reports neither kernels nor why operators fall back")
    elif not reports:
        notes.append("this backend reports no kernels: it has no profiler, or the code queued none")
    elif not says_why:
        notes.append(f"this backend does not say why operators fall back: it has no torch.{kind}._workbench.fallbacks")
    return notes
