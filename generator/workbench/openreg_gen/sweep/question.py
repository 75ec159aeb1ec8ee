"""The question that a judge of `properties.py` gets, and its answers."""

from dataclasses import dataclass
from typing import Any

import torch

from .compare import TOLERANCES, values_differ

FIRST = "another of equal elements; PyTorch's documentation promises the first one"


class Wrong(Exception):
    """The device's result does not have the property; the text says why."""


class Tie(Exception):
    """The result is right, but for the order of equal elements, which PyTorch documents."""


class Unjudged(Exception):
    """The property says nothing about this call."""


@dataclass(frozen=True)
class Question:
    """A call's arguments and both results, all on the CPU."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    ours: list[torch.Tensor]
    theirs: list[torch.Tensor]
    tolerance: tuple[float, float] | None = None

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        return self.args[place] if place < len(self.args) else self.kwargs.get(name, default)

    @property
    def input(self) -> torch.Tensor:
        x = self.argument(0, "input")
        if not isinstance(x, torch.Tensor):
            raise Unjudged
        return x

    def near(self) -> tuple[float, float]:
        """rtol and atol of the less exact one of the input and the first result."""
        listed = [TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (self.input, self.ours[0])]
        return self.tolerance or max(listed)


def same(q: Question, place: int, what: str) -> None:
    """A result that is unique."""
    text = values_differ(q.ours[place], q.theirs[place], q.tolerance)
    if text is not None:
        raise Wrong(f"{what}: {text}")
