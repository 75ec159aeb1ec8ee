# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Reductions of the spec against the CPU: dtypes, dimensions, shapes and layouts, NaNs, and errors."""

import itertools
import warnings

import pytest
import torch
from torch_openreg.testing.spec import OPERATORS

NAME = "openreg"
api = torch.get_device_module(NAME)
# By the base name of the operator that computes it.
CALLS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "prod": torch.prod,
    "amax": torch.amax,
    "amin": torch.amin,
    "any": torch.any,
    "all": torch.all,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "max": torch.max,
    "min": torch.min,
    "nansum": torch.nansum,
    "var": torch.var,
    "std": torch.std,
    "linalg_vector_norm": torch.linalg.vector_norm,
}
DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
    torch.bool,
]
SHAPES = [(), (1,), (37,), (0,), (2, 0, 3), (3, 4), (3, 70), (300, 7), (2, 3, 4, 5)]
LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1) if x.dim() > 1 else x,
    "gaps": lambda x: torch.stack([x, x], -1)[..., 1],
    "repeated": lambda x: x[:1].expand(x.shape) if x.dim() > 0 and x.numel() > 0 else x,
}
STRATEGIES: dict[str, set[str]] = {}
TESTED: dict[str, list[set[str]]] = {}  # dtypes of each operator; none: all
for operator in OPERATORS:
    base = operator.name.split(".")[0]
    STRATEGIES.setdefault(base, set()).add(operator.strategy)
    TESTED.setdefault(base, []).append(set(operator.dtypes))
NAMES = [name for name in CALLS if name in STRATEGIES]
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError)


def values(shape, dtype, special=False):
    """Few different ones, so that many are equal; products of them are exact."""
    which = torch.randint(5, shape, generator=torch.Generator().manual_seed(len(shape)))
    if dtype.is_complex:
        return torch.tensor([1, -1, 1j, -1j, 1], dtype=dtype)[which]
    table = torch.tensor([-1.0, 2.0, 0.5, -0.5, 1.0] if dtype.is_floating_point else [1, 3, 0, 2, 1])
    if special:
        table[1:3] = torch.tensor([float("nan"), float("-inf")])
    return table[which].to(dtype)


def dims(rank):
    """Nothing, each kind of list, and what is refused."""
    yield from (None, 0, -1, (), (0,), (0, -1), tuple(range(rank)), (0, 0), rank + 1)
    if rank > 2:
        yield from (1, (1, 2), (-1, 0, 1))


def run(call, x, dim, keepdim):
    arguments = {} if dim is None else {"dim": dim, "keepdim": keepdim}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # degrees of freedom of one element
            result = call(x, **arguments)
    except REFUSALS as error:
        return error
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def compare(name, x, given, dim, keepdim):
    case = f"{name}({tuple(x.shape)}, {x.dtype}, strides {x.stride()}, dim={dim}, keepdim={keepdim})"
    expected = run(CALLS[name], x, dim, keepdim)
    actual = run(CALLS[name], given, dim, keepdim)
    if isinstance(expected, Exception):
        assert type(actual) is type(expected), f"{case}: {actual!r}, not {expected!r}"
        return False
    assert not isinstance(actual, Exception), f"{case}: {actual}"
    for a, e in zip(actual, expected, strict=True):
        half = e.dtype in (torch.float16, torch.bfloat16)
        tolerance = {"rtol": 1.6e-2, "atol": 8e-3} if half else {"rtol": 1e-5, "atol": 1e-6}
        exact = {} if e.dtype.is_floating_point or e.dtype.is_complex else {"rtol": 0, "atol": 0}
        found = a.cpu()
        same = found.dtype == e.dtype and found.shape == e.shape and torch.equal(found, e)
        if not same:
            torch.testing.assert_close(found, e, equal_nan=True, msg=lambda m: f"{case}: {m}", **(exact or tolerance))
    return True


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_like_the_cpu(device, name, dtype):
    refusal = run(CALLS[name], values((3,), dtype), None, False)
    if isinstance(refusal, Exception):
        # PyTorch's own kernels say so once they run on the device: test_operators.py looks at that.
        if STRATEGIES[name] == {"reduction"}:
            assert type(run(CALLS[name], values((3,), dtype).to(device), None, False)) is type(refusal)
        pytest.skip(f"the CPU has no {name} of {dtype}: {str(refusal).splitlines()[0]}")
    if any(taken and str(dtype).removeprefix("torch.") not in taken for taken in TESTED[name]):
        if STRATEGIES[name] == {"reduction"}:
            found = run(CALLS[name], values((3,), dtype).to(device), None, False)
            assert isinstance(found, (tuple, NotImplementedError)), found
        pytest.skip(f"the spec does not test {name} of {dtype}")
    numbers = [False, True] if dtype.is_floating_point else [False]
    for shape, layout, special in itertools.product(SHAPES, LAYOUTS, numbers):
        x = LAYOUTS[layout](values(shape, dtype, special))
        given = LAYOUTS[layout](values(shape, dtype, special).to(device))
        assert given.stride() == x.stride()
        for dim, keepdim in itertools.product(dims(len(shape)), (False, True)):
            compare(name, x, given, dim, keepdim)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_falls_back(device, name):
    x = values((4, 5), torch.float32).to(device)
    api.reset_fallback_report()
    for dim in (None, 0, -1):
        run(CALLS[name], x, dim, False)
    report = [count.op for count in api.fallback_report() if count.cause == "fallback"]
    fallen = [op for op in report if op.removeprefix("aten::").split(".")[0] == name]
    served = {operator.name for operator in OPERATORS if operator.strategy != "cpu_fallback"}
    assert not served.intersection(op.removeprefix("aten::") for op in fallen)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("row", [4096 * 2 + 77, 100_003])
def test_long_rows(device, name, row):
    """More than one piece of a row, and what is left of it."""
    x = torch.rand(3, row, generator=torch.Generator().manual_seed(5), dtype=torch.float64) + 0.5
    x[1, row - 1], x[2, 4096 + 3] = 7.0, 7.0
    if name == "prod":
        x = 1 + (x - 1) / row
    for dim in (1, 0):
        assert compare(name, x, x.to(device), dim, False)
