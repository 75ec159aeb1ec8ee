"""What host code on device memory must do as the CPU does: devices of results, writes, checks, layouts, errors."""

import operator
import os
import subprocess
import sys

import pytest
import torch
from built import NAME

VARIABLE = f"{NAME.upper()}_FALLBACK"


def same(actual, expected, device) -> None:
    """Values, dtype, shape, strides and device."""
    if isinstance(expected, tuple | list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other, device)
        return
    assert actual.device == device
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.stride() == expected.stride()
    torch.testing.assert_close(actual.cpu(), expected, equal_nan=True)


def as_on_the_cpu(device, run) -> None:
    """run(place) returns the same there and on the CPU, or fails in both places."""
    try:
        expected = run("cpu")
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)):
            run(device)
        torch.accelerator.synchronize(device)
        return
    same(run(device), expected, device)


# --- The device of results: a number or a 0-dim CPU tensor may come first

NUMBER_FIRST = {
    "1 - x": lambda x, _: 1 - x,
    "1.5 - i": lambda x, _: 1.5 - x,
    "True - x": lambda x, _: torch.sub(torch.tensor(3), x),
    "5 // i": lambda x, _: 5 // x,
    "2 ** x": lambda x, _: 2**x,
    "7 % x": lambda x, _: 7 % x,
    "1 / x": lambda x, _: 1 / x,
    "2 + x": lambda x, _: 2 + x,
    "2 * x": lambda x, _: 2 * x,
    "rsub": lambda x, _: torch.rsub(x, 3),
    "sub": lambda x, zero_dim: torch.sub(zero_dim, x),
    "add": lambda x, zero_dim: torch.add(zero_dim, x),
    "mul": lambda x, zero_dim: zero_dim * x,
    "div": lambda x, zero_dim: zero_dim / x,
    "floor_divide": lambda x, zero_dim: torch.floor_divide(zero_dim, x),
    "remainder": lambda x, zero_dim: torch.remainder(zero_dim, x),
    "fmod": lambda x, zero_dim: torch.fmod(zero_dim, x),
    "pow": lambda x, zero_dim: torch.pow(zero_dim, x),
    "atan2": lambda x, zero_dim: torch.atan2(zero_dim, x),
    "where": lambda x, zero_dim: torch.where(x > 2, zero_dim, x),
    "where, condition": lambda x, zero_dim: torch.where(zero_dim > 0, x, x + 1),
    "comparison": lambda x, zero_dim: zero_dim < x,
    "maximum": lambda x, zero_dim: torch.maximum(zero_dim, x),
    "number comparison": lambda x, _: operator.ge(3, x),
    "isin": lambda x, _: torch.isin(x, 3),
    "bucketize": lambda x, _: torch.bucketize(3, x),
    "float_power": lambda x, _: torch.float_power(2, x),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float16, torch.bool], ids=str)
@pytest.mark.parametrize("call", NUMBER_FIRST.values(), ids=NUMBER_FIRST)
def test_results_are_on_the_devices_of_the_operands(device, other, call, dtype):
    x = torch.tensor([1, 3, 2, 4]).to(dtype)
    for zero_dim in (torch.tensor(3), torch.tensor(2.5), torch.tensor(2.5, dtype=torch.float64)):
        for one in (device, other):
            as_on_the_cpu(one, lambda place, zero_dim=zero_dim: call(x.to(place), zero_dim))


def test_shifts_of_numbers(device):
    x = torch.tensor([1, 2, 3])
    for call in (lambda x: torch.tensor(5) << x, lambda x: torch.tensor(40) >> x, lambda x: 5 | x, lambda x: 6 ^ x):
        same(call(x.to(device)), call(x), device)


def test_backward_of_a_number_minus_a_tensor(device):
    x = torch.ones(3, device=device, requires_grad=True)
    (1 - x).sum().backward()
    same(x.grad, -torch.ones(3), device)


# --- Writes through conjugate and negative views

