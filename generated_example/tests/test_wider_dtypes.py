# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
"""Each dtype that PyTorch's samples are for on CUDA and not on the CPU: computed as the CPU computes with a wider one."""

import warnings
from collections.abc import Iterator

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map

NAME = "openreg"

WIDER = {
    torch.bool: torch.uint8,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.complex32: torch.complex64,
}

HALVES = (torch.float16, torch.bfloat16)
EIGHTS = (torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz)

#: Names (* at the end: whatever begins so), dtype, why it raises here.
REFUSED = [
    *((name, dtype, "PyTorch asks for a CUDA device by name") for name in ("fft.*", "stft") for dtype in HALVES),
    *(("sparse.sampled_addmm", dtype, "a kernel of sparse tensors") for dtype in HALVES),
    *(("scatter", dtype, "an operator that may have a kernel here, which runs the CPU's kernel") for dtype in EIGHTS),
    ("*", torch.complex32, "complex32 is stored, not computed with"),
    ("nansum", torch.complex64, "no dtype of the CPU's kernel holds it"),
    ("nansum", torch.complex128, "no dtype of the CPU's kernel holds it"),
    ("nanmean", torch.complex64, "a sum that leaves out NaN"),
    ("nanmean", torch.complex128, "a sum that leaves out NaN"),
    ("abs", torch.bool, "an operator that may have a kernel here, which runs the CPU's kernel"),
    ("nn.functional.softsign", torch.bool, "made of abs"),
    ("torch.ops.aten.*", None, "an operator of CUDA's alone"),
]

#: Operators that CUDA's samples are listed for though the CPU takes them too, or whose results are random.
LEFT_OUT = {"nn.functional.rrelu", "nn.functional.batch_norm"}


def is_refused(name: str, dtype: torch.dtype) -> bool:
    return any(
        (name.startswith(of[:-1]) if of.endswith("*") else name == of) and which in (None, dtype)
        for of, which, _ in REFUSED
    )


def cases() -> Iterator:
    for info in op_db:
        for dtype in sorted(set(info.dtypesIf["cuda"]) - set(info.dtypes), key=str):
            name = info.name + ("." + info.variant_test_name if info.variant_test_name else "")
            if info.name not in LEFT_OUT and not is_refused(info.name, dtype):
                yield pytest.param(info, dtype, id=f"{name}-{str(dtype)[6:]}")


def wide(value, dtype):
    to = WIDER.get(dtype, torch.float64)
    return tree_map(lambda x: x.to(to) if isinstance(x, torch.Tensor) and x.dtype == dtype else x, value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("info,dtype", list(cases()))
def test_is_computed(device, info, dtype):
    checked = 0
    for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
        given = (sample.input, sample.args, sample.kwargs)
        value, args, kwargs = wide(given, dtype)
        try:
            expected = tree_leaves(info.op(value, *args, **kwargs))
        except NotImplementedError:  # no wider dtype of the CPU's either
            continue
        value, args, kwargs = tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, given)
        actual = tree_leaves(info.op(value, *args, **kwargs))
        for one, other in zip(actual, expected, strict=True):
            if not isinstance(one, torch.Tensor):
                continue
            assert one.device == device
            assert one.dtype == (dtype if other.dtype == WIDER.get(dtype, torch.float64) else other.dtype)
            a, e = one.cpu().double(), other.to(one.dtype).double()
            torch.testing.assert_close(a, e, rtol=2e-2, atol=2e-2, equal_nan=True)
            checked += 1
    assert checked


def test_gradients_of_halves(device):
    x = torch.rand(1, 2, 4, 4, 4, dtype=torch.float16)
    ours = x.to(device).requires_grad_()
    torch.nn.functional.avg_pool3d(ours, 2).sum().backward()
    assert ours.grad.dtype == torch.float16
    assert torch.equal(ours.grad.cpu(), torch.full_like(x, 1 / 8))


def test_histogram_of_integers(device):
    """As routers of mixtures of experts count their tokens."""
    experts = torch.tensor([3, 0, 3, 1, 3], dtype=torch.int32, device=device)
    counts = torch.histc(experts, bins=4, min=0, max=3)
    assert counts.dtype == torch.int32
    assert counts.tolist() == [1, 1, 0, 3]
    out = torch.empty(0, dtype=torch.int32, device=device)
    assert torch.histc(experts, bins=4, min=0, max=3, out=out) is out
    assert out.tolist() == [1, 1, 0, 3]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("count", [15, 16, 100])
def test_fused_sgd(device, dtype, count):
    """PyTorch's kernel for the CPU is wrong in these dtypes from 16 elements on."""
    start, *gradients = torch.randn(4, count).to(dtype)
    results = []
    for place, fused in (("cpu", False), (device, True)):
        parameter = torch.nn.Parameter(start.to(place, copy=True))
        sgd = torch.optim.SGD([parameter], lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True, fused=fused)
        for gradient in gradients:
            parameter.grad = gradient.to(place, copy=True)
            sgd.step()
        results.append(parameter.detach().cpu().float())
    torch.testing.assert_close(*results, rtol=0.05, atol=0.05)


def test_what_nobody_takes_is_refused(device):
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        torch.histc(torch.ones(3, dtype=torch.bool, device=device))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.trace(torch.eye(3, dtype=torch.bool, device=device)).item() == 3
