"""Results that aren't unique, judged by what they have to be instead of by the CPU's values.

Which of two equal elements topk() returns, the sign of an eigenvector, the order of eigenvalues: a device is right with others than
the CPU's. Where values differ, `compare.check` asks the judge of the operator, which gets the arguments and both results. It finds
a fault all the same: the indices must select the values, the factors must multiply to the matrix.

PROPERTIES is the table: an operator's name as OpInfos have it, and its judge. A judge returns nothing if the device is right, raises
Wrong with what isn't, Tie if only documentation that promises the first of equal elements isn't kept, and Unjudged if it can't tell;
then the values of the CPU decide.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map

from . import opinion
from .compare import Call, Difference, Result, host, run, values_differ
from .copies import tensors
from .factors import Seeds, eig, eigh, eigvals, geqrf, in_order, lstsq, lu, lu_factor, qr, svd, with_phases
from .padding import padded
from .question import Question, Tie, Unjudged, Wrong
from .selections import (
    alike,
    argsort,
    argument_of_extremum,
    cumulated,
    mode,
    pool,
    reduced,
    scattered,
    sort,
    topk,
)


class Property(NamedTuple):
    judge: Callable[[Question], None]
    gradient: Callable[[Question, torch.Tensor], torch.Tensor] | None = None
    seeds: Callable[[Question], Seeds] | None = None


EXTREMUM, ALONG = Property(argument_of_extremum), Property(reduced(1), scattered(1))
FIRST_ALONG, RUNNING = Property(reduced(1, first=True), scattered(1)), Property(cumulated, scattered(1))
LU, QR = Property(lu_factor), Property(qr, seeds=with_phases)
PROPERTIES: dict[str, Property] = {
    "topk": Property(topk, scattered(2)),
    "sort": Property(sort, scattered(1)),
    "argsort": Property(argsort),
    "kthvalue": Property(reduced(2), scattered(2)),
    "median": ALONG,
    "nanmedian": ALONG,
    "mode": Property(mode, scattered(1)),
    "max": FIRST_ALONG,
    "min": FIRST_ALONG,
    "argmax": EXTREMUM,
    "argmin": EXTREMUM,
    "masked.argmax": EXTREMUM,
    "masked.argmin": EXTREMUM,
    "cummax": RUNNING,
    "cummin": RUNNING,
    **{f"nn.functional.max_pool{n}d": Property(pool(n), scattered(0, n)) for n in (1, 2, 3)},
    **{f"nn.functional.adaptive_max_pool{n}d": Property(pool(n, True), scattered(0, n)) for n in (1, 2, 3)},
    "linalg.eig": Property(eig, seeds=in_order),
    "linalg.eigvals": Property(eigvals, seeds=in_order),
    "linalg.eigh": Property(eigh),
    "linalg.svd": Property(svd(adjoint=True)),
    "svd": Property(svd(adjoint=False)),
    "linalg.qr": QR,
    "qr": QR,
    "geqrf": Property(geqrf),
    "linalg.lu": Property(lu),
    "linalg.lu_factor": LU,
    "linalg.lu_factor_ex": LU,
    "lu": LU,
    "linalg.lstsq": Property(lstsq),
    "nn.functional.conv1d": Property(padded),
}


class Judge(NamedTuple):
    """The judge of a call: what `Call.judge` is. `form` says what the call's function returns."""

    property: Property
    form: str = (
        "result"  # "gradients": a pair of the result and gradients; "copies": the result in a list, then copies of it
    )
    weigh: Callable[[list[torch.Tensor]], list[torch.Tensor]] = list  # the seeds of outputs
    again: Callable[[Seeds], Callable[..., Any]] | None = None  # the function with other seeds

    def __call__(self, call: Call, actual: Result, expected: Result, found: Difference) -> Difference | None:
        """What differs after all: nothing, `found` or another difference."""
        try:
            self._judge(call, actual, expected)
        except Wrong as wrong:
            return found._replace(detail=f"{found.detail}; {wrong}"[:500])
        except Tie as tie:
            return Difference("tie", str(tie))
        except (Unjudged, RuntimeError, IndexError, TypeError):  # arguments that are not those of the operator
            return found
        return None

    def _judge(self, call: Call, actual: Result, expected: Result) -> None:
        ours, theirs = actual.value, expected.value
        rest: Any = ([], [])
        if self.form != "result":
            ours, rest = ours[0], (ours[1:], theirs[1:])
            theirs = theirs[0]
        args, kwargs = tree_map(lambda x: host(x) if isinstance(x, torch.Tensor) else x, (call.args, call.kwargs))
        kwargs.pop("out", None)
        q = Question(args, kwargs, [host(x) for x in tensors(ours)], [host(x) for x in tensors(theirs)], call.tolerance)
        if not q.ours or len(q.ours) != len(q.theirs):
            raise Unjudged
        tie: Tie | None = None
        try:
            if any(values_differ(a, b, call.tolerance) for a, b in zip(q.ours, q.theirs, strict=True)):
                self.property.judge(q)
        except Tie as each:
            tie = each
        if self.form == "copies":
            self._copies(q.ours, [host(x) for x in tensors(rest[0])])
        elif self.form == "gradients":
            self._gradients(call, q, list(tensors(rest[0])), list(tensors(rest[1])))
        self._arguments(q, actual, expected)
        if tie is not None:
            raise tie

    @staticmethod
    def _copies(results: list[torch.Tensor], copies: list[torch.Tensor]) -> None:
        for i, copy in enumerate(copies):
            if not bool(alike(copy, results[i % len(results)]).all()):
                raise Wrong(f"copy {i} is not what it was copied from")

    @staticmethod
    def _arguments(q: Question, actual: Result, expected: Result) -> None:
        """The call may change only arguments that take a result."""
        for i, (a, e) in enumerate(zip(actual.inputs, expected.inputs, strict=True)):
            if values_differ(a, e, q.tolerance) is None:
                continue
            left = host(a)
            if not any(left.shape == x.shape and bool(alike(left, x).all()) for x in q.ours):
                raise Wrong(f"argument {i} afterwards")

    def _gradients(self, call: Call, q: Question, ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> None:
        """The CPU's gradients, or those that follow from the device's result."""

        def differ(wanted: list[torch.Tensor]) -> str | None:
            texts = (values_differ(a, b, call.tolerance) for a, b in zip(ours, wanted, strict=True))
            return next((f"gradient {i}: {text}" for i, text in enumerate(texts) if text is not None), None)

        text = differ(theirs)
        if text is not None and self.property.gradient is not None and len(ours) == 1:
            text = differ([self.property.gradient(q, self.weigh(q.ours[:1])[0])])
        elif text is not None and self.property.seeds is not None and self.again is not None:
            other = call._replace(function=self.again(self.property.seeds(q)))
            text = differ(list(tensors(run(other, torch.device("cpu"), 0).value[1])))
        if text is not None:
            raise Wrong(text)


def of(name: str, form: str = "result", **more: Any) -> Judge | None:
    """The judge of an operator; None if its result is unique."""
    found = PROPERTIES.get(name)
    return None if found is None else Judge(found, form, **more)


def judges(info: Any, function: Callable[..., Any] | None) -> dict[str, Any]:
    """The judges of a call's values: for the operator's own forms only, since other functions return more than its result."""
    forms = (info.op, info.method_variant, info.inplace_variant, info.operator_variant, info.inplace_operator_variant)
    if function is not None and function not in forms:
        return {}
    return {"judge": of(info.name), "second": opinion.of(info.name)}