CONJUGATE_WRITES = {
    "addmm_": lambda c, a, b: c.addmm_(a, b),
    "addmm out": lambda c, a, b: torch.addmm(a, a, b, out=c),
    "mm out": lambda c, a, b: torch.mm(a, b, out=c),
    "baddbmm_": lambda c, a, b: c.unsqueeze(0).baddbmm_(a.unsqueeze(0), b.unsqueeze(0)),
    "bmm out": lambda c, a, b: torch.bmm(a.unsqueeze(0), b.unsqueeze(0), out=c.unsqueeze(0)),
    "baddbmm out": lambda c, a, b: torch.baddbmm(a.unsqueeze(0), a.unsqueeze(0), b.unsqueeze(0), out=c.unsqueeze(0)),
    "solve_triangular out": lambda c, a, b: torch.linalg.solve_triangular(a.triu(), b, upper=True, out=c),
    "conj_physical_": lambda c, a, b: c.conj_physical_(),
    "add_": lambda c, a, b: c.add_(a),
    "copy_": lambda c, a, b: c.copy_(a),
    "mul out": lambda c, a, b: torch.mul(a, b, out=c),
    "zero_": lambda c, a, b: c.zero_(),
    "cumsum out": lambda c, a, b: torch.cumsum(a, 0, out=c),
    "index_add_": lambda c, a, b: c.index_add_(0, torch.tensor([1, 0], device=c.device), a[:2]),
}


@pytest.mark.parametrize("view", ["plain", "conj", "neg"])
@pytest.mark.parametrize("call", CONJUGATE_WRITES.values(), ids=CONJUGATE_WRITES)
def test_writes_through_conjugate_and_negative_views(device, call, view):
    def run(place):
        generator = torch.Generator().manual_seed(3)
        a, b, c = (torch.randn(3, 3, dtype=torch.complex64, generator=generator).to(place) for _ in range(3))
        target = {"plain": lambda: c, "conj": c.conj, "neg": lambda: torch._neg_view(c)}[view]()
        call(target, a, b)
        return c

    as_on_the_cpu(device, run)


# --- In-place and out=: what the CPU refuses, and what it leaves behind

WIDER = {
    "logical_and_": lambda x, y: x.logical_and_(y),
    "logical_or_": lambda x, y: x.logical_or_(y),
    "logical_xor_": lambda x, y: x.logical_xor_(y),
    "ldexp_": lambda x, y: x.ldexp_(y),
    "add_": lambda x, y: x.add_(y),
    "atan2_": lambda x, y: x.atan2_(y),
    "hypot_": lambda x, y: x.hypot_(y),
    "eq_": lambda x, y: x.eq_(y),
    "lerp_": lambda x, y: x.lerp_(y, 0.5),
    "addcmul_": lambda x, y: x.addcmul_(y, y),
    "clamp_": lambda x, y: x.clamp_(y),
    "copysign_": lambda x, y: x.copysign_(y),
    "xlogy_": lambda x, y: x.xlogy_(y),
}


@pytest.mark.parametrize("call", WIDER.values(), ids=WIDER)
def test_in_place_does_not_resize(device, call):
    x = torch.ones(3, device=device)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape|must match the size"):
        call(x, torch.ones(2, 3, device=device))
    assert x.shape == (3,)
    same(x, torch.ones(3), device)


OVERLAPS = {
    "cat": lambda x: torch.cat([x[:2], x[2:4]], out=x[1:5]),
    "gather": lambda x: torch.gather(x[:4], 0, torch.tensor([0, 1], device=x.device), out=x[2:4]),
    "index_select": lambda x: torch.index_select(x[:4], 0, torch.tensor([0, 1], device=x.device), out=x[2:4]),
    "take": lambda x: torch.take(x[:4], torch.tensor([0, 1], device=x.device), out=x[2:4]),
    "masked_select": lambda x: torch.masked_select(x[:2], x[:2] >= 0, out=x[1:3]),
    "kthvalue": lambda x: torch.kthvalue(x[:4], 2, out=(x[1], torch.empty((), dtype=torch.int64, device=x.device))),
    "sub": lambda x: torch.sub(x[:4], 1, out=x[1:5]),
    "abs": lambda x: torch.abs(x[:4], out=x[1:5]),
    "add": lambda x: torch.add(x[:4], 1, out=x[1:5]),
    "cumsum": lambda x: torch.cumsum(x[:4], 0, out=x[1:5]),
    "expanded": lambda x: x[:1].expand(3).add_(1),
    "overlapping": lambda x: x.as_strided((3, 3), (1, 1)).add_(1),
    "overlapping mul": lambda x: x.as_strided((3, 3), (1, 1)).mul_(2),
    "overlapping fill": lambda x: x.as_strided((3, 3), (1, 1)).fill_(2),
    "overlapping zero": lambda x: x.as_strided((2, 2), (1, 1)).zero_(),
    "overlapping copy": lambda x: x.as_strided((2, 2), (1, 1)).copy_(torch.ones(2, 2, device=x.device)),
    "overlapping input": lambda x: x.as_strided((3, 3), (1, 1)).cumsum(0),
}

