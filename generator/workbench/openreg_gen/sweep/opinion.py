"""A second opinion where values differ: numpy's or PyTorch's in 64 bits, or mpmath's in 30 digits, which PyTorch's package sympy brings
along.

If it agrees with the device and not with the CPU, the CPU is the one that is further from the true value, and the device is not to
blame: category `reference`. Only functions whose value does not depend on the dtype are listed, and reductions.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from .compare import Call, Difference, Result, host, values_differ

MOST, LARGEST, SECONDS = 1000, 1e4, 5.0  # elements that mpmath computes, how large they may be, how long it may take
Exact = Callable[[tuple[Any, ...], dict[str, Any], torch.Tensor], torch.Tensor]


def wide(x: Any) -> Any:
    """An argument as numpy takes it."""
    if not isinstance(x, torch.Tensor):
        return x
    return x.to(torch.complex128 if x.is_complex() else torch.float64).numpy()


def by_numpy(function: Callable[..., Any]) -> Exact:
    """Element by element."""

    def exact(args: tuple[Any, ...], kwargs: dict[str, Any], where: torch.Tensor) -> torch.Tensor:
        import numpy

        if kwargs:
            raise TypeError("numpy's function has no such arguments")
        with numpy.errstate(all="ignore"):
            return torch.as_tensor(function(*map(wide, args))).expand(where.shape)[where]

    return exact


def reduction(name: str) -> Exact:
    def exact(args: tuple[Any, ...], kwargs: dict[str, Any], where: torch.Tensor) -> torch.Tensor:
        import numpy

        given = {**dict(zip(("input", "dim", "keepdim"), args, strict=False)), **kwargs}
        x, dim = wide(given.pop("input")), given.pop("dim", None)
        given.pop("dtype", None)
        more = {} if name.startswith("cum") else {"keepdims": bool(given.pop("keepdim", False))}
        if given:
            raise TypeError("an argument that this reduction does not know")
        axis = tuple(dim) or None if isinstance(dim, (tuple, list)) else dim
        return torch.as_tensor(getattr(numpy, name)(x, axis=axis, **more)).reshape(where.shape)[where]

    return exact


def by_mpmath(function: Callable[..., Any]) -> Exact:
    """Element by element; `function` gets mpmath, then numbers."""

    def exact(args: tuple[Any, ...], kwargs: dict[str, Any], where: torch.Tensor) -> torch.Tensor:
        import mpmath  # type: ignore[import-untyped]

        if kwargs or int(where.sum()) > MOST:
            raise TypeError("too much for mpmath")
        ends = time.monotonic() + SECONDS

        def one(*numbers: Any) -> complex:
            if time.monotonic() > ends or not all(abs(x) <= LARGEST for x in numbers):  # it may not end otherwise
                raise TypeError("too much for mpmath")
            return complex(function(mpmath, *map(mpmath.mpmathify, numbers)))

        listed = [torch.as_tensor(x).expand(where.shape)[where].tolist() for x in args]
        with mpmath.workdps(30):
            found = [one(*each) for each in zip(*listed, strict=True)]
        values = torch.tensor(found, dtype=torch.complex128)
        if any(torch.as_tensor(x).is_complex() for x in args):
            return values
        if (values.imag != 0).any():
            raise ValueError("not a real number")
        return values.real

    return exact


def _numpy(name: str) -> Exact:
    def function(*args: Any) -> Any:
        import numpy

        return getattr(numpy, name)(*args)

    return by_numpy(function)


def by_float64(function: Callable[..., torch.Tensor]) -> Exact:
    """By PyTorch's own CPU kernel of 64 bits, where that of 32 is another library's: oneDNN's gelu of infinity is NaN."""

    def exact(args: tuple[Any, ...], kwargs: dict[str, Any], where: torch.Tensor) -> torch.Tensor:
        return function(args[0].double(), *args[1:], **kwargs)[where]

    return exact


