# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Products of matrices: all layouts that the device's gemm takes, what it is not asked for, and convolutions."""

import ctypes
from pathlib import Path

import torch_openreg
import pytest
import torch

NAME = "openreg"
api = torch.get_device_module(NAME)
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]

# A 6 x 4 matrix from an 8 x 8 one, in each way that its elements may lie.
LAYOUTS = {
    "rows": lambda x: x[:6, :4].contiguous(),
    "columns": lambda x: x[:4, :6].contiguous().t(),
    "gaps between rows": lambda x: x[:6, :4],
    "gaps between columns": lambda x: x[:4, :6].t(),
    "gaps everywhere": lambda x: x.repeat(2, 2)[:12:2, :8:2],
    "one row, repeated": lambda x: x[:1, :4].expand(6, 4),
    "one column, repeated": lambda x: x[:6, :1].expand(6, 4),
}


def operands(dtype=torch.float32, *shape):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(shape or (8, 8), generator=generator, dtype=torch.float32)
    return x.to(dtype) * (1 + 0.5j) if dtype.is_complex else x.to(dtype)


def both(fn, *tensors):
    """What `fn` gives on the device must be what it gives on the CPU."""
    result = fn(*(tensor.to(NAME) for tensor in tensors))
    assert result.device.type == NAME
    half = tensors[0].dtype in (torch.float16, torch.bfloat16)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if half else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(result.cpu(), fn(*tensors), **tolerance)


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_layouts(left, right):
    both(lambda x: torch.mm(LAYOUTS[left](x), LAYOUTS[right](x + 1).mT), operands())


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "repeated" not in name])
def test_out(layout):
    x = operands()
    buffer = torch.full((16, 16), 7.0)
    expected, given = buffer.clone(), buffer.to(NAME)

    def write(into, values):
        # As LAYOUTS takes parts of a tensor, but without copying it.
        views = {
            "rows": lambda t: t.view(-1)[:24].view(6, 4),
            "columns": lambda t: t.view(-1)[:24].view(4, 6).t(),
            "gaps everywhere": lambda t: t[:12:2, :8:2],
        }
        out = views.get(layout, LAYOUTS[layout])(into)
        torch.mm(values[:6, :5], values[:5, :4], out=out)

    write(expected, x)
    write(given, x.to(NAME))
    torch.testing.assert_close(given.cpu(), expected)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_dtypes(dtype):
    x = operands(dtype, 3, 5, 5)
    both(lambda t: t[0] @ t[1], x)
    both(lambda t: t @ t, x)
    both(lambda t: t @ t[:1].expand(3, 5, 5), x)
    both(lambda t: t[0] @ t[1, 0], x)
    both(lambda t: torch.addmm(t[2], t[0], t[1], beta=0.5, alpha=2), x)
    both(lambda t: torch.baddbmm(t[0, :1], t, t.mT, beta=2), x)


def test_conjugated():
    x = operands(torch.complex64)
    both(lambda t: t.conj() @ t.mH, x)
    both(lambda t: t.mH @ t.conj(), x)
    both(lambda t: t.mT.conj().mT @ t.imag.to(t.dtype), x)


def test_integers():
    x = torch.arange(12).view(3, 4)
    both(lambda t: t @ t.t(), x)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_empty(shape):
    m, n, k = shape
    both(lambda a, b: a @ b, torch.ones(m, k), torch.ones(k, n))
    both(lambda a, b: torch.bmm(a, b), torch.ones(2, m, k), torch.ones(2, k, n))
    both(lambda a, b: torch.addmm(torch.ones(n, device=a.device), a, b), torch.ones(m, k), torch.ones(k, n))


def test_strides_of_what_has_no_elements():
    both(lambda a, b: a[:, ::2] @ b[:, ::2], torch.ones(5, 0), torch.ones(0, 20))
    both(lambda a, b: a[..., ::2] @ b[..., ::2], torch.ones(2, 5, 0), torch.ones(2, 0, 20))


def test_what_is_not_added_is_not_read():
    x = operands()
    both(lambda t: torch.addmm(torch.full_like(t, float("nan")), t, t, beta=0), x)
    both(lambda t: torch.full_like(t, float("nan")).addmm_(t, t, beta=0), x)


def test_in_place():
    x = operands()
    both(lambda t: t.clone().addmm_(t, t.t(), beta=0.5, alpha=-1), x)


def test_linear_backward():
    torch.manual_seed(0)
    cpu = torch.nn.Linear(6, 5)
    device = torch.nn.Linear(6, 5)
    device.load_state_dict(cpu.state_dict())
    device.to(NAME)
    x = torch.randn(2, 3, 6)
    cpu(x).square().sum().backward()
    device(x.to(NAME)).square().sum().backward()
    for on_device, on_cpu in zip(device.parameters(), cpu.parameters(), strict=True):
        torch.testing.assert_close(on_device.grad.cpu(), on_cpu.grad)