EXPANDED_OUT = {
    "bmm": lambda out, a: torch.bmm(a, a, out=out),
    "bmm by BLAS": lambda out, a: torch.bmm(a.repeat(1, 8, 8), a.repeat(1, 8, 8), out=out[:, :1, :1].expand(2, 16, 16)),
    "baddbmm": lambda out, a: torch.baddbmm(a, a, a, out=out),
    "mm": lambda out, a: torch.mm(a[0], a[1], out=out[0]),
    "addmm_": lambda out, a: out[0].addmm_(a[0], a[1]),
    "mv": lambda out, a: torch.mv(a[0], a[0, 0], out=out[0, 0]),
    "addmv": lambda out, a: torch.addmv(a[1, 0], a[0], a[0, 0], out=out[0, 0]),
    "masked_fill_": lambda out, a: out.masked_fill_(a > 1, 5),
    "cummax": lambda out, a: torch.cummax(a, 0, out=(out, torch.empty(0, dtype=torch.int64, device=a.device))),
    "add_": lambda out, a: out.add_(a),
}


@pytest.mark.parametrize("call", EXPANDED_OUT.values(), ids=EXPANDED_OUT)
def test_writes_to_expanded_tensors(device, call):
    def run(place):
        out = torch.ones(1, 1, 1, device=place).expand(2, 2, 2)
        call(out, torch.ones(2, 2, 2, device=place))
        return out

    as_on_the_cpu(device, run)


