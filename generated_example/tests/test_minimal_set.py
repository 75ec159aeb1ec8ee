# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""The kernels that come with the backend: copies, conversions, sizes, filling, and loops that several threads share."""

import copy
import itertools
import os
import subprocess
import sys

import pytest
import torch
from torch_openreg import _release
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map_only

NAME = "openreg"
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32),
    *(torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    *(torch.float8_e4m3fn, torch.float8_e5m2),
)
CONVERTED = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex64]


def values(dtype, shape=(3, 4)):
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float32) % 7).reshape(shape).to(dtype)


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "sliced": lambda x: x[:, 1::2],
    "expanded": lambda x: x[:1].expand(5, 4),
    "empty": lambda x: x[:0],
    "scalar": lambda x: x[1, 2],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round_trip(device, dtype):
    x = values(dtype)
    for layout in LAYOUTS.values():
        y = layout(x).to(device)
        assert y.device == device
        assert torch.equal(y.cpu().to(torch.complex128), layout(x).to(torch.complex128))
        assert torch.equal(layout(x.to(device)).cpu().to(torch.complex128), layout(x).to(torch.complex128))


@pytest.mark.parametrize(("source", "target"), list(itertools.product(CONVERTED, CONVERTED)), ids=str)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_conversion(device, source, target):
    x = values(source)
    expected = x.to(target)
    assert torch.equal(x.to(device).to(target).cpu(), expected)  # on the device
    assert torch.equal(torch.empty(3, 4, dtype=target, device=device).copy_(x).cpu(), expected)  # to it
    assert torch.equal(torch.empty(3, 4, dtype=target).copy_(x.to(device)), expected)  # from it


def test_large_integers_are_exact(device):
    x = torch.tensor([2**62 + 1, -(2**62) - 1, 2**53 + 1])
    assert torch.equal(x.to(device).to(torch.int64).cpu(), x)
    y = torch.tensor([2**63 + 5], dtype=torch.uint64).to(device)
    assert y.to(torch.int64).cpu().item() == torch.tensor([2**63 + 5], dtype=torch.uint64).to(torch.int64).item()


def test_copy_into_views(device):
    for index in ((slice(None), 1), (slice(None, None, 2),), (0,)):
        x, y = torch.zeros(4, 5), torch.zeros(4, 5, device=device)
        x[index] = 3.5
        y[index] = 3.5
        assert torch.equal(y.cpu(), x)
        x[index] = torch.arange(x[index].numel(), dtype=torch.float64).view(x[index].shape)
        y[index] = torch.arange(x[index].numel(), dtype=torch.float64).view(x[index].shape)
        assert torch.equal(y.cpu(), x)


def test_between_devices(device, other):
    x = torch.arange(12.0).view(3, 4)
    y = x.to(device)
    for layout in LAYOUTS.values():
        z = layout(y).to(other)
        assert z.device == other
        assert torch.equal(z.cpu(), layout(x))
    z = torch.zeros(4, 3, device=other, dtype=torch.float64).t().copy_(y)
    assert torch.equal(z.cpu(), x.double())


def test_broadcasting_copy(device):
    x = torch.zeros(3, 4, device=device)
    x.copy_(torch.arange(4.0))
    assert torch.equal(x.cpu(), torch.arange(4.0).expand(3, 4))
    torch.ops.aten._copy_from(torch.arange(4.0) + 1, x)
    assert torch.equal(x.cpu(), (torch.arange(4.0) + 1).expand(3, 4))


def test_item(device):
    assert torch.tensor(3.5, device=device).item() == 3.5
    assert torch.tensor([True], device=device).item() is True
    assert torch.tensor([1 + 2j], device=device).conj().item() == 1 - 2j
    assert torch.arange(6, device=device)[4].item() == 4
    assert torch.tensor([1 + 2j], device=device).conj().imag.item() == -2


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_item_is_exact(device, dtype):
    value = values(dtype).flatten()[5]
    got = value.to(device).item()
    assert got == value.item()
    assert type(got) is type(value.item())


# What a thread of the host reads by itself must be what the stream has written before.
def test_item_waits_for_the_stream(device):
    x = torch.zeros((), dtype=torch.int64, device=device)
    stream = torch.Stream(device)
    for i in range(200):
        x.fill_(i)
        assert x.item() == i
    with stream:
        for i in range(200):
            x.fill_(i)
            assert x.item() == i


