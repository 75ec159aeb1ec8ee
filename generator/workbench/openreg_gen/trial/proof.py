"""What ran for an operator on the device, and how long it took: looks at the cases of a task in the sweep's worker.

Whose kernel ran is told by three witnesses: the execution trace (openreg_gen.calls) counts the overloads that reached the device,
the dispatcher names the kernel of each, and the backend's own count, where it has one, says what the host computed. Where the
profiler knows the device, it counts the kernels that one call launched.
"""

import contextlib
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from .. import protocol
from ..audit import dispatcher
from ..calls import Counts, counted
from ..sweep.cases import Case, Task
from ..sweep.compare import Difference, synchronize
from ..sweep.context import Context
from ..sweep.copies import Copier, tensors
from ..sweep.kernels import LARGE, RECORDED
from ..trace.record import device_rows

SECONDS = 0.05  # that a measurement takes
MOST = 200  # calls of it
MEASURED = 32  # cases of a recorded task; of others, the largest


def describe(call_args: Any) -> str:
    """Shapes and dtypes, as a table has room for them."""
    listed = [f"{str(x.dtype).removeprefix('torch.')}[{', '.join(map(str, x.shape))}]" for x in tensors(call_args)]
    return " ".join(listed[:3]) + (" ..." if len(listed) > 3 else "")


def seconds_of(case: Case, device: torch.device) -> float | None:
    """The median time of a call; None if it can't be measured."""
    args, kwargs = Copier(device)((case.call.args, case.call.kwargs))
    times = []
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.perf_counter()
            for number in range(MOST):
                start = time.perf_counter()
                case.call.function(*args, **kwargs)
                if device.type != "cpu":
                    synchronize(device)
                end = time.perf_counter()
                if number or end - begun > SECONDS:  # the first one also loads and compiles
                    times.append(end - start)
                if end - begun > SECONDS:
                    break
    except Exception:  # its own arguments change from call to call
        return None
    return sorted(times)[len(times) // 2]


def launches_of(case: Case, device: torch.device) -> int | None:
    """How many kernels one call launches; None where the profiler doesn't know the device."""
    if device.type == "cpu":
        return None
    with contextlib.suppress(Exception):
        args, kwargs = Copier(device)((case.call.args, case.call.kwargs))
        synchronize(device)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as profiler:
            case.call.function(*args, **kwargs)
            synchronize(device)
        found = [row for row in device_rows(profiler).values() if row["category"] == "kernel"]
        return len(found) or None
    return None


def served(kind: str, operator: str) -> tuple[str, str]:
    """How the dispatcher serves an operator ("aten::add.out") on a device, as audit.dispatcher says it, and where that was registered."""
    key = dispatcher.keys_of(kind)[0]
    how, place = dispatcher.parse_served(torch._C._dispatch_dump_table(operator), key)
    registered = dispatcher.parse_registrations(operator, torch._C._dispatch_dump(operator), [key])
    if how == "kernel" and any(each.boxed and each.active for each in registered):
        how = "boxed"
    return how, f"{place.file}:{place.line}" if place.line else place.file


class Witness:
    """A sweep's examiner (runner.Examiner) of one task."""

    def __init__(self, context: Context, task: Task) -> None:
        self.kind, self.task, self.context = context.device, task, context
        self.workbench = protocol.of(context.device)
        self.fallbacks: Counter[tuple[str, str]] = Counter()
        self.right: list[Case] = []
        self.open = contextlib.ExitStack()
        self.counts: Counts = self.open.enter_context(counted())

    def before(self, case: Case) -> None:
        self.workbench.reset_fallbacks()

    def after(self, case: Case, difference: Difference | None) -> None:
        for row in self.workbench.fallbacks():
            self.fallbacks[row.op, row.cause] += row.calls
        if difference is None and "/forward/" in case.name and not self.task.subject.startswith(LARGE):
            self.right.append(case)

    def end(self, report: Callable[[str], None]) -> dict[str, Any]:
        self.open.close()
        reached: Counter[str] = Counter()
        for (op, kinds, _), number in self.counts.items():
            if self.kind in kinds and op.startswith("aten::"):
                reached[op] += number
        speeds: list[dict[str, Any]] = []
        device = self.context.place(0)
        ordered = sorted(self.right, key=lambda case: -sum(x.numel() for x in tensors(case.call.args)))
        for case in ordered[: MEASURED if self.task.subject.startswith(RECORDED) else 1]:
            report(case.name)
            cpu, ours = seconds_of(case, torch.device("cpu")), seconds_of(case, device)
            if cpu and ours:
                what = describe((case.call.args, case.call.kwargs))
                speeds.append({"case": case.name, "args": what, "cpu": cpu, "device": ours})
        return {
            "reached": {op: [number, *served(self.kind, op)] for op, number in sorted(reached.items())},
            "fallbacks": [[op, cause, calls] for (op, cause), calls in sorted(self.fallbacks.items())],
            "launches": launches_of(ordered[0], device) if ordered else None,
            "speeds": speeds,
        }
