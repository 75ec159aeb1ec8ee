"""Results that aren't unique, judged by what they have to be instead of by the CPU's values.

Which of two equal elements topk() returns, the sign of an eigenvector, the order of eigenvalues: a device is right with others than
the CPU's. Where values differ, `compare.check` asks the judge of the operator, which gets the arguments and both results. It finds
a fault all the same: the indices must select the values, the factors must multiply to the matrix.

PROPERTIES is the table: an operator's name as OpInfos have it, and its judge. A judge returns nothing if the device is right, raises
Wrong with what isn't, Tie if only documentation that promises the first of equal elements isn't kept, and Unjudged if it can't tell;
then the values of the CPU decide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map

from .compare import TOLERANCES, Call, Difference, Result, host, run, values_differ
from .copies import tensors

FIRST = "another of equal elements; PyTorch's documentation promises the first one"
Seeds = Callable[[list[torch.Tensor]], list[torch.Tensor]]


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


# --- selections: the indices have to select the values


def line(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(1) if x.dim() == 0 else x


def picked(x: torch.Tensor, dim: int, indices: torch.Tensor) -> torch.Tensor:
    """The elements that indices select along a dimension. Both have that dimension."""
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype == torch.bool:
        raise Unjudged  # out= of another dtype
    x, indices = line(x), line(indices).long()
    if indices.dim() != x.dim():
        raise Unjudged
    outside = (indices < 0) | (indices >= x.size(dim))
    if outside.any():
        raise Wrong(f"index {int(indices[outside][0])} is outside of dimension {dim}, which has {x.size(dim)} elements")
    return x.gather(dim, indices)


def alike(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b) | ((a != a) & (b != b))


def select(q: Question, dim: int, values: torch.Tensor, indices: torch.Tensor) -> None:
    found = picked(q.input, dim, indices).to(values.dtype)
    wrong = ~alike(found, line(values))
    if wrong.any():
        raise Wrong(
            f"the indices select {found[wrong][0].item()} where the values have {line(values)[wrong][0].item()}; "
            f"{int(wrong.sum())} of {wrong.numel()} elements"
        )


def distinct(indices: torch.Tensor, dim: int) -> None:
    listed = line(indices).sort(dim).values
    if (
        listed.narrow(dim, 1, max(listed.size(dim) - 1, 0)) == listed.narrow(dim, 0, max(listed.size(dim) - 1, 0))
    ).any():
        raise Wrong("an index occurs twice")


def kept(q: Question, dim: int, results: list[torch.Tensor]) -> list[torch.Tensor]:
    """Results of a reduction with the reduced dimension, whatever keepdim is."""
    return [x.unsqueeze(dim) if x.dim() < q.input.dim() else x for x in results]


def dim_of(q: Question, place: int, default: Any = -1) -> int:
    dim = q.argument(place, "dim", default)
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise Unjudged
    return dim % max(q.input.dim(), 1)


def topk(q: Question) -> None:
    dim, ours, theirs = dim_of(q, 2), q.ours[0], q.theirs[0]
    if not q.argument(4, "sorted", True):
        ours, theirs = (line(x).sort(dim).values for x in (ours, theirs))
    text = values_differ(ours, theirs, (0.0, 0.0))
    if text is not None:
        raise Wrong(f"values: {text}")
    select(q, dim, q.ours[0], q.ours[1])
    distinct(q.ours[1], dim)


def sorted_flags(q: Question) -> tuple[int, bool]:
    """The dimension of sort() and argsort(), which have an overload with stable= in the second place."""
    if len(q.args) > 1 and isinstance(q.args[1], bool):
        raise Unjudged
    return dim_of(q, 1), bool(q.kwargs.get("stable"))


def sort(q: Question) -> None:
    dim, stable = sorted_flags(q)
    if stable:
        raise Wrong("stable=True: the order of equal elements is part of the result")
    same(q, 0, "values")
    select(q, dim, *q.ours)
    distinct(q.ours[1], dim)


def argsort(q: Question) -> None:
    dim, stable = sorted_flags(q)
    if stable:
        raise Wrong("stable=True: the order of equal elements is part of the result")
    select(q, dim, picked(q.input, dim, q.theirs[0]), q.ours[0])
    distinct(q.ours[0], dim)


def reduced(place: int, first: bool = False) -> Callable[[Question], None]:
    """kthvalue, median, and max and min along a dimension: a value and where it is."""

    def judge(q: Question) -> None:
        if len(q.ours) != 2 or len(q.args) > place and isinstance(q.args[place], torch.Tensor):
            raise Unjudged  # without a dimension it returns values only
        dim = dim_of(q, place)
        same(q, 0, "values")
        select(q, dim, *kept(q, dim, q.ours))
        if first:
            raise Tie(FIRST)

    return judge


def mode(q: Question) -> None:
    """Any of the most frequent values."""
    dim = dim_of(q, 1)
    ours, theirs = kept(q, dim, q.ours), kept(q, dim, q.theirs)

    def times(values: torch.Tensor) -> torch.Tensor:
        return (line(q.input).to(values.dtype) == line(values)).sum(dim)

    if (times(ours[0]) != times(theirs[0])).any():
        raise Wrong("a value is less frequent than the one that the CPU found")
    select(q, dim, *ours)


def argument_of_extremum(q: Question) -> None:
    x, dim = q.input, q.argument(1, "dim")
    if dim is None:
        x, dim = x.reshape(-1), 0
        ours, theirs = q.ours[0].reshape(1), q.theirs[0].reshape(1)
    else:
        dim = dim_of(q, 1)
        ours, theirs = kept(q, dim, [q.ours[0]])[0], kept(q, dim, [q.theirs[0]])[0]
    mask = q.kwargs.get("mask")
    if mask is not None and not (mask if mask.dtype == torch.bool else mask.bool()).all():
        raise Unjudged
    if (wrong := ~alike(picked(x, dim, ours), picked(x, dim, theirs))).any():
        raise Wrong(f"{int(wrong.sum())} of {wrong.numel()} indices don't select the extremum")
    raise Tie(FIRST)


def cumulated(q: Question) -> None:
    dim = dim_of(q, 1)
    same(q, 0, "values")
    select(q, dim, *q.ours)
    place = torch.arange(line(q.input).size(dim)).view([-1 if i == dim else 1 for i in range(max(q.input.dim(), 1))])
    if (line(q.ours[1]) > place).any():
        raise Wrong("an index is behind its own place")


def tuple_of(value: Any, count: int) -> tuple[int, ...]:
    listed = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return listed * count if len(listed) == 1 else listed


def ends(q: Question, dims: int, adaptive: bool) -> list[tuple[torch.Tensor, torch.Tensor, int]]:
    """Of each dimension of a pool the first and the last place of each window, and the step between."""
    found = []
    sizes, outs = q.input.shape[-dims:], q.ours[1].shape[-dims:]
    kernel = tuple_of(q.argument(1, "kernel_size", 1), dims)
    stride, padding, dilation = (
        tuple_of(q.argument(place, name, default) or default, dims)
        for place, name, default in ((2, "stride", kernel), (3, "padding", 0), (4, "dilation", 1))
    )
    for i, (size, out) in enumerate(zip(sizes, outs, strict=True)):
        at = torch.arange(out)
        if adaptive:
            found.append((at * size // out, -(-(at + 1) * size // out) - 1, 1))
        else:
            begin = at * stride[i] - padding[i]
            found.append((begin, begin + (kernel[i] - 1) * dilation[i], dilation[i]))
    return found


def pool(dims: int, adaptive: bool = False) -> Callable[[Question], None]:
    def judge(q: Question) -> None:
        if len(q.ours) != 2:
            raise Unjudged  # without indices the result is unique
        same(q, 0, "values")
        indices = q.ours[1]
        flat = [x.flatten(-dims) for x in (q.input, *q.ours)]
        select(Question((flat[0],), {}, [], []), flat[0].dim() - 1, flat[1], flat[2])
        rest = indices
        for i in reversed(range(dims)):
            first, last, step = ends(q, dims, adaptive)[i]
            shape = [-1 if j == i else 1 for j in range(dims)]
            size = q.input.size(i - dims)
            at, rest = rest % size, rest // size
            begin = first.view(shape)
            if ((at < begin) | (at > last.view(shape)) | ((at - begin) % step != 0)).any():
                raise Wrong("an index is outside of its window")

    return judge


# --- factors: their product has to be the matrix


def wide(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.complex128 if x.is_complex() else torch.float64)


def matrix(q: Question) -> torch.Tensor:
    a = wide(q.input)
    if a.dim() < 2 or not bool(a.isfinite().all()) or any(not isinstance(x, torch.Tensor) for x in q.ours):
        raise Unjudged
    return a


def factors(q: Question, *places: int) -> list[torch.Tensor]:
    listed = [wide(q.ours[place]) for place in places]
    if not all(bool(x.isfinite().all()) for x in listed):
        raise Wrong("a result is not finite")
    kinds = {x.is_complex() for x in listed} | {q.input.is_complex()}
    return [x.to(torch.complex128) for x in listed] if True in kinds else listed


def equal(q: Question, a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor | float, what: str) -> None:
    rtol, atol = q.near()
    off = (a - b).abs()
    wrong = ~(off <= atol + rtol * scale)
    if wrong.any():
        raise Wrong(
            f"{what} is off by {off[wrong].max().item():.3g}, in {int(wrong.sum())} of {wrong.numel()} elements"
        )


def norm(a: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(a, dim=(-2, -1), keepdim=True)


def orthonormal(q: Question, columns: torch.Tensor, what: str) -> None:
    unit = torch.eye(columns.size(-1), dtype=columns.dtype)
    equal(q, columns.mH @ columns, unit, 1.0, f"{what}: the product with its adjoint")


def product(q: Question, found: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
    equal(q, found, wanted, norm(wanted), what)


def same_set(q: Question, ours: torch.Tensor, theirs: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Pairs the eigenvalues, the nearest first; their order is not defined. Returns where each of `theirs` is among `ours`."""
    size = ours.size(-1)
    places = torch.zeros(ours.shape, dtype=torch.long)
    rtol, atol = q.near()
    for row, (a, b, s) in enumerate(
        zip(ours.reshape(-1, size), theirs.reshape(-1, size), scale.reshape(-1), strict=True)
    ):
        away = (a[:, None] - b[None, :]).abs()
        for _ in range(size):
            place = int(away.argmin())
            i, j = divmod(place, size)
            if not away[i, j] <= atol + rtol * s:
                raise Wrong(f"the eigenvalues are others: {away[i, j].item():.3g} apart")
            places.view(-1, size)[row, j] = i
            away[i, :], away[:, j] = torch.inf, torch.inf
    return places


