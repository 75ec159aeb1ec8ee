"""The findings of a comparison, and the text that says so."""

import collections
import difflib
import fnmatch
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..absent import Absent, line
from ..command import program
from ..served import fallback_line

SHOWN = 20  # differences after the first


class Where(NamedTuple):
    """The part of a model that calls an operator."""

    module: str
    """Its path, such as "model.blocks.3.attn.q_proj"; "" outside of modules."""
    phase: str
    """ "forward", "backward", "recomputed" (forward again, in backward), "optimizer"."""
    step: int


class CompareError(AssertionError):
    """An operator's result on the device differs from the CPU's result. `difference` says where."""

    def __init__(self, difference: "Difference") -> None:
        super().__init__("\n  ".join(filter(None, [str(difference), difference.place, difference.judged])))
        self.difference = difference


@dataclass(frozen=True)
class Difference:
    """One result that differs from the CPU's result."""

    op: str
    """Such as "aten.mm.default"."""
    what: str
    """Which tensor: "result 0", or "argument self" of an operator that writes it."""
    arguments: tuple[str, ...]
    """The arguments: dtypes, shapes and devices of tensors, values of all others."""
    problem: str
    """What differs; for values, with the numbers below."""
    index: tuple[int, ...] | None = None
    """Where the absolute error is largest."""
    actual: object = None
    expected: object = None
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    mismatched: int = 0
    """Elements outside the tolerance."""
    tolerance: tuple[float, float] | None = None
    """Relative and absolute, of values."""
    judged: str = ""
    """The judgement by float64; "" if the call can't be computed in it."""
    where: Where = Where("", "forward", 0)
    line: str = ""
    """The line of the script that runs, "train.py:12 in forward"; "" in backward."""

    def __str__(self) -> str:
        return f"{self.op}({', '.join(self.arguments)}): {self.what} {self.problem}"

    @property
    def place(self) -> str:
        """The place in one line."""
        module = self.where.module or (self.line and f"{self.line}, in no module") or "in no module"
        return f"step {self.where.step}, {self.where.phase}, {module}"


class NonFinite(NamedTuple):
    """A call whose result has the first NaN, or the first infinity, although its inputs have none."""

    op: str
    where: Where
    line: str
    both: bool
    """Whether the reference has it too."""


Key = tuple[str, str, str]  # operator, module, phase


