"""Kernels of the backend in every dtype that PyTorch has: what the CPU computes, the device computes too."""

import warnings

import pytest
import torch

DTYPES = sorted({dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}, key=str)
# The kernels that a spec gives, as in the default one, and what PyTorch composes of them.
CALLS = {
    "abs": lambda x: x.abs(),
    "abs_": lambda x: x.clone().abs_(),
    "abs.out": lambda x: torch.abs(x, out=torch.empty_like(x)),
    "isfinite": lambda x: x.isfinite(),
    "isinf": lambda x: x.isinf(),
    "maximum": lambda x: torch.maximum(x, x),
    "minimum": lambda x: torch.minimum(x, x),
    "hypot": lambda x: torch.hypot(x, x),
    "exp": lambda x: x.exp(),
    "amax": lambda x: x.amax(0),
    "mm": lambda x: x.reshape(2, 2).mm(x.reshape(2, 2)),
    "relu": lambda x: x.relu(),
    "relu_": lambda x: x.clone().relu_(),
    "sub": lambda x: x - x,
    "fill": lambda x: torch.full_like(x, 1),
    "copy": lambda x: x.reshape(2, 2).t().contiguous(),
    "item": lambda x: torch.tensor(x[0].item()),
}


def as_plain(x):
    return x.cpu().to(torch.complex128 if x.is_complex() else torch.float64)


@pytest.mark.parametrize("name", CALLS)
def test_what_the_cpu_computes(device, name):
    faults, count = [], 0
    for dtype in DTYPES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # complex32 is experimental
                x = torch.ones(4).to(dtype)
            expected = CALLS[name](x)
        except (RuntimeError, TypeError):
            continue
        count += 1
        try:
            found = CALLS[name](x.to(device))
            assert found.dtype == expected.dtype
            torch.testing.assert_close(as_plain(found), as_plain(expected), rtol=1e-3, atol=1e-3)
        except Exception as error:
            faults.append((dtype, f"{type(error).__name__}: {str(error).splitlines()[0]}"))
    assert faults == []
    assert count >= 4