def test_resize_keeps_values(device):
    x = torch.arange(6.0).to(device)
    x.resize_(3, 4)
    assert x.shape == (3, 4)
    assert torch.equal(x.cpu().flatten()[:6], torch.arange(6.0))
    x.resize_(2, 3, 4, 5, memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(torch.arange(4.0).to(device).resize_(2).cpu(), torch.arange(2.0))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fill(device, dtype):
    for layout in LAYOUTS.values():
        base = torch.zeros(3, 4, dtype=dtype, device=device)
        expected = torch.zeros(3, 4, dtype=dtype)
        layout(base).fill_(1)
        layout(expected).fill_(1)
        assert torch.equal(base.cpu().to(torch.complex128), expected.to(torch.complex128))
        layout(base).zero_()
        assert not base.cpu().to(torch.complex128).any()
    x = torch.empty(3, device=device).fill_(torch.tensor(2.5, device=device))
    assert torch.equal(x.cpu(), torch.full((3,), 2.5))


def test_factories(device):
    assert torch.empty(2, 3, device=device).shape == (2, 3)
    assert torch.empty(2, 3, device=NAME).device.index == torch.accelerator.current_device_index()
    assert torch.empty_strided((2, 3), (1, 2), device=device).stride() == (1, 2)
    x = torch.empty(2, 3, 4, 5, device=device, memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="pinned"):
        torch.empty(2, device=device, pin_memory=True)


def test_dropout_follows_the_seed(device):
    x = torch.ones(1000, device=device, requires_grad=True)
    torch.manual_seed(1)
    first = torch.nn.functional.dropout(x, 0.25)
    torch.manual_seed(1)
    second = torch.nn.functional.dropout(x, 0.25)
    assert torch.equal(first.cpu(), second.cpu())
    assert 600 < int((first != 0).sum()) < 900
    first.sum().backward()
    assert torch.equal(x.grad.cpu(), first.detach().cpu())


BAGS = {
    "sum": {"mode": 0},
    "mean": {"mode": 1},
    "max": {"mode": 2},
    "last offset": {"mode": 0, "include_last_offset": True},
    "last offset, mean": {"mode": 1, "include_last_offset": True},
    "last offset, max": {"mode": 2, "include_last_offset": True},
    "padding": {"mode": 0, "padding_idx": 3},
    "padding, max": {"mode": 2, "padding_idx": 3},
    "weights": {"mode": 0, "per_sample_weights": torch.tensor([0.5, -1.0, 2.0, 3.0, 1.5])},
}


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.int64), (torch.float64, torch.int32)], ids=str)
@pytest.mark.parametrize("options", BAGS.values(), ids=BAGS)
@pytest.mark.parametrize("name", ["_embedding_bag", "_embedding_bag_forward_only"])
def test_embedding_bag_returns_what_fake_tensors_have(device, name, options, dtypes):
    floating, integer = dtypes
    weight = torch.arange(24.0, dtype=floating).reshape(6, 4)
    indices, offsets = torch.tensor([3, 1, 3, 5, 0], dtype=integer), torch.tensor([0, 2, 2, 5], dtype=integer)
    options = tree_map_only(torch.Tensor, lambda x: x.to(floating), options)
    op = getattr(torch.ops.aten, name).default
    args, kwargs = tree_map_only(torch.Tensor, lambda x: x.to(device), ((weight, indices, offsets), options))
    found = op(*args, **kwargs)
    with FakeTensorMode() as mode:
        args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, (args, kwargs))
        expected = op(*args, **kwargs)
    for a, b in zip(found, expected, strict=True):
        assert (a.device, a.dtype, a.shape, a.stride()) == (b.device, b.dtype, b.shape, b.stride())
    torch.testing.assert_close(found[0].cpu(), op(weight, indices, offsets, **options)[0])
    assert found[1].tolist() == [0, 0, 2, 2, 2]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last", [False, True])
def test_embedding_bag_trains_as_on_the_cpu(device, mode, last):
    indices, offsets = torch.tensor([3, 1, 3, 5, 0]), torch.tensor([0, 2, 2, 5])
    torch.manual_seed(0)
    bags = torch.nn.EmbeddingBag(6, 4, mode=mode, include_last_offset=last)
    twin = copy.deepcopy(bags).to(device)
    out = bags(indices, offsets)
    found = twin(indices.to(device), offsets.to(device))
    torch.testing.assert_close(found.cpu(), out)
    out.square().sum().backward()
    found.square().sum().backward()
    torch.testing.assert_close(twin.weight.grad.cpu(), bags.weight.grad)


# --- Loops over many elements: threads take a share each, and together they write what one would

BROADCAST = {
    "rows": ((513, 257), lambda x: x),
    "columns": ((257, 513), lambda x: x.t()),
    "one number a row": ((513, 257), lambda x: x[:, :1]),
    "wide rows": ((2, 70_001), lambda x: x),
    "three dimensions": ((3, 211, 131), lambda x: x.transpose(0, 2)),
    "every other": ((140_001,), lambda x: x[::2]),
}


# Large enough for several threads to take a share; then a number of elements that they can't share evenly.
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("case", BROADCAST)
def test_threads_share_large_loops(device, case, threads):
    shape, view = BROADCAST[case]
    x = torch.arange(torch.Size(shape).numel(), dtype=torch.int32).reshape(shape)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        source = view(x.to(device))
        copy = source.to(torch.int64).contiguous()
        filled = torch.empty(shape, device=device)
        view(filled).fill_(2.5)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(copy.cpu(), view(x).to(torch.int64).contiguous())
    expected = torch.zeros(shape)
    view(expected).fill_(2.5)
    assert torch.equal(view(filled.cpu()), view(expected))


PROGRAM = """
import os
import torch


def threads():
    return len(os.listdir("/proc/self/task"))


small, large = torch.zeros(2, device="openreg"), torch.zeros(1 << 20, device="openreg")
small.to(torch.int32)
torch.openreg.synchronize()
before = threads()
large.to(torch.int32)
torch.openreg.synchronize()
print(before, threads())
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2 or torch.get_num_threads() < 2, reason="needs two processors")
@pytest.mark.skipif(not _release.built()["compiler"].startswith("GNU"), reason="the build asks g++ alone for OpenMP")
def test_large_loops_have_helpers():
    """Without OpenMP in the compiler, PyTorch's at::parallel_for is a plain loop, and nothing says so."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, stdout=subprocess.PIPE, text=True)
    before, after = done.stdout.split()
    assert int(after) > int(before)