@dataclass
class Comparison:
    """The findings of a comparison; kept up to date while it runs."""

    reference: str = "the CPU"
    """The other side of the comparison, as the report calls it."""
    compared: collections.Counter[str] = field(default_factory=collections.Counter)
    """Calls by operator."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Operators that were called and not compared, and why."""
    differences: list[Difference] = field(default_factory=list)
    """The first of each operator in each module, forward and backward, in the order in which they were found."""
    calls: collections.Counter[Key] = field(default_factory=collections.Counter)
    """Calls that differ, by operator, module and phase."""
    nearer: dict[Key, Difference] = field(default_factory=dict)
    """The first call in each place that differs because the CPU is further from float64 than the device."""
    rounding: int = 0
    """Calls outside the tolerance whose results are as near to float64 as those of the CPU."""
    left_out: int = 0
    """Calls that steps, modules or sampling left out."""
    nan: NonFinite | None = None
    inf: NonFinite | None = None
    seconds: float = 0.0
    """The whole run; and the part that the comparison took."""
    comparing: float = 0.0
    dumped: Path | None = None
    """The file that holds the first call that differs."""
    not_dumped: str = ""
    device: str = "the device"
    globs: tuple[str, ...] = ()
    wanted: range = range(sys.maxsize)
    """The modules and the steps that were asked for."""
    modules: set[str] = field(default_factory=set)
    steps: int = 0
    """The modules that called operators on the device, and the number of steps that did."""
    uncopied: int = 0
    """Calls that were not compared because their arguments can't be copied."""
    computed: int = 0
    """Calls that were compared and are not views."""
    by_others: collections.Counter[str] = field(default_factory=collections.Counter)
    by_fallback: collections.Counter[str] = field(default_factory=collections.Counter)
    """Of these, calls that the CPU fallback computed, and all others, by operator. Operators that only prepare memory or move values
    are in neither."""
    absent: list[Absent] = field(default_factory=list)

    @property
    def nothing(self) -> str:
        """Why no call was compared; "" if one was. Views alone don't count where all other calls can't be copied."""
        if self.computed or (self.compared and not self.uncopied):
            return ""
        if not self.modules:
            return f"no operator had a tensor on {self.device}"
        if self.skipped:
            op, why = next(iter(self.skipped.items()))
            return f"none of the {len(self.skipped)} operators that were called can be: {op}: {why}"
        if self.globs and not any(matches(module, self.globs) for module in self.modules):
            return (
                f"no module that called an operator on {self.device} matches {', '.join(self.globs)}; {self._names()}"
            )
        if self.steps <= self.wanted.start:
            return f"the script has {self.steps} steps, numbered from 0; step {self.wanted.start} was asked for"
        return f"{self.left_out} calls were left out: modules, steps and sampling together choose none"

    @property
    def fell_back(self) -> list[str]:
        """The operators all of whose calls the CPU fallback computed."""
        return sorted(self.by_fallback.keys() - self.by_others.keys())

    @property
    def fallback_line(self) -> str:
        """How many operators that was; "" if there is none."""
        return fallback_line(self.device, len(self.fell_back), len({*self.by_others, *self.by_fallback}))

    def _names(self) -> str:
        paths = sorted(each for each in self.modules if each)
        if not paths:
            return "all were called outside of modules"
        short = [each.partition(".")[2] or each for each in paths]
        near = [each for glob in self.globs for each in difflib.get_close_matches(glob, [*short, *paths], 3, 0.5)]
        listed = list(dict.fromkeys(near)) or paths[:8]
        return f"did you mean {' or '.join(listed)}?" if near else f"there are {', '.join(listed)}"

    def json(self) -> dict[str, Any]:
        """Of --json. Each difference has the numbers that its text has."""
        rows = [
            {
                **{"op": each.op, "what": each.what, "arguments": list(each.arguments), "problem": each.problem},
                **{"module": each.where.module, "phase": each.where.phase, "step": each.where.step, "line": each.line},
                **{"max_abs_error": each.max_abs_error, "max_rel_error": each.max_rel_error, "judged": each.judged},
            }
            for each in self.differences
        ]
        return {
            **{"device": self.device, "reference": self.reference, "calls": sum(self.compared.values())},
            **{"nothing": self.nothing, "skipped": self.skipped, "differences": rows},
            **{"fallback": self.fallback_line, "by_fallback": self.fell_back},
            "absent": [each.json() for each in self.absent],
        }

    @property
    def first(self) -> Difference | None:
        return self.differences[0] if self.differences else None

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        calls = sum(self.compared.values())
        differ = sum(self.calls.values())
        if self.nothing:
            yield f"nothing was compared: {self.nothing}"
        yield f"{calls} calls of {len(self.compared)} operators compared with {self.reference}; {differ} differ"
        yield from filter(None, [self.fallback_line])
        yield from self._differences()
        for name, found in (("NaN", self.nan), ("infinity", self.inf)):
            if found is not None:
                yield f"first {name}: {_place(found)}: {found.op}: {self._owner(found)}"
        for key, difference in self.nearer.items():
            yield f"  {self.reference} is further off: {key[1] or difference.line}: {difference.op}: {difference.judged}"
        if self.rounding:
            yield f"  differ only by rounding, as near to float64 as {self.reference}: {self.rounding}"
        yield from (f"  not compared: {op}: {why}" for op, why in sorted(self.skipped.items()))
        yield from (f"  {text}" for text in [line(self.absent)] if text)
        yield self._overhead()

    def _differences(self) -> Iterator[str]:
        for number, each in enumerate(self.differences[: SHOWN + 1]):
            calls = self.calls[each.op, each.where.module, each.where.phase]
            many = f" ({calls} calls)" if calls > 1 else ""
            if number:
                yield f"  {each.place}: {each.op}: {each.what} {each.problem.partition(';')[0]}{many}"
                continue
            yield f"first difference: {each.place}{many}"
            yield f"  {each}"
            yield from (f"  {text}" for text in (each.judged, each.line and f"called by {each.line}") if text)
            if self.dumped is not None:
                yield f"  Next: {program('replay')} {self.dumped}"
            elif self.not_dumped:
                yield f"  the call was not written to a file: {self.not_dumped}"
            if len(self.differences) > 1:
                yield "then, in the order in which they were found:"
        if len(self.differences) > SHOWN + 1:
            yield f"  and {len(self.differences) - SHOWN - 1} more"

    def _owner(self, found: NonFinite) -> str:
        return f"{self.reference} has it too" if found.both else f"only on the device, not with {self.reference}"

    def _overhead(self) -> str:
        alone = max(self.seconds - self.comparing, 1e-9)
        text = f"{self.seconds:.1f} s, {self.comparing:.1f} s of it to compare: about {self.seconds / alone:.1f} times as long as alone"
        if self.left_out:
            return f"{text}; {self.left_out} calls were left out"
        return f"{text}; --every 10 compares each tenth call" if self.seconds > 3 * alone and self.seconds > 5 else text


def _place(found: NonFinite) -> str:
    return f"step {found.where.step}, {found.where.phase}, {found.where.module or found.line or 'in no module'}"


def matches(path: str, globs: tuple[str, ...]) -> bool:
    """Whether a module's path, or that of a module around it, matches one of the patterns; they may leave out the root's name."""
    parts = path.split(".")
    around = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
    without_root = [each.partition(".")[2] for each in around if "." in each]
    return any(fnmatch.fnmatchcase(each, glob) for each in (*around, *without_root) for glob in globs)
