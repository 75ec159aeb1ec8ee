"""What a backend tells the workbench of itself, where no interface of PyTorch's does: `torch.NAME._workbench`.

Any object will do, a module say. All its members are optional; a tool says what it can't show without one:

    modes: dict[str, dict[str, str]]   settings under which the sweep runs: a name, and variables of the environment. The
                                       mode "default" is there in any case
    start: "fork" or "spawn"           how worker processes start; "fork" only where a child can use the device after its
                                       parent asked for the number of devices
    known: list of rows                differences from the CPU that are meant, as `openreg_gen.sweep.known.KnownDifference` has them:
                                       case, category, reason, and then cites, mode, kernel
    most: dict[str, int]               how many known differences of a category a sample of the sweep may find
    excluded: list of rows             tests of PyTorch's that are left out: class, test ("*" for all of them), reason
    operators: list                    what the backend says about the tests of an operator: name, forms, serves, dtypes,
                                       tolerance, skips
    fallbacks() -> list of rows        what the host computed since the last reset: operator ("aten::add.out"), calls,
                                       bytes copied, seconds, reason, and the cause: "fallback", which is the default, or
                                       "kernel", of an operator whose kernel runs on copies on the host
    reset_fallbacks() -> None          forgets them

A backend written by hand provides what it has in a few lines:

    import types, torch
    from . import _C

    torch.mine._workbench = types.SimpleNamespace(
        modes={"sync": {"MINE_LAUNCH_BLOCKING": "1"}},
        fallbacks=_C.fallback_rows,
        reset_fallbacks=_C.reset_fallbacks,
    )
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import device


class Fallback(NamedTuple):
    """An operator that the host computed: how often, the bytes that were copied both ways, the seconds, and why."""

    op: str
    calls: int
    bytes: int
    seconds: float
    reason: str = ""
    cause: str = "fallback"


@dataclass(frozen=True)
class Workbench:
    """The members of a backend's protocol, each with a default."""

    provided: frozenset[str] = frozenset()
    modes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    start: str = "spawn"
    known: Sequence[Any] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    excluded: Sequence[tuple[str, str, str]] = ()
    operators: Sequence[Any] = ()
    fallback_rows: Callable[[], Sequence[Sequence[Any]]] | None = None
    reset: Callable[[], None] | None = None

    def fallbacks(self) -> list[Fallback]:
        """Rows of what the host computed since the last reset; empty where the backend does not count it."""
        return [] if self.fallback_rows is None else [Fallback(*row) for row in self.fallback_rows()]

    def reset_fallbacks(self) -> None:
        if self.reset is not None:
            self.reset()


_MEMBERS = ("modes", "start", "known", "most", "excluded", "operators", "fallbacks", "reset_fallbacks")


class ProtocolError(TypeError):
    """`torch.NAME._workbench` has a member of another kind than the protocol wants."""


def of(kind: str) -> Workbench:
    """Read the protocol of a device's backend. Raises ProtocolError, which names the member that is wrong."""
    given = getattr(device.module(kind), "_workbench", None)
    if given is None:
        return Workbench()
    found = {name: getattr(given, name) for name in _MEMBERS if hasattr(given, name)}
    wrong: dict[str, str] = {
        **{name: "a dict" for name in ("modes", "most") if not isinstance(found.get(name, {}), Mapping)},
        **{
            name: "a list"
            for name in ("known", "excluded", "operators")
            if not isinstance(found.get(name, []), Sequence)
        },
        **{
            name: "a function"
            for name in ("fallbacks", "reset_fallbacks")
            if name in found and not callable(found[name])
        },
    }
    if found.get("start", "spawn") not in ("fork", "spawn"):
        wrong["start"] = '"fork" or "spawn"'
    for name, kind_of in wrong.items():
        raise ProtocolError(f"torch.{kind}._workbench.{name} is {found[name]!r}; it has to be {kind_of}")
    provided = frozenset(found)
    rows, reset = found.pop("fallbacks", None), found.pop("reset_fallbacks", None)
    return Workbench(provided=provided, fallback_rows=rows, reset=reset, **found)
