"""Facts that a backend doesn't report, and so a tool can't show: a line for all, in a tree of openreg-gen with the command that adds them."""

import contextlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from . import device, protocol

# Facts about a backend, by the component of a tree that reports them: members of `_workbench`, and "profiler".
COMPONENTS = {
    "fallbacks": "fallback_report",
    "profiler": "profiler",
    "known": "loops",
    "modes": "loops",
    "excluded": "testing",
    "operators": "testing",
}


class Absent(NamedTuple):
    """A fact that a backend doesn't report. shows: what the tool would show with it. component: what adds it to a tree of
    openreg-gen; "" of another backend. provide: what another backend has to provide."""

    shows: str
    component: str
    provide: str

    @property
    def command(self) -> str:
        return f"openreg-gen add component {self.component}" if self.component else ""

    def json(self) -> dict[str, str]:
        return {**self._asdict(), "command": self.command}


def is_rendered(kind: str) -> bool:
    """Whether the backend is a tree of openreg-gen that lacks components: such a tree has a module that names them."""
    package = getattr(device.module(kind), "__name__", "").partition(".")[0]
    with contextlib.suppress(ImportError, ValueError):
        return bool(package) and importlib.util.find_spec(f"{package}._absent") is not None
    return False


def absent(kind: str, workbench: protocol.Workbench, facts: Mapping[str, str], profiled: bool = True) -> list[Absent]:
    """Those of the facts that the backend doesn't report, each with what the tool shows with it. `profiled`: whether the profiler
    shows the device's work."""
    if kind == "cpu":
        return []
    rendered = is_rendered(kind)
    found = []
    for fact, shows in facts.items():
        if profiled if fact == "profiler" else fact in workbench.provided:
            continue
        member = "a profiler for the device" if fact == "profiler" else f"torch.{kind}._workbench.{fact}"
        found.append(Absent(shows, COMPONENTS[fact] if rendered else "", member))
    return found


def line(listed: Sequence[Absent]) -> str:
    """All of them as one line; "" if there are none."""
    if not listed:
        return ""
    components = list(dict.fromkeys(each.component for each in listed if each.component))
    if components:
        command = f"openreg-gen add component {' '.join(components)}"
        return f"not shown, since the backend doesn't report it: {_and([each.shows for each in listed])}; in its tree, add it: `{command}`"
    shown = _and([f"{each.shows} ({each.provide})" for each in listed])
    return f"not shown, since the backend doesn't report it: {shown}"


def _and(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), words[-1]])


def has_profiler(kind: str) -> bool:
    """Whether PyTorch's profiler shows the work of a device, by that of a copy to it."""
    wait: Any = getattr(device.module(kind), "synchronize", lambda: None)
    with contextlib.suppress(Exception):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as profiler:
            torch.ones(1).to(kind)
            wait()
        from .trace.record import device_rows

        return bool(device_rows(profiler))
    return False
