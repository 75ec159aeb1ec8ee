# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Storages: making, copying, resizing, sharing; `.data =`; DLPack."""

import gc

import pytest
import torch
from torch.utils import dlpack

NAME = "openreg"
api = torch.openreg


def test_make_and_copy(device, other):
    for where in (device, other):
        storage = torch.UntypedStorage(100, device=where)
        assert storage.device == where
        assert storage.nbytes() == 100
        storage.copy_(torch.arange(100, dtype=torch.uint8).untyped_storage())
        assert storage.cpu().tolist() == list(range(100))
        assert storage.clone().cpu().tolist() == list(range(100))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_typed_storage(device):
    storage = torch.arange(5.0).to(device).storage()
    assert getattr(storage, f"is_{NAME}")
    assert storage.device == device
    assert storage.cpu().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("nbytes", [0, 8, 40, 4000])
def test_resize(device, nbytes):
    x = torch.arange(10, dtype=torch.uint8).to(device)
    storage = x.untyped_storage()
    storage.resize_(nbytes)
    assert storage.nbytes() == nbytes
    kept = min(10, nbytes)
    assert storage.cpu().tolist()[:kept] == list(range(kept))


def test_resize_to_nothing_frees(device):
    x = torch.empty(1 << 22, dtype=torch.uint8, device=device)
    held = api.memory_allocated(device)
    x.untyped_storage().resize_(0)
    assert held - api.memory_allocated(device) >= 1 << 22
    x.untyped_storage().resize_(1 << 22)
    x.fill_(9)
    assert x[-1].item() == 9


def test_resize_keeps_the_device(other):
    x = torch.ones(4, device=other)
    x.untyped_storage().resize_(64)
    x.resize_(16)
    assert x.device == x.untyped_storage().device == other
    assert x[:4].tolist() == [1, 1, 1, 1]


def test_tensor_resize(device):
    x = torch.arange(6.0).to(device)
    x.resize_(2, 2)
    assert x.tolist() == [[0, 1], [2, 3]]
    x.resize_(100)
    assert x[:6].tolist() == [0, 1, 2, 3, 4, 5]


def test_views_share(device):
    x = torch.zeros(4, 6, device=device)
    view = x.view(2, 12)[1].unfold(0, 3, 3).transpose(0, 1)
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    view.fill_(1)
    expected = torch.zeros(4, 6)
    expected[2:] = 1
    assert torch.equal(x.cpu(), expected)
    assert view.storage_offset() == 12


def test_set(device):
    source = torch.arange(12.0).to(device)
    x = torch.empty(0, device=device)
    x.set_(source.untyped_storage(), 2, (2, 3), (5, 1))
    assert x.tolist() == [[2, 3, 4], [7, 8, 9]]
    x.set_(source)
    assert x.is_set_to(source)
    x.set_()
    assert x.numel() == 0


def test_data_swap_keeps_the_parameter(device):
    parameter = torch.nn.Parameter(torch.ones(3))
    identity = id(parameter)
    parameter.data = torch.full((3,), 2.0, device=device)
    assert id(parameter) == identity
    assert parameter.device == device
    assert parameter.tolist() == [2, 2, 2]
    parameter.data = torch.zeros(3)
    assert parameter.device.type == "cpu"


def test_module_to_keeps_parameters(device):
    module = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    before = [id(p) for p in module.parameters()]
    module.to(device)
    assert [id(p) for p in module.parameters()] == before
    assert optimizer.param_groups[0]["params"][0].device == device


def test_memory_lives_as_long_as_its_last_user(device):
    gc.collect()
    before = api.memory_allocated(device)
    x = torch.full((1 << 16,), 5.0, device=device)
    storage = x.untyped_storage()
    del x
    gc.collect()
    y = torch.empty(0, device=device).set_(storage)
    assert y[100].item() == 5.0
    del y, storage
    gc.collect()
    assert api.memory_allocated(device) == before


def test_dlpack_capsule(device, other):
    for where in (device, other):
        x = torch.arange(12.0).to(where).reshape(3, 4).transpose(0, 1)
        y = dlpack.from_dlpack(dlpack.to_dlpack(x))
        assert y.device == where
        assert y.data_ptr() == x.data_ptr()
        assert y.stride() == x.stride()
        assert torch.equal(y.cpu(), x.cpu())


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 0, 3), (1, 2, 3, 4)], ids=str)
def test_dlpack_of_shapes(device, shape):
    x = torch.arange(torch.Size(shape).numel()).reshape(shape).to(device)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, device)
    assert torch.equal(y.cpu(), x.cpu())


DLPACK_DTYPES = [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float64]


@pytest.mark.parametrize("dtype", [*DLPACK_DTYPES, torch.complex64], ids=str)
def test_dlpack_of_dtypes(device, dtype):
    x = torch.tensor([0, 1, 1, 0]).to(dtype).to(device)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert y.dtype == dtype
    y.fill_(1)
    assert torch.equal(x.cpu(), torch.ones(4, dtype=dtype))


def test_dlpack_keeps_memory(device):
    gc.collect()
    before = api.memory_allocated(device)
    capsule = dlpack.to_dlpack(torch.full((1 << 16,), 4.0, device=device)[::2])
    y = dlpack.from_dlpack(capsule)
    del capsule
    torch.full((1 << 16,), 5.0, device=device)
    assert y.stride() == (2,)
    assert torch.equal(y.cpu(), torch.full((1 << 15,), 4.0))
    del y
    gc.collect()
    assert api.memory_allocated(device) == before


def test_dlpack_protocol(device, other):
    for where in (device, other):
        x = torch.arange(6.0).to(where)
        assert x.__dlpack_device__() == (dlpack.DLDeviceType.kDLExtDev, where.index)
        for y in (torch.from_dlpack(x), torch.from_dlpack(x, device=where), torch.from_dlpack(x, copy=False)):
            assert (y.device, y.data_ptr()) == (where, x.data_ptr())
        copied = torch.from_dlpack(x, copy=True)
        assert copied.device == where
        assert copied.data_ptr() != x.data_ptr()
        assert copied.tolist() == x.tolist()
    for there in (device, "cpu"):
        moved = torch.from_dlpack(x, device=there)
        assert moved.device == torch.device(there)
        assert moved.tolist() == x.tolist()
        with pytest.raises(ValueError, match="without copying"):
            torch.from_dlpack(x, device=there, copy=False)
    parameter = torch.nn.Parameter(x)
    assert parameter.__dlpack_device__() == (dlpack.DLDeviceType.kDLExtDev, other.index)
    assert torch.ones(2).__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0)
    assert torch.from_dlpack(torch.ones(2)).device.type == "cpu"


def test_dlpack_refuses_what_it_cannot_say(device):
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, device=device, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="conjugate bit"):
        torch.ones(2, dtype=torch.complex64, device=device).conj().__dlpack__()


def test_typed_storage_of_an_untyped_one(device):
    x = torch.arange(6.0).to(device)
    storage = torch.storage.TypedStorage(wrap_storage=x.untyped_storage(), dtype=torch.float32, _internal=True)
    y = torch.empty(0, device=device).set_(storage._untyped_storage)
    assert y.untyped_storage()._cdata == x.untyped_storage()._cdata
    assert y.tolist() == x.tolist()


def test_item_and_tolist(device):
    for value in (True, 3, 2.5, 1 + 2j):
        assert torch.tensor(value, device=device).item() == value
    assert torch.arange(3).to(device).tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        torch.zeros(2, device=device).numpy()


def test_printing(device):
    text = repr(torch.arange(3.0).to(device))
    assert text == f"tensor([0., 1., 2.], device='{NAME}:0')"
