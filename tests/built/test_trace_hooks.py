"""What streams, events and memory report to a sanitizer: torch.NAME._gpu_trace, which PyTorch calls."""

import contextlib
import importlib

import pytest
import torch
from built import NAME

api = torch.get_device_module(NAME)
hooks = getattr(api, "_gpu_trace", None)
pytestmark = pytest.mark.skipif(hooks is None, reason="a tree without component sanitizer")


@contextlib.contextmanager
def recorded():
    """A list that gets each call of a hook: its name, and the numbers."""
    calls, opened = [], []

    def note(name):
        return lambda *numbers: calls.append((name, *numbers))

    for name, registry in vars(hooks).items():
        if name.endswith("Callbacks"):
            registry.add_callback(note(name.removesuffix("Callbacks")))
            opened.append(registry)
    torch._C._activate_gpu_trace()
    try:
        yield calls
    finally:
        for registry in opened:
            registry.callback_list.pop()


def number(stream):
    """c10::Stream::hash()."""
    return stream.device_type << 56 | stream.device_index << 48 | stream.stream_id


def test_pytorch_finds_the_callbacks():
    assert importlib.import_module(f"torch.{NAME}._gpu_trace") is hooks


def test_memory(device):
    with recorded() as calls:
        x = torch.empty(1000, device=device)
        assert calls == [("MemoryAllocation", x.data_ptr())]
        x[10:].view(-1)
        del x
    assert len(calls) == 1


def test_an_exception_that_frees_memory_stays(device):
    """Hooks would lose it, so deleters call none."""

    def fails():
        tensors = torch.empty(1000, device=device), torch.ones(1000).pin_memory()
        tensors[0].copy_(tensors[1], non_blocking=True)
        event = torch.Event(device)
        event.record()
        return next(iter(()))

    with recorded(), pytest.raises(StopIteration):
        fails()


@pytest.mark.parametrize("make", [torch.Event, api.Event])
def test_events(device, make):
    current, side = torch.accelerator.current_stream(), torch.Stream(device)
    with recorded() as calls:
        event = make(device) if make is torch.Event else make()
        event.record(current)
        side.wait_event(event)
        event.synchronize()
    names, handles = [call[0] for call in calls], {call[1] for call in calls}
    assert names == ["EventCreation", "EventRecord", "EventWait", "EventSynchronization"]
    assert len(handles) == 1
    assert (calls[1][2], calls[2][2]) == (number(current), number(side))


def test_streams(device):
    with recorded() as calls:
        stream = torch.Stream(device)
        assert calls == [("StreamCreation", number(stream))]
        stream.synchronize()
        torch.accelerator.current_stream().synchronize()
        torch.accelerator.synchronize()
    waits = [("StreamSynchronization", number(each)) for each in (stream, torch.accelerator.current_stream())]
    assert calls[1:] == [*waits, ("DeviceSynchronization",)]


def test_a_stream_or_an_event_that_has_finished(device):
    stream = torch.Stream(device)
    event = stream.record_event()
    stream.synchronize()
    with recorded() as calls:
        assert stream.query()
        assert event.query()
    assert [call[0] for call in calls] == ["StreamSynchronization", "EventSynchronization"]


def test_record_stream(device):
    if hooks.FREE_WAITS:
        pytest.skip("memory that is freed waits for the device")
    x, side = torch.empty(1000, device=device), torch.Stream(device)
    with recorded() as calls:
        x.record_stream(side)
    assert calls == [("EventRecord", x.data_ptr(), number(side))]


def test_streams_of_another_device(device, other):
    side = torch.Stream(other)
    with recorded() as calls:
        side.record_event()
        side.synchronize()
        torch.accelerator.synchronize(other)
    assert ("StreamSynchronization", number(side)) in calls
    assert next(call for call in calls if call[0] == "EventRecord")[2] == number(side)
