"""Which of the backend's kernels a sweep called.

PyTorch's profiler names each call of the dispatcher with its overload, on all threads, those of backward included. It listens only while
a case runs on the device. A kernel counts if its operator was called meanwhile; inside the fallback that call may have been the CPU's.
"""

import os
from typing import Any

import torch
from torch._C._autograd import _disable_profiler, _enable_profiler, _enable_record_function, _prepare_profiler
from torch._C._profiler import ProfilerActivity, ProfilerConfig, ProfilerState, _ExperimentalConfig

from ..served import FALLBACK, KERNEL, PARTS, base_of, computed_by, moves
from ..testing import opinfos

KEYS = ("PrivateUse1", "AutogradPrivateUse1")
WITH_GROUPS = ("c10d::", "_c10d_functional::")  # collectives: the sweep has no process groups
SHOWN = 12


def registered() -> list[str]:
    """Operators for which the backend that is loaded has a kernel of its own."""
    listed = {name for key in KEYS for name in torch._C._dispatch_get_registrations_for_dispatch_key(key)}
    return sorted(name for name in listed if not name.startswith(WITH_GROUPS))


def line(names: list[str], ran: set[str], shown: int | None = SHOWN) -> str:
    """How many kernels ran, and which didn't."""
    left = [name.removeprefix("aten::") for name in names if name not in ran]
    text = f"{len(names) - len(left)} of {len(names)} kernels of this backend ran"
    if not left:
        return f"{text}."
    more = "" if shown is None or len(left) <= shown else f" and {len(left) - shown} more, all of them on the page"
    return f"{text}; not reached: {', '.join(left[:shown])}{more}"


def hears(case: str) -> bool:
    """Not the variants that call again what others call, with fake tensors beside: they make most of the calls."""
    return "fakes" not in case.rsplit("/", 3)[1]


def device_of_backend() -> str:
    return torch._C._get_privateuse1_backend_name()


def by_whom(info: Any, kernels: set[str], fell_back: set[str]) -> str:
    """The code that computed a subject of the sweep: KERNEL, FALLBACK, or PARTS if nothing says so. info: its OpInfo; None of others.

    PARTS is also what a view is: its kernel computes nothing. kernels: the backend's that ran. fell_back: operators that were called and that the fallback serves. Both have what kernels and the
    fallback called in turn, so the subject's own operators decide where they are among them.
    """
    own = opinfos.names(info) if info is not None else set()
    own = {name.removesuffix("_") for name in own}
    computing = {op for op in kernels - fell_back if op.startswith("aten::") and not moves(op)}
    for ops, whom in ((computing, KERNEL), (fell_back, FALLBACK), (kernels, PARTS)):
        if any(base_of(op) in own for op in ops):
            return whom
    return KERNEL if computing else FALLBACK if fell_back else PARTS


class Listener:
    """Listens to what runs between on() and off(), on one thread and in its backward passes."""

    def __init__(self) -> None:
        self.names = frozenset(registered())
        self.ran: set[str] = set()
        self.fell_back: set[str] = set()  # operators that were called and that the CPU fallback serves
        self.open = False
        self.deaf = False  # whether this PyTorch has no such profiler, or a case's own is running
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it writes a line about each start
        self._config = ProfilerConfig(
            ProfilerState.KINETO, False, False, False, False, False, _ExperimentalConfig(capture_overload_names=True)
        )

    def begin(self) -> None:
        """Also takes over what it heard, so that it needn't keep much."""
        self.end()
        activities = {ProfilerActivity.CPU}
        try:
            _prepare_profiler(self._config, activities)
            _enable_profiler(self._config, activities)
        except RuntimeError:
            self.deaf = True
            return
        self.open = True
        self.off()

    def on(self) -> None:
        if self.open:
            _enable_record_function(True)

    def off(self) -> None:
        if self.open:
            _enable_record_function(False)

    def end(self) -> None:
        if not self.open:
            return
        self.on()
        self.open = False
        ended: Any = _disable_profiler()
        heard = set()
        for event in ended.events():
            overload = event.overload_name()
            heard.add(f"{event.name()}.{overload}" if overload else event.name())
        self.ran |= heard & self.names
        operators = {name for name in heard if name.startswith("aten::")}
        self.fell_back |= {name for name in operators if computed_by(device_of_backend(), name) == FALLBACK}
