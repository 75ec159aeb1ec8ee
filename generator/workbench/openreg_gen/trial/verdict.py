"""The verdict on an operator, from the outcomes of its tasks: whose kernel ran, what was wrong, how fast it was; as JSON and as text."""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ..absent import Absent, absent, line
from ..protocol import Workbench
from ..record import listed, schema_of
from ..served import MOVING, base_of
from ..sweep.cases import Task
from ..sweep.context import Context, case_command
from ..sweep.kernels import BORDERS, LARGE, RECORDED
from ..sweep.known import KnownDifferences
from ..testing import opinfos
from .proof import OTHER_DTYPES

FORMAT, VERSION = "openreg-gen try", 1
SHOWN = 12
# What is said of two speeds only if they differ by more: the same kernel in two processes differs by as much.
NOISE = 0.1
# The name of an operator's kernel where the dispatcher has another kernel than the operator's own.
NOT_OURS = {
    "fallback": "the backend's fallback, which computes on the CPU",
    "boxed": "the backend's fallback, registered for this operator",
    "default": "a composite kernel of PyTorch",
    "math": "a composite kernel of PyTorch",
    "none": "nothing",
    "fallthrough": "nothing",
}


def bases_of(op: str) -> set[str]:
    """The names of the operators that are meant by a user's word: of an entry of PyTorch's samples those that it is about."""
    if (info := opinfos.database().get(op)) is not None:
        return {name.removesuffix("_") for name in opinfos.names(info)}
    return {base_of(op)}


def subject_without_prefix(subject: str) -> str:
    for prefix in (BORDERS, LARGE):
        subject = subject.removeprefix(prefix)
    return subject


