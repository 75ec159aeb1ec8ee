"""Judges of factors: their product has to be the matrix, whatever their signs and order."""

from collections.abc import Callable

import torch

from .question import Question, Unjudged, Wrong, same

Seeds = Callable[[list[torch.Tensor]], list[torch.Tensor]]


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
