"""The device that a sweep is of, its modes, and the command of a case."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..command import program
from ..protocol import Workbench

MODE_VARIABLE = "OPENREG_GEN_SWEEP_MODE"  # set in the process of a mode that has variables of its own


@dataclass(frozen=True)
class Context:
    """The device that is compared with the CPU. Workers get it as an argument."""

    device: str  # its type; "cpu" compares the CPU with itself
    package: str | None = None  # imported before the device is looked for
    start: str = "spawn"  # how workers start, as multiprocessing calls it
    mode: str = "default"
    examiner: Callable[..., Any] | None = None  # a runner.Examiner, made from the context and the task in the worker

    def place(self, index: int) -> torch.device:
        return torch.device("cpu") if self.device == "cpu" else torch.device(self.device, index)


def modes(workbench: Workbench) -> dict[str, dict[str, str]]:
    """Each mode with the variables of its processes; those of "default" are set in all of them."""
    common = workbench.modes.get("default", {})
    listed: Mapping[str, Mapping[str, str]] = {"default": {}, "deterministic": {}, **workbench.modes}
    return {name: {**common, **own} for name, own in listed.items()}


def enter(context: Context) -> None:
    """Settings of this process that a mode asks for beside its variables."""
    if context.mode == "deterministic":
        torch.use_deterministic_algorithms(True)


def case_command(context: Context, mode: str, case: str) -> str:
    """What runs one case again."""
    package = f" --import {context.package}" if context.package else ""
    named = "" if mode == "default" else f" --mode {mode}"
    return f"{program('sweep')} --device {context.device}{package}{named} --case {shlex.quote(case)}"