def test_zeros_without_memory(device):
    def run(place):
        x = torch.tensor([1.0, -2.0], device=place, requires_grad=True)
        (grad,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
        return torch.autograd.grad((grad * grad).sum(), x)[0]

    same(run(device), run("cpu"), device)


@pytest.mark.parametrize("call", OVERLAPS.values(), ids=OVERLAPS)
def test_overlapping_memory(device, call):
    host = torch.arange(6.0)
    x = host.to(device)
    try:
        expected = call(host)
    except RuntimeError as error:
        with pytest.raises(RuntimeError) as seen:
            call(x)
        assert str(seen.value).split(".")[0].replace(NAME, "cpu") == str(error).split(".")[0]
    else:
        same(call(x), expected, device)
    same(x, host, device)


EMPTY_OUT = {
    "inv": lambda a, out: torch.linalg.inv(a, out=out()),
    "solve": lambda a, out: torch.linalg.solve(a, a, out=out()),
    "cholesky": lambda a, out: torch.linalg.cholesky(a @ a.mT + 3 * torch.eye(3, device=a.device), out=out()),
    "qr": lambda a, out: torch.linalg.qr(a, out=(out(), out())),
    "svd": lambda a, out: torch.linalg.svd(a, out=(out(), out(), out())),
    "lu": lambda a, out: torch.linalg.lu_factor(a, out=(out(), out(torch.int32))),
    "eigh": lambda a, out: torch.linalg.eigh(a @ a.mT, out=(out(), out())),
    "fft": lambda a, out: torch.fft.fft2(a, out=out(torch.complex64)),
    "rfft": lambda a, out: torch.fft.rfft(a, dim=0, out=out(torch.complex64)),
    "irfft": lambda a, out: torch.fft.irfft(a.to(torch.complex64), dim=0, out=out()),
    "triangular": lambda a, out: torch.linalg.solve_triangular(a, a, upper=True, out=out()),
    "cumsum": lambda a, out: torch.cumsum(a.t(), 0, out=out()),
}


@pytest.mark.parametrize("call", EMPTY_OUT.values(), ids=EMPTY_OUT)
def test_strides_of_an_empty_out(device, call):
    a = torch.randn(3, 3, generator=torch.Generator().manual_seed(1)) + 2 * torch.eye(3)

    def run(place):
        return call(a.to(place), lambda dtype=torch.float32: torch.empty(0, dtype=dtype, device=place))

    expected = run("cpu")
    actual = run(device)
    for one, other in zip(
        *((x,) if isinstance(x, torch.Tensor) else tuple(x) for x in (actual, expected)), strict=True
    ):
        assert (one.shape, one.stride(), one.device) == (other.shape, other.stride(), device)


def test_results_that_share_memory_still_do(device):
    x = torch.arange(12.0).view(3, 4)
    for call in (
        lambda x: torch.ops.aten.unsafe_split.Tensor(x, 2),
        lambda x: torch.ops.aten.native_layer_norm(x, [4], None, None, 1e-5),
    ):
        actual, expected = call(x.to(device)), call(x)
        same(actual, expected, device)
        shared = [
            [a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() for a in results for b in results]
            for results in (actual, expected)
        ]
        assert shared[0] == shared[1]


def test_running_statistics(device):
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(2))

    def run(place, call):
        mean, var = torch.zeros(3, device=place), torch.ones(3, device=place)
        outs = tuple(torch.empty(0, device=place) for _ in range(3))
        call(x.to(place), mean, var, outs)
        return mean, var

    for call in (
        lambda x, m, v, _: torch.native_batch_norm(x, None, None, m, v, True, 0.1, 1e-5),
        lambda x, m, v, outs: torch.native_batch_norm(x, None, None, m, v, True, 0.1, 1e-5, out=outs),
        lambda x, m, v, _: torch.batch_norm_update_stats(x, m, v, 0.1),
        lambda x, m, v, _: torch.nn.functional.batch_norm(x, m, v, training=True),
        lambda x, m, v, _: torch.nn.functional.instance_norm(x.t()[None].contiguous(), m, v),
    ):
        same(run(device, call), run("cpu", call), device)


# --- dtypes


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint16, torch.complex32, torch.int32, torch.float16], ids=str)
@pytest.mark.parametrize("call", [torch.mm, torch.addmm, torch.bmm], ids=lambda call: call.__name__)
def test_products_of_dtypes(device, call, dtype):
    def run(place):
        x = torch.ones(2, 2).to(dtype).to(place)
        return call(x, x, x) if call is torch.addmm else call(x, x) if call is torch.mm else call(x[None], x[None])

    as_on_the_cpu(device, run)


OTHER_DTYPES = {
    "amax": lambda x: x.amax(0),
    "hypot": lambda x: torch.hypot(x, x),
    "abs": lambda x: x.abs(),
    "maximum": lambda x: torch.maximum(x, x),
    "relu": lambda x: x.relu(),
    "add": lambda x: x + x,
    "sum": lambda x: x.sum(),
    "argmax": lambda x: x.argmax(),
}
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16),
    *(torch.float32, torch.float64, torch.complex64),
)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("call", OTHER_DTYPES.values(), ids=OTHER_DTYPES)
def test_dtypes_that_a_kernel_does_not_take_fall_back(device, call, dtype):
    x = torch.tensor([[0, 2, 1], [3, 0, 1]]).to(dtype)
    as_on_the_cpu(device, lambda place: call(x.to(place)))


# --- What fake tensors say is what real ones are

F, LAST = torch.nn.functional, torch.channels_last


def last(x):
    return x.to(memory_format=LAST if x.dim() == 4 else torch.channels_last_3d)


def norm(op, training, dtype=torch.float32):
    return lambda make: op(make(2, 3, 4).to(dtype), None, None, make(3), make(3), training, 0.1, 1e-5)