@dataclass
class Verdict:
    """An operator's trial. `wrong` has case, category and detail of each case that differs and isn't known."""

    op: str
    device: str
    tasks: dict[Task, dict[str, Any]] = field(default_factory=dict)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)
    known: int = 0
    no_memory: list[str] = field(default_factory=list)  # cases that the device has too little memory for
    workbench: Workbench = field(default_factory=Workbench)

    def add(self, task: Task, outcome: dict[str, Any], known: KnownDifferences) -> None:
        self.tasks[task] = outcome
        for name, category, detail in outcome["found"]:
            if task.subject.startswith(LARGE) and "OutOfMemoryError" in detail:
                self.no_memory.append(name)
            elif known.find("default", subject_without_prefix(name), category) is None:
                self.wrong.append((name, category, detail))
            else:
                self.known += 1

    @property
    def cases(self) -> int:
        return sum(sum(outcome["counts"].values()) for outcome in self.tasks.values())

    def is_judged(self, op: str) -> bool:
        """Whether "aten::add.out" is the operator: that overload if one was named, or the one that serves it, else all of its name."""
        if "." not in self.op or schema_of(f"aten::{self.op}") is None:
            return base_of(op) in bases_of(self.op)
        key = "CPU" if self.device == "cpu" else "PrivateUse1"
        return op in (f"aten::{self.op}", listed(f"aten::{self.op}", key))

    def reached(self) -> dict[str, tuple[int, str, str]]:
        """The overloads that reached the device: calls, how each is served, and where that was registered."""
        found: dict[str, tuple[int, str, str]] = {}
        for outcome in self.tasks.values():
            for op, (calls, how, place) in outcome.get("reached", {}).items():
                if self.is_judged(op):
                    found[op] = (found.get(op, (0,))[0] + calls, how, place)
        return found

    @property
    def is_composite(self) -> bool:
        """Whether PyTorch makes the operator of others, for this backend."""
        return not any(how in ("kernel", "fallback", "boxed") for _, how, _ in self.reached().values())

    def parts(self) -> dict[str, tuple[int, str, str]]:
        """The operators that compute a composite: what one call of it reaches."""
        found: dict[str, tuple[int, str, str]] = {}
        for outcome in self.tasks.values() if self.is_composite else ():
            for op, (calls, how, place) in outcome.get("inside", {}).items():
                if how in ("kernel", "fallback", "boxed") and op.removeprefix("aten::") not in MOVING:
                    found[op] = (found.get(op, (0,))[0] + calls, how, place)
        return found

    def on_host(self) -> Counter[str]:
        """Calls of this operator, or of the parts of a composite, that the host computed, by cause."""
        found: Counter[str] = Counter()
        parts = self.parts()
        for outcome in self.tasks.values():
            for op, cause, calls in outcome.get("fallbacks", ()):
                if self.is_judged(op) or op in parts:
                    found[cause] += calls
        return found

    def computing(self) -> dict[str, tuple[int, str, str]]:
        """The overloads that compute the operator."""
        return self.parts() if self.is_composite else self.reached()

    def kernels(self) -> dict[str, tuple[int, str, str]]:
        """The overloads that this backend has a kernel for, and that ran."""
        return {op: row for op, row in self.computing().items() if row[1] == "kernel"}

    def hosted(self) -> list[str]:
        """The overloads whose kernel, by this backend, calls the CPU's kernel: in the call of each task that was looked into."""
        found = {op for outcome in self.tasks.values() for op in outcome.get("hosted", ())}
        return sorted((found - self._on_device()) & self.kernels().keys())

    def _on_device(self) -> set[str]:
        """The overloads whose kernel, in the call of some task, did not hand it on."""
        return {
            op
            for outcome in self.tasks.values()
            for op, (_, how, _) in outcome.get("inside", {}).items()
            if how == "kernel" and op not in outcome.get("hosted", ())
        }

    @property
    def is_on_host(self) -> bool:
        """Whether the backend's kernels leave all of the computing to the host."""
        kernels = self.kernels()
        called = self.on_host()["kernel"] > 0 and not self.launches()
        return bool(kernels) and (self.hosted() == sorted(kernels) or called)

    @property
    def is_on_host_in_part(self) -> bool:
        handed_on = any(outcome.get("hosted") for outcome in self.tasks.values())
        return bool(handed_on or self.on_host()["kernel"]) and not self.is_on_host

    def absent(self) -> list[Absent]:
        """Facts that the backend doesn't report."""
        facts = {"fallbacks": "which calls the host computed", "profiler": "how many kernels a call launches"}
        return absent(self.device, self.workbench, facts, self.is_profiled)

    @property
    def is_profiled(self) -> bool:
        """Whether the profiler shows the device's work."""
        return not self.tasks or any(outcome.get("profiled", True) for outcome in self.tasks.values())

    @property
    def computed_on(self) -> str:
        """ "device", "host", or "" if that isn't known or differs from call to call."""
        fell_back = any(how in ("fallback", "boxed") for _, how, _ in self.computing().values())
        if self.is_on_host or (fell_back and not self.kernels()):
            return "host"
        return "device" if self.proved and not self.is_on_host_in_part else ""

    @property
    def proved(self) -> bool:
        """Whether kernels of this backend computed all calls."""
        others = [op for op, row in self.computing().items() if row[1] in ("fallback", "boxed")]
        return bool(self.kernels()) and not others and not self.on_host()["fallback"]

    @property
    def right(self) -> bool:
        return not self.wrong and self.cases > 0 and self.proved

    def launches(self) -> int | None:
        return max((outcome["launches"] for outcome in self.tasks.values() if outcome.get("launches")), default=None)

    def speeds(self) -> list[dict[str, Any]]:
        return [row for outcome in self.tasks.values() for row in outcome.get("speeds", ())]

    def json(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "device": self.device,
            "torch": torch.__version__,
            "right": self.right,
            "proved": self.proved,
            "cases": self.cases,
            "wrong": [{"case": case, "category": category, "detail": text} for case, category, text in self.wrong],
            "known": self.known,
            "no_memory": self.no_memory,
            "reached": {op: {"calls": calls, "by": how, "at": at} for op, (calls, how, at) in self.reached().items()},
            "parts": {op: {"calls": calls, "by": how, "at": at} for op, (calls, how, at) in self.parts().items()},
            "on_host": dict(self.on_host()),
            "hosted": self.hosted(),
            "computed_on": self.computed_on,
            "absent": [each.json() for each in self.absent()],
            "launches": self.launches(),
            "tasks": {str(task): sum(outcome["counts"].values()) for task, outcome in self.tasks.items()},
            "speeds": self.speeds(),
        }


def name_of(subject: str) -> str:
    if subject.startswith(RECORDED):
        return f"recorded in {os.path.basename(subject.removeprefix(RECORDED).rsplit(':', 1)[0])}"
    if subject.startswith(BORDERS):
        return f"{subject.removeprefix(BORDERS)}, around tile borders"
    if subject.startswith(LARGE):
        return f"{subject.removeprefix(LARGE)}, more than 2^31 elements"
    return f"{subject}, PyTorch's samples"


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def ratio(before: float, now: float, noise: float) -> str:
    """How many times as fast; "the same", or "too noisy" where so much more would not show."""
    faster = before / now
    apart = max(faster, 1 / faster)
    return "the same" if apart <= 1 + NOISE else f"{faster:.2g}x" if apart > 1 + noise else "too noisy"


