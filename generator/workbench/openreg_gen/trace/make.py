"""Makes a trace of code: records it, builds the tree, and answers what people ask of it."""

from pathlib import Path

import torch

from .. import protocol
from ..absent import absent, has_profiler, line
from . import answers, keys
from .code import Code
from .events import Trace
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
    profiled = any(event.kind in ("kernel", "copy", "runtime") for event in made.walk()) or has_profiler(kind)
    facts = {
        "fallbacks": "why operators fall back to the CPU",
        "profiler": "the kernels and copies that the device ran",
    }
    made.absent = absent(kind, workbench, facts, profiled)
    made.notes = [*_notes(made, recording, code.kind, most), *filter(None, [line(made.absent)])]
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


def _notes(made: Trace, recording: Recording, made_of: str, most: int) -> list[str]:
    """Reasons why the trace does not show something, beside those of the backend."""
    notes = []
    if recording.stopped:
        notes.append(f"the code was stopped after {most} calls; --limit N takes more")
    if not made.events:
        notes.append(f"the code called no operator{_INSTEAD[made_of]}")
    return notes