def eigvals(q: Question) -> None:
    a = matrix(q)
    same_set(q, wide(q.ours[0]), wide(q.theirs[0]), norm(a))


def eig(q: Question) -> None:
    a = matrix(q).to(torch.complex128)
    values, vectors = factors(q, 0, 1)
    same_set(q, values, wide(q.theirs[0]), norm(a))
    equal(q, a @ vectors, vectors * values[..., None, :], norm(a), "A V - V w")
    equal(q, torch.linalg.vector_norm(vectors, dim=-2), torch.ones(()), 1.0, "the length of a vector")


def eigh(q: Question) -> None:
    a = matrix(q)
    a = a.mH if str(q.argument(1, "UPLO", "L")).upper() == "U" else a
    strict = a.tril(-1)
    a = strict + strict.mH + torch.diag_embed(a.diagonal(dim1=-2, dim2=-1).real).to(a.dtype)
    same(q, 0, "eigenvalues")
    values, vectors = factors(q, 0, 1)
    orthonormal(q, vectors, "V")
    equal(q, a @ vectors, vectors * values[..., None, :], norm(a), "A V - V w")


def svd(adjoint: bool) -> Callable[[Question], None]:
    """torch.linalg.svd returns the adjoint of V, torch.svd returns V."""

    def judge(q: Question) -> None:
        a = matrix(q)
        same(q, 1, "singular values")
        if len(q.ours) != 3 or not q.argument(2, "compute_uv", True):
            raise Unjudged
        u, values, v = factors(q, 0, 1, 2)
        v = v if not adjoint else v.mH
        count = values.size(-1)
        orthonormal(q, u, "U")
        orthonormal(q, v, "V")
        product(q, (u[..., :count] * values[..., None, :]) @ v[..., :count].mH, a, "U S Vh")

    return judge