def table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _kernel_lines(verdict: Verdict) -> list[str]:
    reached = verdict.reached()
    lines = [f"{verdict.op} on {verdict.device}: {verdict.cases} cases, PyTorch {torch.__version__}", ""]
    parts = verdict.parts()
    if not reached and not parts:
        return [*lines, f"{verdict.op} itself never reached the device: other operators computed its samples"]
    if parts:
        lines.append(f"  PyTorch makes {verdict.op} of other operators; samples of it called")
    ours = bool(verdict.kernels())
    for op, (calls, how, place) in (parts or reached).items():
        if ours and how in ("default", "math"):
            continue  # it calls the kernel
        who = f"this backend's kernel, registered at {place}" if how == "kernel" else NOT_OURS.get(how, how)
        who += ": it calls the CPU's kernel, on the host" if op in verdict.hosted() else ""
        lines.append(f"  {op.removeprefix('aten::')}: {calls} calls by {who}")
    host = verdict.on_host()
    if host["fallback"]:
        lines.append(f"  {host['fallback']} calls were computed by the fallback, on the CPU")
    if host[OTHER_DTYPES]:
        lines.append(
            f"  {host[OTHER_DTYPES]} calls with other dtypes beside these were computed by the fallback, on the CPU"
        )
    if host["kernel"]:
        lines.append(f"  {host['kernel']} calls were computed by the kernel on the host, on copies")
    if verdict.launches():
        number = verdict.launches()
        lines.append(f"  one call launches {number} kernel{'' if number == 1 else 's'} on the device")
    elif verdict.device != "cpu" and verdict.is_profiled:
        lines.append("  the profiler shows no kernel of a call on the device")
    return [*lines, *([f"  {unknown}"] if (unknown := line(verdict.absent())) else [])]


def text(verdict: Verdict, context: Context, last: dict[str, Any]) -> str:
    """The report on a terminal. `last`: the JSON of the last run, or empty."""
    lines = _kernel_lines(verdict)
    rows = [["arguments", "dtype", "cases", "wrong"]]
    for task, outcome in verdict.tasks.items():
        wrong = sum(
            1 for name, *_ in verdict.wrong if name.startswith(f"{task.subject}/") and f"/{task.dtype}/" in name
        )
        rows.append([name_of(task.subject), task.dtype, str(sum(outcome["counts"].values())), str(wrong)])
    lines += ["", *table(rows)]
    before = {row["case"]: row for row in last.get("speeds", ())}
    speeds = [["speed of", "device", "CPU", "against CPU", "against last run"]]
    for row in verdict.speeds():
        then = before.get(row["case"])
        noise = row["noise"] + (then or {}).get("noise", 0.0)
        against = ratio(then["device"], row["device"], noise) if then else "-"
        times = [microseconds(row["device"]), microseconds(row["cpu"]), ratio(row["cpu"], row["device"], row["noise"])]
        speeds.append([row["args"], *times, against])
    if len(speeds) > 1:
        lines += ["", *table(speeds)]
    if verdict.wrong:
        lines += ["", f"wrong: {len(verdict.wrong)} cases"]
        for name, category, detail in verdict.wrong[:SHOWN]:
            lines += [f"  {category}: {detail}", f"    {case_command(context, 'default', name)}"]
        if len(verdict.wrong) > SHOWN:
            lines.append(f"  and {len(verdict.wrong) - SHOWN} more; --json has them all")
    if verdict.known:
        lines.append(f"{verdict.known} known differences are left out")
    if verdict.no_memory:
        lines.append(f"not tried, because {verdict.device} has too little memory: {', '.join(verdict.no_memory)}")
    lines += ["", _conclusion(verdict)]
    return "\n".join(lines)


def _conclusion(verdict: Verdict) -> str:
    if not verdict.cases:
        if verdict.wrong:
            return f"nothing ran: {len(verdict.wrong)} of {len(verdict.tasks)} tasks failed; the first: {verdict.wrong[0][2]}"
        return f"nothing ran: PyTorch has no sample that calls {verdict.op} with these options"
    what = "right" if not verdict.wrong else f"wrong in {len(verdict.wrong)} of {verdict.cases} cases"
    kernel = "kernels of this backend" if verdict.is_composite else "this backend's kernel"
    if verdict.proved and verdict.hosted():
        calls = "call" if verdict.is_composite else "calls"
        part = "" if verdict.is_on_host else " in part"
        return f"{verdict.op}: {what}, but computed on the host{part}: {kernel} {calls} the CPU's kernel"
    if verdict.proved:
        where = ", on the host" if verdict.is_on_host else ", in part on the host" if verdict.is_on_host_in_part else ""
        return f"{verdict.op}: {what}, and {kernel} computed it{where}"
    if verdict.kernels():
        return f"{verdict.op}: {what}, but {kernel} did not compute it in all calls"
    return f"{verdict.op}: {what}, but {kernel} did not compute it"


# --- the last run


def results_file(given: str | None) -> Path:
    """--speeds, else a file of the tree around the current folder, else one in the current folder."""
    if given is not None:
        return Path(given)
    here = Path.cwd()
    tree = next((each / ".openreg-gen" for each in (here, *here.parents) if (each / ".openreg-gen").is_dir()), None)
    return tree / "try.json" if tree is not None else here / "try.json"


def read_results(path: Path) -> dict[str, Any]:
    """The last run of each operator by device and name. A file that holds something else is as none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if (data["format"], data["version"]) == (FORMAT, VERSION):
            return dict(data["runs"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {}


def write_results(path: Path, runs: dict[str, Any]) -> None:
    document = {"format": FORMAT, "version": VERSION, "runs": dict(sorted(runs.items()))}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
