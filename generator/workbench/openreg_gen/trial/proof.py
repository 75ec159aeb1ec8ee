"""What ran for an operator on the device, and how long it took: looks at the cases of a task in the sweep's worker.

Whose kernel ran is told by three witnesses: the execution trace (openreg_gen.calls) counts the overloads that reached the device,
the dispatcher names the kernel of each, and the backend's own count, where it has one, says what the host computed. Where the
profiler knows the device, it counts the kernels that one call launched.
"""

import contextlib
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._pytree import tree_leaves

from .. import protocol
from ..absent import has_profiler
from ..calls import Counts, counted, names_of
from ..served import base_of, served
from ..sweep.cases import Case, Task
from ..sweep.compare import Difference, synchronize
from ..sweep.context import Context
from ..sweep.copies import Copier, tensors
from ..sweep.kernels import LARGE, RECORDED
from ..trace.record import device_rows

SECONDS = 0.05  # that a measurement takes
ROUNDS = 7  # of it; the best one counts
MOST = 200  # calls of a round
OTHER_DTYPES = "other dtypes"  # the cause of a fallback in a case whose dtypes the trial is not of
MEASURED = 32  # cases of a recorded task; of others, the largest


def describe(call_args: Any) -> str:
    """Shapes and dtypes, as a table has room for them."""
    listed = [f"{str(x.dtype).removeprefix('torch.')}[{', '.join(map(str, x.shape))}]" for x in tensors(call_args)]
    return " ".join(listed[:3]) + (" ..." if len(listed) > 3 else "")


def caller(case: Case, device: torch.device) -> Callable[[int], float]:
    """A function that makes so many calls and returns the seconds of one. It has made the first call, which also loads and compiles."""
    args, kwargs = Copier(device)((case.call.args, case.call.kwargs))

    def seconds(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            case.call.function(*args, **kwargs)
            if device.type != "cpu":
                synchronize(device)
        return (time.perf_counter() - start) / calls

    seconds(1)
    return seconds


def speed_of(case: Case, device: torch.device) -> dict[str, float] | None:
    """The seconds of a call on the CPU and on the device, each the best of rounds that take turns, and their noise: how far the
    third best round is above the best one. None if they can't be measured."""
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            callers = {"cpu": caller(case, torch.device("cpu")), "device": caller(case, device)}
            calls = {
                name: max(1, min(MOST, int(SECONDS / ROUNDS / max(run(1), 1e-9)))) for name, run in callers.items()
            }
            rounds = [{name: run(calls[name]) for name, run in callers.items()} for _ in range(ROUNDS)]
    except Exception:  # its own arguments change from call to call
        return None
    times = {name: [each[name] for each in rounds] for name in callers}
    best = {name: min(each) for name, each in times.items()}
    return {**best, "noise": max(sorted(times[name])[2] / best[name] - 1 for name in times)}


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


def hosted(reached: Mapping[str, Sequence[Any]], counts: Counts) -> list[str]:
    """Operators that have a kernel of the backend's, and called themselves with the CPU's tensors alone: the kernel hands the call on."""

    by_cpu = {base_of(op) for op, kinds, _ in counts if set(kinds) == {"cpu"}}
    return [op for op, (_, how, _) in reached.items() if how == "kernel" and base_of(op) in by_cpu]


class Witness:
    """A sweep's examiner (runner.Examiner) of one task. `dtypes`: those that the trial is of."""

    def __init__(self, dtypes: Sequence[str], context: Context, task: Task) -> None:
        self.kind, self.task, self.context = context.device, task, context
        self.dtypes = {getattr(torch, each) for each in (*dtypes, task.dtype)}
        self.workbench = protocol.of(context.device)
        self.names = names_of(context.device)
        self.fallbacks: Counter[tuple[str, str]] = Counter()
        self.right: list[Case] = []
        self.open = contextlib.ExitStack()
        self.counts: Counts = self.open.enter_context(counted())

    def before(self, case: Case) -> None:
        self.workbench.reset_fallbacks()

    def after(self, case: Case, difference: Difference | None) -> None:
        for row in self.workbench.fallbacks():
            self.fallbacks[row.op, row.cause if self.is_of_trial(case) else OTHER_DTYPES] += row.calls
        if difference is None and "/forward/" in case.name and not self.task.subject.startswith(LARGE):
            self.right.append(case)

    def is_of_trial(self, case: Case) -> bool:
        """Whether all dtypes of a call are those of the trial: a kernel may leave others to the host."""
        leaves = tree_leaves((case.call.args, case.call.kwargs))
        given = {each.dtype for each in leaves if isinstance(each, torch.Tensor)}
        given |= {each for each in leaves if isinstance(each, torch.dtype)}
        return given <= self.dtypes

    def on_device(self, counts: Counts) -> dict[str, list[Any]]:
        """Operators of some counts that had a tensor of the device: calls, how each is served, and where that was registered."""
        reached: Counter[str] = Counter()
        for (op, kinds, _), number in counts.items():
            if self.names.intersection(kinds) and op.startswith("aten::"):
                reached[op] += number
        return {op: [number, *served(self.kind, op)] for op, number in sorted(reached.items())}

    def inside(self, case: Case) -> tuple[dict[str, list[Any]], list[str]]:
        """The operators that one call reaches, since a composite is made of them; and those whose kernel calls the CPU's kernel."""
        with contextlib.suppress(Exception), warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            args, kwargs = Copier(self.context.place(case.call.device))((case.call.args, case.call.kwargs))
            with counted() as counts:
                case.call.function(*args, **kwargs)
            reached = self.on_device(counts)
            return reached, hosted(reached, counts)
        return {}, []

    def end(self, report: Callable[[str], None]) -> dict[str, Any]:
        self.open.close()
        speeds: list[dict[str, Any]] = []
        device = self.context.place(0)
        ordered = sorted(self.right, key=lambda case: -sum(x.numel() for x in tensors(case.call.args)))
        for case in ordered[: MEASURED if self.task.subject.startswith(RECORDED) else 1]:
            report(case.name)
            if speed := speed_of(case, device):
                speeds.append({"case": case.name, "args": describe((case.call.args, case.call.kwargs)), **speed})
        inside, on_host = self.inside(ordered[0]) if ordered and self.kind != "cpu" else ({}, [])
        launches = launches_of(ordered[0], device) if ordered else None
        return {
            "reached": self.on_device(self.counts),
            "inside": inside,
            "hosted": on_host,
            "fallbacks": [[op, cause, calls] for (op, cause), calls in sorted(self.fallbacks.items())],
            "launches": launches,
            "profiled": launches is not None or self.kind == "cpu" or has_profiler(self.kind),
            "speeds": speeds,
        }