def triangle(q: Question, upper: torch.Tensor, what: str) -> None:
    equal(q, upper.tril(-1), torch.zeros((), dtype=upper.dtype), 0.0, f"{what} below the diagonal")


def qr(q: Question) -> None:
    a = matrix(q)
    mode = q.argument(1, "mode", "reduced")
    columns, upper = factors(q, 0, 1)
    triangle(q, upper, "R")
    if mode == "r":
        product(q, upper.mH @ upper, a.mH @ a, "Rh R")
        return
    orthonormal(q, columns, "Q")
    product(q, columns @ upper, a, "Q R")


def geqrf(q: Question) -> None:
    a = matrix(q)
    packed, taus = factors(q, 0, 1)
    columns = torch.linalg.householder_product(packed[..., : taus.size(-1)].contiguous(), taus.contiguous())
    orthonormal(q, columns, "Q")
    product(q, columns @ packed.triu()[..., : taus.size(-1), :], a, "Q R")


def check_lu(q: Question, p: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> None:
    triangle(q, upper, "U")
    triangle(q, lower.mH, "Lh")
    equal(q, lower.diagonal(dim1=-2, dim2=-1), torch.ones((), dtype=lower.dtype), 0.0, "the diagonal of L")
    if (lower.abs() > 1 + q.near()[0]).any():
        raise Wrong("an element of L is above 1, so a pivot was not the largest one")
    if not bool(((p == 0) | (p == 1)).all() & (p.sum(-1) == 1).all() & (p.sum(-2) == 1).all()):
        raise Wrong("P is not a permutation")
    product(q, p @ lower @ upper, matrix(q).to(upper.dtype), "P L U")


def lu(q: Question) -> None:
    if not q.argument(1, "pivot", True):
        raise Unjudged  # without pivots the factors are unique
    check_lu(q, *factors(q, 0, 1, 2))


def lu_factor(q: Question) -> None:
    if not q.argument(1, "pivot", True):
        raise Unjudged
    (packed,), pivots = factors(q, 0), q.ours[1]
    if pivots.dtype != torch.int32 or ((pivots < 1) | (pivots > packed.size(-2))).any():
        raise Wrong("a pivot is outside of the matrix")
    check_lu(q, *(x.to(packed.dtype) for x in torch.lu_unpack(packed.contiguous(), pivots.contiguous())))
    for place in range(2, len(q.ours)):
        same(q, place, "info")


def lstsq(q: Question) -> None:
    """A solution has a residual that is orthogonal to A's columns; where A has full rank, it is also the shortest one."""
    a, b = matrix(q), wide(q.argument(1, "b"))
    (x,) = factors(q, 0)
    for place in range(1, len(q.ours)):
        same(q, place, f"result {place}")
    if b.dim() == a.dim() - 1:
        b, x = b[..., None], x[..., None]
    a, b, x = a.to(x.dtype), b.to(x.dtype), x
    equal(q, a.mH @ (a @ x - b), torch.zeros_like(x), norm(a) * (norm(a) * norm(x) + norm(b)), "Ah (A x - b)")
    full = torch.linalg.matrix_rank(a, rtol=q.near()[0]) == min(a.shape[-2:])
    shortest = torch.linalg.pinv(a, rtol=q.near()[0]) @ (a @ x)
    off = norm(x - shortest) > q.near()[1] + 10 * q.near()[0] * norm(x)
    if (off.reshape(full.shape) & full).any():
        raise Wrong("a shorter solution exists")


# --- gradients that follow from a result that is right


def scattered(dim_place: int, dims: int = 0) -> Callable[[Question, torch.Tensor], torch.Tensor]:
    """The gradient of a selection: each seed at the place that the device chose."""

    def gradient(q: Question, seed: torch.Tensor) -> torch.Tensor:
        x = q.input
        if dims:
            flat = torch.zeros(x.flatten(-dims).shape, dtype=x.dtype)
            return flat.scatter_add(-1, q.ours[1].flatten(-dims), seed.flatten(-dims)).view(x.shape)
        dim = dim_of(q, dim_place)
        indices, seed = kept(q, dim, [q.ours[1], seed])
        return torch.zeros_like(line(x)).scatter_add(dim, line(indices), line(seed)).view(x.shape)

    return gradient


def in_order(q: Question) -> Seeds:
    """Seeds of the CPU's eigenvalues and vectors that weigh each as the device's own order does."""
    places = same_set(q, wide(q.ours[0]), wide(q.theirs[0]), norm(matrix(q)))

    def change(given: list[torch.Tensor]) -> list[torch.Tensor]:
        return [
            seed.gather(-1, (places if seed.dim() == places.dim() else places[..., None, :]).expand(seed.shape))
            for seed in given
        ]

    return change


def with_phases(q: Question) -> Seeds:
    """The same of Q's columns and R's rows, whose signs or phases differ."""
    ours, theirs = wide(q.ours[0]), wide(q.theirs[0])
    phases = (theirs.conj() * ours).sum(-2)

    def change(given: list[torch.Tensor]) -> list[torch.Tensor]:
        if len(given) != 2 or phases.size(-1) != given[1].size(-2):
            raise Unjudged
        factor = phases.to(given[0].dtype)
        return [given[0] * factor.conj()[..., None, :], given[1] * factor[..., :, None]]

    return change


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
