"""Tasks in worker processes: a crash or a hang costs one case.

Where a backend says "fork", the parent imports PyTorch's samples and forks workers before it has used the device, since a child
can't use one that its parent used. Elsewhere workers start anew and import the samples themselves.
"""

import gc
import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from .. import workers
from ..device import count, first_line, open_device
from ..workers import ParentEnded, Report, overdue
from . import cases, reached
from .cases import Case, Selection, Task
from .compare import Call, Difference, check
from .context import Context, enter

GIVE_UP = 12  # crashes and hangs of one task
COLLECT = 32  # cases between two collections of garbage


class Examiner(Protocol):
    """Looks at the cases of a task, and says what it found when they ended: members of the task's outcome."""

    def before(self, case: Case) -> None: ...
    def after(self, case: Case, difference: Difference | None) -> None: ...
    def end(self, report: Callable[[str], None]) -> dict[str, Any]: ...


def devices_for(call: Call) -> int:
    """How many devices a call wants."""
    return 1 + max(call.device, call.current, 1 if call.elsewhere else 0)


def collect() -> None:
    """Frees what cases left in reference cycles. Fake tensors that raise leave a block suspended that sets the dispatcher's state back
    when it is freed: in the midst of a later case, autograd was off for the rest of the worker's life, on the CPU, too, and nothing
    differed. So garbage is collected here only, and the state is kept."""
    with torch._C._PreserveDispatchKeyGuard():  # type: ignore[attr-defined]
        gc.collect()
    gc.freeze()  # what lives on isn't looked at again


def described(error: BaseException) -> str:
    """An error, its cause first, and the innermost line of Python that it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({os.path.basename(last[0].filename)}:{last[0].lineno}, in {last[0].name})" if last else ""
    return f"{type(error).__name__}: {first_line(error)}{where}"


def work(context: Context, task: Task, selection: Selection, skipped: set[str], report: Report) -> dict[str, Any]:
    """Runs a task: how many cases of each variant ran, and those that differ. A case that wants more devices than there are
    is left out."""
    counts: Counter[str] = Counter()
    found: list[tuple[str, str, str]] = []
    there = count(context.device)
    examiner: Examiner | None = context.examiner(context, task) if context.examiner else None
    listener = reached.Listener() if context.device != "cpu" and examiner is None else None

    extra: dict[str, Any] = {}
    try:
        for case in cases.cases(task, selection):
            if case.name in skipped or devices_for(case.call) > there:
                continue
            report.case(case.name)
            if sum(counts.values()) % COLLECT == 0:
                collect()
                if listener is not None:
                    listener.begin()
            if examiner is not None:
                examiner.before(case)
            listens = listener is not None and reached.hears(case.name)

            def on_device(listens: bool = listens) -> None:
                report.on_device()
                if listener is not None and listens:
                    listener.on()

            place, poisons = context.place(case.call.device), examiner is not None
            difference = check(case.call, case.seed, place, on_device, poisons)
            if listener is not None:
                listener.off()
            if examiner is not None:
                examiner.after(case, difference)
            counts[case.name.rsplit("/", 3)[1]] += 1
            if difference is not None:
                found.append((case.name, *difference))
    except (ParentEnded, BrokenPipeError):
        raise
    except (
        Exception
    ) as error:  # samples that PyTorch can't make, arguments that the device can't have, or a variant's own error
        found.append((f"{task.subject}/samples/{task.dtype}/0", "structure", described(error)))
    finally:
        if listener is not None:
            listener.end()
            if not listener.deaf:
                extra["kernels"], extra["fell_back"] = sorted(listener.ran), sorted(listener.fell_back)
    if examiner is not None:
        extra = examiner.end(report.case)
    return {"counts": dict(counts), "found": found, **extra}


@dataclass(frozen=True)
class SweepPlan:
    """The work of a sweep's workers."""

    context: Context
    selection: Selection
    give_up: int = GIVE_UP

    @property
    def start(self) -> str:
        return self.context.start

    @property
    def device(self) -> str:
        return self.context.device

    def group(self, task: Task) -> None:
        return None  # any worker does any task

    def first(self, task: Task) -> str:
        return f"{task.subject}/samples/{task.dtype}/0"

    def open(self) -> None:
        enter(self.context)
        open_device(self.context.device, self.context.package)
        gc.disable()

    def work(self, task: Task, skipped: set[str], report: Report) -> dict[str, Any]:
        return work(self.context, task, self.selection, skipped, report)


def run(
    context: Context, tasks: list[Task], selection: Selection, jobs: int, timeout: float
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Each task with what was found, in the order in which they end. Raises DeviceError if the device does not answer."""
    for task, outcome in workers.run(SweepPlan(context, selection), list(tasks), jobs, timeout, overdue):
        del outcome["rows"]
        found = [(name, *why) for name, why in outcome.pop("lost").items()]
        yield task, {"counts": {}, **outcome, "found": [*outcome.get("found", ()), *found]}
