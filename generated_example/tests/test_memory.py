# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Memory: who holds how much; copies, views, storages."""

import gc
import io

import pytest
import torch

NAME = "openreg"
api = torch.openreg


def test_tensors_are_counted(device):
    gc.collect()
    before = api.memory_allocated(device)
    x = torch.empty(1000, device=device)
    assert api.memory_allocated(device) >= before + x.nbytes
    free, total = api.mem_get_info(device)
    assert free <= total - x.nbytes
    del x
    assert api.memory_allocated(device) == before
    assert api.max_memory_allocated(device) > before


def test_out_of_memory(device):
    with pytest.raises(torch.OutOfMemoryError, match="openreg out of memory"):
        torch.empty(2 * api.mem_get_info(device)[1], dtype=torch.uint8, device=device)
    assert torch.ones(10, device=device).sum().item() == 10


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "strided": lambda x: x[::2, 1::3],
    "expanded": lambda x: x[0].expand(4, -1),
    "offset": lambda x: x[1:, 1:],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("target", [torch.float32, torch.int64, torch.complex64, torch.bool])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(layout, target, device):
    host = torch.arange(48.0).reshape(6, 8)
    here = LAYOUTS[layout](host)
    there = LAYOUTS[layout](host.to(device))
    assert there.stride() == here.stride()
    assert torch.equal(there.cpu(), here)
    assert torch.equal(there.to(target).cpu(), here.to(target))
    assert torch.equal(there.clone().cpu(), here)
    if layout != "expanded":
        destination = torch.zeros(6, 8, dtype=target)
        expected = LAYOUTS[layout](destination.clone())
        actual = destination.to(device)
        LAYOUTS[layout](actual).copy_(there)
        assert torch.equal(LAYOUTS[layout](actual).cpu(), expected.copy_(here))
        assert torch.equal(actual.cpu(), _written(LAYOUTS[layout], here, target))


def _written(layout, values, dtype):
    whole = torch.zeros(6, 8, dtype=dtype)
    layout(whole).copy_(values)
    return whole


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.int64, torch.float16, torch.float32, torch.float64])
def test_copies_between_devices(device, other, dtype):
    x = torch.arange(35).reshape(5, 7).to(dtype)
    y = x.to(device).to(other)
    assert y.device == other
    assert torch.equal(y.cpu(), x)
    assert torch.equal(y.t().to(device).cpu(), x.t())


def test_conjugated_and_negated(device):
    x = torch.randn(3, 4, dtype=torch.complex64)
    assert torch.equal(x.to(device).conj().cpu(), x.conj().resolve_conj())
    assert torch.equal(x.to(device).conj().clone().cpu(), x.conj().resolve_conj())
    assert torch.equal(torch.zeros_like(x, device=device).copy_(x.conj()).cpu(), x.conj().resolve_conj())
    assert torch.equal(x.to(device).conj().imag.cpu(), x.conj().imag.resolve_neg())
    assert torch.equal(torch.conj_physical(x.to(device)).cpu(), torch.conj_physical(x))


def test_views_share_memory(device):
    x = torch.zeros(2, 6, device=device)
    views = [x.view(3, 4), x.reshape(4, 3), x[1], x.t(), x.unfold(1, 2, 2), x.as_strided((2, 2), (1, 3), 2)]
    for view in (*views, x.view(torch.int32), torch.view_as_complex(x.view(2, 3, 2))):
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    x.view(-1)[5] = 1
    assert x[0, 5].item() == 1
    z = torch.zeros(2, 2, dtype=torch.complex64, device=device)
    torch.view_as_real(z)[0, 1, 1] = 3
    assert z[0, 1].item() == 3j


@pytest.mark.parametrize("value", [0, 1.5, -2])
def test_fill(value, device):
    x = torch.empty(4, 5, device=device)
    assert torch.equal(x.fill_(value).cpu(), torch.full((4, 5), value, dtype=torch.float32))
    x[:, ::2].fill_(7)
    expected = torch.full((4, 5), value, dtype=torch.float32)
    expected[:, ::2] = 7
    assert torch.equal(x.cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.int16, torch.float32, torch.complex128])
@pytest.mark.parametrize("count", [1, 3, 40_000, 300_001])
@pytest.mark.parametrize("value", [0, 1, 0.0, -0.0, 255, 1.5])
def test_fill_is_the_cpus(value, count, dtype, device):
    expected = torch.empty(count, dtype=dtype).fill_(value)
    x = torch.empty(count + 2, dtype=dtype, device=device)
    x.zero_()
    assert torch.equal(x[1:-1].fill_(value).cpu(), expected)
    assert not x[0].item() and not x[-1].item()
    assert torch.equal(x[1:-1].fill_(torch.tensor(value, device=device)).cpu(), expected)


def test_copies_are_queued_on_the_current_stream(device):
    stream = api.Stream(device)
    x = torch.arange(100_000)
    with stream:
        y = x.to(device)
        y.fill_(7)
        z = y.clone()
        assert torch.equal(z.cpu(), torch.full_like(x, 7))
        z[::2] = y[1::2] + 1
        assert z.sum().item() == 750_000
    api.synchronize(device)


def test_a_copy_to_another_device_keeps_what_was_there(device, other):
    x = torch.full((100_000,), 3.0, device=device)
    y = x.to(other)
    x.fill_(5)
    assert torch.equal(y.cpu(), torch.full((100_000,), 3.0))


def test_resize_and_set(device):
    x = torch.arange(6.0, device=device)
    x.resize_(2, 5)
    assert x.view(-1)[:6].tolist() == list(range(6))
    y = torch.empty(0, device=device).set_(x)
    assert y.data_ptr() == x.data_ptr()
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0


def test_save_and_load(device):
    x = torch.randn(3, 4, device=device)
    file = io.BytesIO()
    torch.save({"x": x, "row": x[1]}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].device == x.device
    assert torch.equal(loaded["x"].cpu(), x.cpu())
    assert loaded["row"].untyped_storage().data_ptr() == loaded["x"].untyped_storage().data_ptr()


def test_dlpack(device, other):
    for where in (device, other):
        x = torch.ones(3, device=where)
        y = torch.from_dlpack(x)
        assert (y.device, y.data_ptr()) == (where, x.data_ptr())
