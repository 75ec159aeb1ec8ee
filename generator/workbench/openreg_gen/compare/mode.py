"""The mode that runs each operator beside its reference."""

import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from .. import protocol
from ..absent import absent
from ..device import first_line, is_opaque
from ..served import FALLBACK, KERNEL, PARTS, base_of, computed_by, moves
from ..trace.places import caller
from . import rules, values
from .findings import CompareError, Comparison, Difference, NonFinite, Where, matches
from .inputs import Call, Snapshot
from .judge import Found, Judged, Outcomes, Verdict, found_in
from .modules import Modules
from .references import run
from .stored import Origin, StoreError, store

EVERY_STEP = range(sys.maxsize)
_UNCOPIED = "its arguments can't be copied"


def _warn(difference: Difference) -> None:
    warnings.warn(f"not as on the CPU: {difference}", stacklevel=4)


class compare(TorchDispatchMode):  # noqa: N801  (a context manager, named as it is used)
    """Check each operator in the block against the CPU; `with compare("mybackend") as comparison: ...`.

    `kind` is the device's type. `rtol` and `atol`: both or neither; by default they follow the dtype and the number of
    terms in a sum. `raise_on_first` raises CompareError at the first difference; otherwise `report` gets the first of each
    operator in each module, and `comparison.differences` keeps it.

    `steps` and `modules` (patterns of paths) choose what is compared. `sample` compares the first of each operator's calls
    in a module, and then each `sample`-th. `twice` runs each operator a second time on the device instead of the CPU, and
    wants equal bits. `dump` is the file that gets the first call that differs; `package`, the module that a replay imports.
    """

    def __init__(
        self,
        kind: str,
        rtol: float | None = None,
        atol: float | None = None,
        raise_on_first: bool = True,
        *,
        steps: range = EVERY_STEP,
        modules: Sequence[str] = (),
        sample: int = 1,
        twice: bool = False,
        dump: Path | None = None,
        package: str | None = None,
        report: Callable[[Difference], None] = _warn,
    ) -> None:
        super().__init__()
        if (rtol is None) != (atol is None):
            raise ValueError("give both rtol and atol, or neither")
        given = None if rtol is None or atol is None else (rtol, atol)
        if given is not None and not min(given) >= 0:
            raise ValueError("tolerances must not be negative")
        if sample < 1:
            raise ValueError("sample must be at least 1")
        self._kind, self._twice = kind, twice
        self._tolerances = given
        self._raise_on_first = raise_on_first
        self._steps, self._globs, self._sample = steps, tuple(modules), sample
        self._dump, self._package, self._report = dump, package, report
        self._lock = threading.Lock()  # backward runs on threads of its own
        self._modules = Modules()
        self._calls: Counter[tuple[str, str, str]] = Counter()
        self._begun = 0.0
        self._opaque = False
        reference = "a second run on the device" if twice else "the CPU"
        self.result = Comparison(reference, device=kind, globs=self._globs, wanted=steps)
        self._workbench = protocol.of(kind)
        self.result.absent = absent(
            kind, self._workbench, {"fallbacks": "which calls of composite operators fell back to the CPU"}
        )

    def __enter__(self) -> Comparison:
        self._opaque = is_opaque(self._kind)
        self._modules.open()
        self._begun = time.perf_counter()
        super().__enter__()
        return self.result

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._modules.close()
        self.result.seconds += time.perf_counter() - self._begun

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        call = (args, kwargs or {})
        name = str(func)
        where = self._modules.where(name)
        if not _has_tensor_of(self._kind, call) or not self._chosen(name, where):
            return func(*call[0], **call[1])
        begun = time.perf_counter()
        before, why = self._before(func, call)
        fell = self._fallbacks()
        started = time.perf_counter()
        actual = func(*call[0], **call[1])
        ended = time.perf_counter()
        whom = self._computed_by(func, fell)
        difference = None
        if before is not None:
            with torch.no_grad():
                why, difference = self._compare(func, call, before, actual, where)
        with self._lock:
            if why is None:
                self.result.compared[name] += 1
                self.result.computed += not rules.is_view(func)
                if whom:
                    (self.result.by_fallback if whom == FALLBACK else self.result.by_others)[name] += 1
            else:
                self.result.skipped.setdefault(name, why)
                self.result.uncopied += before is None and why.startswith(_UNCOPIED)
            self.result.comparing += time.perf_counter() - ended + started - begun
        if difference is not None and self._raise_on_first:
            raise CompareError(difference)
        return actual

    def _fallbacks(self) -> Counter[str]:
        """Calls that fell back so far by operator, where the backend counts them."""
        rows = self._workbench.fallbacks()
        return Counter({row.op: row.calls for row in rows if row.cause == "fallback"})

    def _computed_by(self, func: Any, before: Counter[str]) -> str:
        """The code that computed a call that has just ended: FALLBACK, KERNEL, or PARTS; "" if it computed nothing."""
        operator = str(func.name())
        if self._kind == "cpu" or rules.is_view(func) or moves(operator):
            return ""
        found = computed_by(self._kind, operator)
        if "fallbacks" not in self._workbench.provided:
            return found
        fell = self._fallbacks() - before
        if found == KERNEL:  # one that leaves the call to the fallback counts itself
            return FALLBACK if base_of(operator) in map(base_of, fell) else KERNEL
        return FALLBACK if fell else KERNEL if found == FALLBACK else PARTS

    def _chosen(self, name: str, where: Where) -> bool:
        chosen = where.step in self._steps and (not self._globs or matches(where.module, self._globs))
        with self._lock:
            self.result.modules.add(where.module)
            self.result.steps = max(self.result.steps, where.step + 1)
            if chosen and self._sample > 1:
                key = (name, where.module, where.phase)
                chosen = self._calls[key] % self._sample == 0
                self._calls[key] += 1
            if not chosen:
                self.result.left_out += 1
        return chosen

    def _before(self, func: Any, call: Call) -> tuple[Call | None, str | None]:
        """Copies of the arguments for the reference; None, and why, if the call is not compared."""
        why = rules.why_not(func, call)
        if why is not None:
            return None, why
        to = "meta" if self._shares(func) else "same" if self._twice else "cpu"
        try:
            with torch.no_grad():
                return Snapshot(self._kind, to).of(call), None
        except Exception as error:  # tensors without memory, such as fake ones
            return None, f"{_UNCOPIED}: {_line_of(error)}"

    def _shares(self, func: Any) -> bool:
        """Whether the results are views, which need no values. A backend with opaque tensors computes its views."""
        return rules.is_view(func) and not self._opaque

    def _compare(
        self, func: Any, call: Call, before: Call, actual: Any, where: Where
    ) -> tuple[str | None, Difference | None]:
        """Why the call was not compared after all, and what differs."""
        # An operator that writes gets copies, so that `before` stays as it was, for the judge and the dump.
        given = Snapshot(self._kind, "same").of(before) if rules.writes(func) else before
        try:
            expected = func(*given[0], **given[1]) if self._twice else run(func, *given)
        except NotImplementedError:
            return ("a view without a kernel for meta" if self._shares(func) else "the CPU has no kernel for it"), None
        except Exception as error:  # foreign code, with arguments that it may refuse
            return f"{self.result.reference} raises {type(error).__name__}: {_line_of(error)}", None
        ours, theirs = rules.outcomes(func, call, actual), rules.outcomes(func, given, expected)
        if self._shares(func):
            for (what, a), (_, e) in zip(ours, theirs, strict=True):
                problem = values.shapes_differ(a, e)
                if problem is not None:
                    found = Found(0, what, {"problem": problem}, Judged(Verdict.UNKNOWN))
                    return None, self._found(func, call, before, where, found)
            return None, None
        ours, theirs = ([(what, values.on_host(x)) for what, x in each] for each in (ours, theirs))
        self._look_for_nan(func, before, where, ours, theirs)
        for found in found_in(func, before, ours, theirs, self._tolerances, self._twice):
            if found.judged.verdict is not Verdict.ROUNDING:
                return None, self._found(func, call, before, where, found)
            with self._lock:
                self.result.rounding += 1
        return None, None

    def _found(self, func: Any, call: Call, before: Call, where: Where, found: Found) -> Difference | None:
        """Keep a difference; return it if it is the device's fault."""
        difference = Difference(
            str(func),
            found.what,
            rules.described(func, call),
            **found.fields,
            judged=found.judged.text,
            where=where,
            line=_line(),
        )
        key = (difference.op, where.module, where.phase)
        with self._lock:
            if found.judged.verdict is Verdict.REFERENCE:
                self.result.nearer.setdefault(key, difference)
                return None
            self.result.calls[key] += 1
            new = self.result.calls[key] == 1
            if new:
                self.result.differences.append(difference)
            first = new and len(self.result.differences) == 1
            if first and self._dump is not None:
                self._store(func, call, before, difference, found.place)
        if new and not self._raise_on_first:
            self._report(difference)
        return difference

    def _store(self, func: Any, call: Call, before: Call, difference: Difference, outcome: int) -> None:
        assert self._dump is not None
        try:
            if self._shares(func):
                raise StoreError("its result is a view, of which only shapes and strides are compared")
            if self._twice:
                before = Snapshot(self._kind).of(before)
            origin = Origin(self._kind, self._package, self._twice, self._tolerances)
            store(self._dump, func, call, before, difference, outcome, origin)
            self.result.dumped = self._dump
        except (OSError, StoreError) as error:
            self.result.not_dumped = str(error)

    def _look_for_nan(self, func: Any, before: Call, where: Where, ours: Outcomes, theirs: Outcomes) -> None:
        if self.result.nan is not None and self.result.inf is not None:
            return
        found = [values.non_finite(x) for _, x in ours]
        if not any(nan or inf for nan, inf in found):
            return
        inputs = [values.non_finite(values.on_host(x)) for x in tree_flatten(before)[0]]
        for name, i in (("nan", 0), ("inf", 1)):
            if not any(each[i] for each in found) or any(each[i] for each in inputs):
                continue
            both = any(values.non_finite(x)[i] for _, x in theirs)
            with self._lock:
                if getattr(self.result, name) is None:
                    setattr(self.result, name, NonFinite(str(func), where, _line(), both))


def _line() -> str:
    place = caller()
    return "" if place is None else f"{Path(place.file).name}:{place.line} in {place.function}"


def _line_of(error: Exception) -> str:
    return first_line(error)[:200]


def _has_tensor_of(kind: str, tree: Any) -> bool:
    return any(isinstance(x, torch.Tensor) and x.device.type == kind for x in tree_flatten(tree)[0])