# PyTorch composes these of products that the device has: no entry of the spec names them.
COMPOSED = {
    "linear": (torch.nn.functional.linear, (5, 6), (4, 6), (4,)),
    "linear without bias": (torch.nn.functional.linear, (5, 6), (4, 6)),
    "linear, 3-d": (torch.nn.functional.linear, (2, 5, 6), (4, 6), (4,)),
    "linear, 3-d, without bias": (torch.nn.functional.linear, (2, 5, 6), (4, 6)),
    "linear, 1-d": (torch.nn.functional.linear, (6,), (4, 6), (4,)),
    "mv": (torch.mv, (4, 6), (6,)),
    "dot": (torch.dot, (6,), (6,)),
    "vdot": (torch.vdot, (6,), (6,)),
    "inner": (torch.inner, (4, 6), (5, 6)),
    "matmul": (torch.matmul, (2, 1, 4, 6), (3, 6, 5)),
    "matmul, vectors": (torch.matmul, (6,), (6,)),
    "tensordot": (lambda a, b: torch.tensordot(a, b, 2), (3, 4, 6), (4, 6, 5)),
    "einsum": (lambda a, b: torch.einsum("bik,bkj->bij", a, b), (2, 4, 6), (2, 6, 5)),
}
SERVED = {
    "mm",
}


def fallen() -> set[str]:
    """Operators that fell back since the last call."""
    report = [count for count in api.fallback_report() if count.cause == "fallback"]
    api.reset_fallback_report()
    names = {count.op.removeprefix("aten::").split(".")[0] for count in report}
    return names & SERVED


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_products(name):
    """Forward and backward: the values are those of the CPU, and no product falls back."""
    call, *shapes = COMPOSED[name]
    generator = torch.Generator().manual_seed(6)
    inputs = [torch.randn(shape, generator=generator) for shape in shapes]
    results = {}
    for device in ("cpu", NAME):
        leaves = [x.clone().to(device).requires_grad_() for x in inputs]
        fallen()
        y = call(*leaves)
        y.backward(torch.ones(y.shape).to(device))
        assert not fallen()
        results[device] = [y.detach().cpu(), *(leaf.grad.cpu() for leaf in leaves)]
    for given, right in zip(results[NAME], results["cpu"], strict=True):
        torch.testing.assert_close(given, right, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif("dot" not in SERVED, reason="the spec has no dot")
@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64], ids=str)
def test_products_of_vectors(dtype):
    x = operands(dtype, 2, 37) if dtype != torch.int64 else torch.arange(74).view(2, 37)
    both(lambda t: torch.dot(t[0], t[1]), x)
    both(lambda t: torch.dot(t[0, ::2], t[1, 1:20]), x)
    both(lambda t: torch.vdot(t[0], t[1].conj()), x)
    both(lambda t: torch.dot(t[0, :0], t[1, :0]), x)
    both(lambda t: torch.dot(t[0], t[1], out=torch.empty(0, dtype=t.dtype, device=t.device)), x)
    for refused in (lambda t: t[0].dot(t[1, 1:]), lambda t: t.dot(t[0]), lambda t: t[0].dot(t[0].bool())):
        with pytest.raises(RuntimeError) as expected:
            refused(x)
        with pytest.raises(RuntimeError) as error:
            refused(x.to(NAME))
        assert str(error.value).splitlines()[0] == str(expected.value).splitlines()[0]


def convolved(device, x, weight, bias, options):
    leaves = [t.clone().to(device).requires_grad_() for t in (x, weight, bias) if t is not None]
    y = [torch.nn.functional.conv1d, torch.nn.functional.conv2d][x.dim() - 3](*leaves, **options)
    weights = torch.arange(y.numel(), dtype=y.dtype).sin().view(y.shape)
    (y * weights.to(device)).sum().backward()
    return [y.detach().cpu(), *(leaf.grad.cpu() for leaf in leaves)]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("image", [(9,), (9, 8)], ids=["1d", "2d"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_convolution(image, stride, padding, dilation, groups, dtype):
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(3, 4, *image, generator=generator, dtype=dtype)
    weight = torch.randn(6, 4 // groups, *(3, 2)[: len(image)], generator=generator, dtype=dtype)
    bias = torch.randn(6, generator=generator, dtype=dtype)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    for with_bias in (bias, None):
        result = convolved(NAME, x, weight, with_bias, options)
        for given, right in zip(result, convolved("cpu", x, weight, with_bias, options), strict=True):
            torch.testing.assert_close(given, right, rtol=1e-4, atol=1e-4)


def test_convolution_of_many_columns():
    """More than fit at a time, and images that are not contiguous."""
    x = torch.randn(2, 32, 131, 130).to(memory_format=torch.channels_last)
    weight = torch.randn(2, 32, 5, 5)
    given = torch.nn.functional.conv2d(x.to(NAME), weight.to(NAME), padding=2)
    torch.testing.assert_close(given.cpu(), torch.nn.functional.conv2d(x, weight, padding=2), rtol=1e-3, atol=1e-3)


def test_a_device_without_gemm():
    """The next call of the device's fails as if there were none: it is gemm, and the product comes out all the same."""
    x = operands()
    a, out = x.to(NAME), torch.zeros(8, 8, device=NAME)
    torch.openreg.synchronize()
    package = Path(torch_openreg.__file__).parent
    library = ctypes.CDLL(str(package / "lib" / "libopenreg.so"))
    not_supported = 6
    library.orDebugFailAfter(ctypes.c_int(0), ctypes.c_int(not_supported))
    try:
        torch.mm(a, a, out=out)
    finally:
        library.orDebugFailAfter(ctypes.c_int(-1), ctypes.c_int(0))
    torch.testing.assert_close(out.cpu(), x @ x)