METADATA = {
    "batch norm in eval": norm(torch.native_batch_norm, False),
    "legit batch norm in eval": norm(torch.ops.aten._native_batch_norm_legit, False),
    "half batch norm in eval": norm(torch.native_batch_norm, False, torch.float16),
    "batch norm in training": norm(torch.native_batch_norm, True),
    "channels_last convolution": lambda make: F.conv2d(last(make(2, 3, 8, 8)), make(4, 3, 3, 3)),
    "channels_last transposed convolution": lambda make: F.conv_transpose2d(last(make(2, 3, 8, 8)), make(3, 4, 3, 3)),
    "transposed convolution": lambda make: F.conv_transpose2d(make(2, 3, 8, 8), make(3, 4, 3, 3)),
    "convolution": lambda make: F.conv1d(make(2, 3, 8), make(4, 3, 3)),
    "convolution of a transposed input": lambda make: F.conv1d(make(2, 8, 3).mT, make(4, 3, 3)),
    "convolution by a transposed weight": lambda make: F.conv1d(make(2, 3, 8), make(4, 3, 3).mT),
    "channels_last convolution to a pixel": lambda make: F.conv2d(last(make(2, 3, 3, 3)), make(4, 3, 3, 3)),
    "convolution by a channels_last weight": lambda make: F.conv2d(make(2, 3, 8, 8), last(make(4, 3, 3, 3))),
    "channels_last conv3d": lambda make: F.conv3d(last(make(2, 3, 8, 8, 8)), make(4, 3, 3, 3, 3)),
    "channels_last, half": lambda make: F.conv2d(last(make(2, 3, 8, 8).half()), make(4, 3, 3, 3).half()),
    "gradients of a channels_last convolution": lambda make: torch.ops.aten.convolution_backward(
        *(make(2, 4, 6, 6), last(make(2, 3, 8, 8)), make(4, 3, 3, 3)),
        *([4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True]),
    ),
}


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_convolutions_keep_channels_last(device, dims, dtype):
    layout = {2: torch.channels_last, 3: torch.channels_last_3d}.get(dims, torch.contiguous_format)
    x, weight = torch.rand(2, 3, *[6] * dims, dtype=dtype), torch.rand(4, 3, *[3] * dims, dtype=dtype)
    convolution = getattr(torch.nn.functional, f"conv{dims}d")
    for formats in ((layout, torch.contiguous_format), (torch.contiguous_format, layout)):
        results = []
        for where in (device, "cpu"):
            operands = [
                value.to(where).clone(memory_format=each).requires_grad_()
                for value, each in zip((x, weight), formats, strict=True)
            ]
            result = convolution(*operands)
            assert where == "cpu" or result.is_contiguous(memory_format=layout)
            result.permute(0, *range(2, dims + 2), 1).reshape(2, -1).sum().backward()
            assert [value.grad.stride() for value in operands] == [value.stride() for value in operands]
            results.append([result.detach().cpu(), *(value.grad.cpu() for value in operands)])
        for ours, theirs in zip(*results, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=2e-3, atol=2e-2 if dtype == torch.float16 else 1e-4)


@pytest.mark.parametrize("call", METADATA.values(), ids=METADATA)
def test_metadata_of_fake_tensors(device, call):
    from torch._subclasses.fake_tensor import FakeTensorMode

    real = call(lambda *sizes: torch.ones(sizes, device=device))
    with FakeTensorMode():
        fake = call(lambda *sizes: torch.ones(sizes, device=device))
    for one, other in zip(*((x,) if isinstance(x, torch.Tensor) else x for x in (fake, real)), strict=True):
        assert (one.shape, one.stride()) == (other.shape, other.stride())
        assert (one.dtype, one.device) == (other.dtype, other.device)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_an_operator_that_makes_its_operands(device, dtype):
    halves = torch.randn(4, 6, dtype=dtype)  # glu reads two views that have ended when its kernel begins
    as_on_the_cpu(device, lambda place: torch.nn.functional.glu(halves.to(place)))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_a_first_call_without_elements(device, dtype):
    as_on_the_cpu(
        device,
        lambda place: torch.ones(0, 0, dtype=dtype, device=place).index_fill(
            -1, torch.zeros(0, dtype=torch.long, device=place), 1 - 2j
        ),
    )


@pytest.mark.skipif(VARIABLE in os.environ, reason="the tests of another kind")
@pytest.mark.parametrize("kind", ["copy", "alias"])
def test_each_way_to_the_memory(device, kind):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env={**os.environ, VARIABLE: kind}, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout + done.stderr
