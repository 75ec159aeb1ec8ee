"""DLPack: capsules and the protocol, shapes, dtypes, who keeps memory, what is refused."""

import gc

import pytest
import torch
from built import NAME
from torch.utils import dlpack

api = torch.get_device_module(NAME)
DLPACK_DTYPES = [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float64]


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