POINTWISE = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "reciprocal", "sin", "cos", "tan", "sinc"),
    *("sinh", "cosh", "tanh", "logaddexp", "logaddexp2", "hypot", "float_power", "i0"),
)
ARC = {f"a{name}{end}": f"arc{name}{end}" for name in ("sin", "cos", "tan") for end in ("", "h")}
REDUCTIONS = ("sum", "mean", "prod", "nansum", "nanmean", "cumsum", "cumprod")
SPECIAL: dict[str, Callable[..., Any]] = {
    "digamma": lambda m, x: m.digamma(x),
    "lgamma": lambda m, x: m.log(abs(m.gamma(x))),
    "erf": lambda m, x: m.erf(x),
    "erfc": lambda m, x: m.erfc(x),
    "erfinv": lambda m, x: m.erfinv(x),
    "rsqrt": lambda m, x: 1 / m.sqrt(x),
    "sigmoid": lambda m, x: 1 / (1 + m.exp(-x)),
    "special.airy_ai": lambda m, x: m.airyai(x),
    "special.entr": lambda m, x: -x * m.log(x),
    "special.erfcx": lambda m, x: m.exp(x * x) * m.erfc(x),
    "special.i0e": lambda m, x: m.besseli(0, x) * m.exp(-abs(x)),
    "special.i1": lambda m, x: m.besseli(1, x),
    "special.i1e": lambda m, x: m.besseli(1, x) * m.exp(-abs(x)),
    "special.log_ndtr": lambda m, x: m.log(m.ncdf(x)),
    "special.ndtr": lambda m, x: m.ncdf(x),
    "special.ndtri": lambda m, p: m.sqrt(2) * m.erfinv(2 * p - 1),
    "special.spherical_bessel_j0": lambda m, x: m.sinc(x),
    "special.xlog1py": lambda m, x, y: x * m.log(1 + y),
    "special.zeta": lambda m, s, q: m.zeta(s, q),
    "xlogy": lambda m, x, y: x * m.log(y),
    **{
        f"special.bessel_{kind}{n}": (lambda m, x, kind=kind, n=n: getattr(m, f"bessel{kind}")(n, x))
        for kind in "jy"
        for n in (0, 1)
    },
    **{
        f"special.modified_bessel_{kind}{n}": (lambda m, x, kind=kind, n=n: getattr(m, f"bessel{kind}")(n, x))
        for kind in "ik"
        for n in (0, 1)
    },
    **{f"special.scaled_modified_bessel_k{n}": (lambda m, x, n=n: m.besselk(n, x) * m.exp(x)) for n in (0, 1)},
}
EXACT: dict[str, Exact] = {
    **{name: _numpy(name) for name in POINTWISE},
    **{name: _numpy(theirs) for name, theirs in ARC.items()},
    **{name: reduction(name) for name in REDUCTIONS},
    **{name: by_mpmath(function) for name, function in SPECIAL.items()},
    "nn.functional.gelu": by_float64(torch.nn.functional.gelu),
}


class Opinion(NamedTuple):
    """What `Call.second` is."""

    exact: Exact

    def __call__(self, call: Call, actual: Result, expected: Result, found: Difference) -> Difference:
        """`found`, or that the CPU is the one that is wrong."""
        if not isinstance(actual.value, torch.Tensor) or not isinstance(expected.value, torch.Tensor):
            return found
        a, e = host(actual.value), host(expected.value)
        if not (e.dtype.is_floating_point or e.dtype.is_complex) or e.dtype.itemsize == 1:
            return found
        where = a != e
        args = tuple(host(x) if isinstance(x, torch.Tensor) else x for x in call.args)
        kwargs = {name: value for name, value in call.kwargs.items() if name != "out"}
        try:
            exact = self.exact(args, kwargs, where).to(e.dtype)
        except Exception:  # numpy and mpmath raise what they like at poles, and for arguments that they don't have
            return found
        if [values_differ(x[where], exact, call.tolerance) is None for x in (a, e)] != [True, False]:
            return found
        worst = int((e[where] - exact).abs().nan_to_num(nan=torch.inf).argmax())
        device, cpu, right = (str(x[worst].item()) for x in (a[where], e[where], exact))
        return Difference(
            "reference", f"the CPU is further from the exact value: it has {cpu}, the device {device}, exact is {right}"
        )


def of(name: str) -> Opinion | None:
    return Opinion(EXACT[name]) if name in EXACT else None
