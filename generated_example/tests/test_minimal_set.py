# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""The kernels that come with the backend: copies, views, sizes, filling, convolutions, random numbers."""

import itertools

import pytest
import torch

NAME = "openreg"
DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
]
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


def test_conjugate_and_negative_views(device):
    x = torch.tensor([1 + 2j, 3 - 4j])
    y = x.to(device)
    assert torch.equal(y.conj().cpu(), x.conj().resolve_conj())
    assert torch.equal(y.conj().clone().cpu(), x.conj().resolve_conj())
    assert torch.equal(y.conj().imag.cpu(), x.conj().imag.resolve_neg())
    target = torch.zeros(2, dtype=torch.complex64, device=device)
    target.copy_(x.conj())
    assert torch.equal(target.cpu(), x.conj().resolve_conj())


def test_between_devices(device, other):
    x = torch.arange(12.0).view(3, 4)
    y = x.to(device)
    for layout in LAYOUTS.values():
        z = layout(y).to(other)
        assert z.device == other
        assert torch.equal(z.cpu(), layout(x))
    z = torch.zeros(4, 3, device=other, dtype=torch.float64).t().copy_(y)
    assert torch.equal(z.cpu(), x.double())


def test_pinned_copies_do_not_wait(device):
    host = torch.arange(1 << 16, dtype=torch.float32).pin_memory()
    back = torch.empty_like(host).pin_memory()
    y = host.to(device, non_blocking=True)
    back.copy_(y.add(1), non_blocking=True)
    torch.accelerator.synchronize(device)
    assert torch.equal(back, host + 1)


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


def test_views_share_memory(device):
    x = torch.zeros(4, 6, device=device)
    views = [
        x.view(24),
        x.t(),
        x[1:3],
        x.unfold(1, 2, 2),
        x.as_strided((2, 2), (6, 1), 3),
        x.reshape(2, 12),
        torch.view_as_complex(x.view(4, 3, 2)),
        x.view(torch.int32),
    ]
    for view in views:
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    views[0].fill_(2)
    assert torch.equal(x.cpu(), torch.full((4, 6), 2.0))
    z = torch.zeros(3, dtype=torch.complex64, device=device)
    torch.view_as_real(z)[:, 1] = 1
    assert torch.equal(z.cpu(), torch.full((3,), 1j))


def test_resize_keeps_values(device):
    x = torch.arange(6.0).to(device)
    x.resize_(3, 4)
    assert x.shape == (3, 4)
    assert torch.equal(x.cpu().flatten()[:6], torch.arange(6.0))
    x.resize_(2, 3, 4, 5, memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(torch.arange(4.0).to(device).resize_(2).cpu(), torch.arange(2.0))


def test_set(device):
    x = torch.arange(6.0).to(device)
    y = torch.empty(0, device=device)
    y.set_(x)
    assert y.is_set_to(x)
    assert torch.equal(y.cpu(), torch.arange(6.0))
    y.set_(x.untyped_storage(), 1, (2, 2), (2, 1))
    assert torch.equal(y.cpu(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    y.set_(x.untyped_storage())
    assert y.shape == (6,)
    y.set_()
    assert y.numel() == 0
    with pytest.raises(RuntimeError):
        y.set_(torch.ones(2))


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


def test_record_stream(device):
    stream = torch.Stream(device=device)
    x = torch.ones(1000, device=device)
    stream.wait_stream(torch.accelerator.current_stream())
    with stream:
        y = x.clone()
    x.record_stream(stream)
    del x
    stream.synchronize()
    assert torch.equal(y.cpu(), torch.ones(1000))


def test_parameters_keep_their_identity(device):
    module = torch.nn.Linear(2, 2)
    weight = module.weight
    module.to(device)
    assert module.weight is weight
    assert weight.device == device


@pytest.mark.parametrize("op", ["rand", "randn", "randperm"])
def test_factories_follow_the_seed(device, op):
    make = getattr(torch, op)

    def draw(generator=None):
        return make(100, generator=generator, device=device).cpu()

    torch.manual_seed(3)
    first, second = draw(), draw()
    torch.manual_seed(3)
    again = draw()
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    one = draw(torch.Generator(device=device).manual_seed(5))
    two = draw(torch.Generator(device=device).manual_seed(5))
    assert torch.equal(one, two)


FILLERS = {
    "normal_": (),
    "uniform_": (),
    "random_": (),
    "bernoulli_": (0.5,),
    "exponential_": (),
    "geometric_": (0.3,),
    "cauchy_": (),
    "log_normal_": (),
}


@pytest.mark.parametrize("name", FILLERS)
def test_random_fillers_follow_the_seed(device, name):
    def draw(generator=None):
        x = torch.zeros(1000, device=device)
        return getattr(x, name)(*FILLERS[name], generator=generator).cpu()

    cpu = torch.get_rng_state()
    torch.manual_seed(7)
    first, second = draw(), draw()
    torch.manual_seed(7)
    assert torch.equal(first, draw())
    assert not torch.equal(first, second)
    with torch.random.fork_rng(devices=[device.index], device_type=NAME):
        draw()
    assert torch.equal(second, draw())
    generator = torch.Generator(device=device).manual_seed(11)
    assert torch.equal(draw(generator), draw(generator.manual_seed(11)))
    torch.set_rng_state(cpu)


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


def train(module, device, x, steps=3):
    """Losses and parameters after some steps of SGD."""
    torch.manual_seed(0)
    module = module().to(device)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        y = module(x.to(device))
        y = y[0] if isinstance(y, tuple) else y
        loss = y.square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach().cpu() for p in module.parameters()]


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (lambda: torch.nn.Conv1d(2, 3, 3), (2, 2, 8)),
        (lambda: torch.nn.Conv2d(4, 6, 3, padding=1, groups=2), (2, 4, 6, 6)),
        (lambda: torch.nn.Conv2d(2, 3, 3, stride=2, dilation=2, bias=False), (2, 2, 9, 9)),
        (lambda: torch.nn.Conv3d(1, 2, 2), (1, 1, 4, 4, 4)),
        (lambda: torch.nn.ConvTranspose2d(2, 4, 3, stride=2, groups=2), (2, 2, 5, 5)),
    ],
    ids=["conv1d", "conv2d", "strided", "conv3d", "transposed"],
)
def test_modules_train_as_on_the_cpu(device, module, shape):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    losses, parameters = train(module, device, x)
    expected_losses, expected_parameters = train(module, torch.device("cpu"), x)
    torch.testing.assert_close(losses, expected_losses, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(parameters, expected_parameters, rtol=1e-4, atol=1e-5)
    assert losses[-1] < losses[0]


def test_fallback_runs_on_the_cpu(device):
    x = torch.tensor([3.0, 1.0, 2.0])
    assert torch.equal(x.to(device).sort().values.cpu(), x.sort().values)
    out = torch.empty(0, device=device)
    torch.cumsum(x.to(device), 0, out=out)
    assert torch.equal(out.cpu(), x.cumsum(0))
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes"):
        torch.mm(torch.ones(2, 3, device=device), torch.ones(2, 3, device=device))
