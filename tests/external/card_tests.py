"""What a tree asks of a discrete, asynchronous device, counted by the port in card_port.cpp. Run by pytest in a tree of
backend `mybackend` that has that port."""

import ctypes
import threading
from pathlib import Path

import pytest
import torch
import torch_mybackend

D = "mybackend"
CARD = ctypes.CDLL(str(Path(torch_mybackend.__file__).parent / "lib/libmybackend.so"))
CARD.mybackendCardCount.restype = ctypes.c_uint64
COUNTERS = ("host to host", "to device", "to host", "within", "memsets", "kernels", "bytes to host", "bytes to device")
NOT_READY = 5
STANDARD = hasattr(torch.mybackend, "fallback_report")  # not a minimal tree


def calls(fn):
    """What `fn` made the card do."""
    torch.accelerator.synchronize()
    for what in range(len(COUNTERS)):
        CARD.mybackendCardCount(what)
    fn()
    torch.accelerator.synchronize()
    counted = {name: CARD.mybackendCardCount(what) for what, name in enumerate(COUNTERS)}
    return {name: count for name, count in counted.items() if count}


@pytest.fixture
def busy():
    """The default stream of device 0 is held up until the test ends: what waits for it goes on after a minute. Tells whether
    it still is held up, and keeps tensors until it is not, as a minimal tree waits for the device to free memory."""
    kept = []

    def still(*tensors):
        kept.extend(tensors)
        return CARD.mybackendStreamQuery(None) == NOT_READY

    gate = threading.Event()
    held = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait(60))
    torch.accelerator.synchronize()
    assert CARD.mybackendLaunchKernel(None, held, None) == 0
    yield still
    gate.set()
    torch.accelerator.synchronize()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.float32, torch.complex64])
def test_a_copy_within_the_device_is_one_copy(dtype):
    x = torch.arange(1000).to(dtype).to(D)
    y = torch.empty_like(x)
    assert calls(x.clone) == {"within": 1}
    assert calls(lambda: y.copy_(x)) == {"within": 1}
    assert torch.equal(y.cpu(), x.cpu())


def test_a_copy_between_devices_never_passes_through_pytorch():
    x = torch.arange(1000.0).to(D + ":0")
    y = torch.empty(1000, device=D + ":1")
    assert calls(lambda: y.copy_(x)) == {"within": 1}
    assert torch.equal(y.cpu(), x.cpu())


@pytest.mark.parametrize(
    ("value", "dtype"), [(0, torch.float32), (7, torch.uint8), (-1, torch.int64), (True, torch.bool)]
)
def test_a_fill_with_equal_bytes_is_a_memset(value, dtype):
    x = torch.empty(5000, dtype=dtype, device=D)
    assert calls(lambda: x.fill_(value)) == {"memsets": 1}
    assert torch.equal(x.cpu(), torch.full((5000,), value, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.complex128])
def test_other_fills_double_themselves_on_the_device(dtype):
    x = torch.empty(1 << 20, dtype=dtype, device=D)
    counted = calls(lambda: x.fill_(1.5))
    assert counted["bytes to device"] <= 1 << 16
    assert "to host" not in counted
    assert counted["within"] <= 20
    assert torch.equal(x.cpu(), torch.full((1 << 20,), 1.5, dtype=dtype))


@pytest.mark.skipif(not STANDARD, reason="strided copies of a minimal tree go through the host")
@pytest.mark.parametrize("fill", [0, 3.0])
def test_a_strided_fill_stays_on_the_device(fill):
    x = torch.full((1000, 3), 9.0, device=D)
    counted = calls(lambda: x[:, 1].fill_(fill))
    assert "to host" not in counted
    assert sum(counted.get(kind, 0) for kind in ("to device", "within", "memsets")) < 20
    assert x.cpu().tolist() == [[9.0, fill, 9.0]] * 1000


@pytest.mark.skipif(not STANDARD, reason="strided copies of a minimal tree go through the host")
def test_a_strided_copy_is_a_few_copies_of_rows():
    x = torch.zeros(10000, 2, device=D)
    v = torch.arange(10000.0).to(D)

    def column():
        x[:, 1] = v

    assert calls(column) == {"within": 1}
    assert calls(lambda: x.t().contiguous()) == {"within": 2}
    assert torch.equal(x.cpu(), torch.stack([torch.zeros(10000), torch.arange(10000.0)], 1))
    batch = torch.arange(2 * 3 * 4 * 5.0).view(2, 3, 4, 5)
    moved = batch.to(D).permute(0, 2, 3, 1).contiguous()
    assert torch.equal(moved.cpu(), batch.permute(0, 2, 3, 1))


@pytest.mark.skipif(not STANDARD, reason="a minimal tree falls back through copies of whole tensors")
def test_what_the_host_computes_into_a_column_returns_in_one_copy():
    x = torch.rand(10000, 2).to(D)
    expected = x.cpu()
    expected[:, 0].exp_()
    counted = calls(lambda: x[:, 0].exp_())
    assert counted["to device"] == 1
    torch.testing.assert_close(x.cpu(), expected)


@pytest.mark.parametrize("op", ["sin", "exp", "abs", "relu", "neg"])
def test_a_fresh_result_is_not_read_before_it_is_written(op):
    x = torch.rand(4096, device="cpu").to(D)
    getattr(x, op)()  # the first call of a dtype may look closer
    counted = calls(getattr(x, op))
    assert counted["bytes to host"] == 4 * 4096
    assert counted["bytes to device"] == 4 * 4096


def test_copies_and_fills_do_not_wait_for_a_busy_stream(busy):
    x = torch.empty(1000, device=D)
    y = x.fill_(2.0).clone()
    if STANDARD:
        y[::2] = 3.0
    y.zero_()
    assert busy(x, y)


def test_a_side_stream_does_not_wait_for_the_default_stream(busy):
    with torch.Stream(device=D + ":0") as stream:
        x = torch.arange(100.0).to(D)
        y = x.view(10, 10).t()
        results = [
            torch.ones(100, device=D),
            x + 1,
            x.sin(),
            x.exp(),
            torch.maximum(x, x),
            x.relu(),
            y.contiguous(),
            y.sum(0),
        ]
        stream.synchronize()
        assert busy(x, y, *results)
        host = [result.cpu() for result in results]
    assert torch.equal(host[1], torch.arange(100.0) + 1)
    assert torch.equal(host[6], torch.arange(100.0).view(10, 10).t())


def test_memory_that_is_out_is_an_error_to_go_on_from():
    keep = torch.ones(10, device=D)
    CARD.mybackendCardFailMalloc(1 << 20)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 24, device=D)
    CARD.mybackendCardFailMalloc(0)
    assert torch.empty(1 << 24, device=D).numel() == 1 << 24
    assert keep.cpu().tolist() == [1.0] * 10


def test_a_lost_device_is_an_error_and_the_other_device_works():
    x = torch.ones(10, device=D + ":1")
    y = torch.ones(10, device=D + ":0")
    torch.accelerator.synchronize(1)
    CARD.mybackendCardLose(1, 1)
    try:
        with pytest.raises(torch.AcceleratorError if STANDARD else RuntimeError):
            x.cpu()
        assert (y + 1).cpu().tolist() == [2.0] * 10
    finally:
        CARD.mybackendCardLose(1, 0)
    assert x.cpu().tolist() == [1.0] * 10
