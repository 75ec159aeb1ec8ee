"""Streams and events: which is current where, equality, forms of devices, what has no time."""

import threading

import pytest
import torch
from built import NAME

api = torch.get_device_module(NAME)


def test_default_stream(device):
    stream = api.default_stream(device)
    assert isinstance(stream, api.Stream)
    assert isinstance(stream, torch.Stream)
    assert stream.stream_id == 0
    assert stream.device == device
    assert api.current_stream() == stream
    assert torch.accelerator.current_stream() == stream


def test_new_stream(device):
    stream = api.Stream()
    assert stream.device == device
    assert stream != api.default_stream()
    assert stream.stream_id != api.Stream().stream_id
    assert stream.query()
    stream.synchronize()


@pytest.mark.parametrize("form", [1, f"{NAME}:1", torch.device(f"{NAME}:1")])
def test_stream_of_another_device(other, form):
    assert api.Stream(form).device == other
    assert api.current_device() == 0
    assert torch.Stream(device=other).device == other


def test_equality(device, other):
    first, second = api.Stream(), api.Stream()
    assert first == api.Stream(stream_id=first.stream_id, device_index=0, device_type=first.device_type)
    assert first not in (second, api.default_stream(), api.Stream(other), None, first.stream_id)
    assert len({first, second, first, api.default_stream(), torch.accelerator.current_stream()}) == 3
    assert api.default_stream(device) != api.default_stream(other)


def test_context_manager(device):
    first, second = api.Stream(), api.Stream()
    with api.stream(first):
        assert api.current_stream() == first
        with api.stream(second):
            assert api.current_stream() == second
            with api.stream(None):
                assert api.current_stream() == second
        assert api.current_stream() == first
    assert api.current_stream() == api.default_stream()


def test_context_manager_restores_after_an_exception(device):
    with pytest.raises(KeyError), api.stream(api.Stream()):
        raise KeyError
    assert api.current_stream() == api.default_stream()


def test_context_manager_switches_the_device(device, other):
    stream = api.Stream(other)
    with api.stream(stream):
        assert api.current_device() == 1
        assert api.current_stream() == stream
        assert torch.empty(1, device=NAME).device == other
    assert api.current_device() == 0
    assert api.current_stream(other) == api.default_stream(other)


def test_set_stream(device):
    stream = api.Stream()
    api.set_stream(stream)
    assert api.current_stream() == stream
    api.set_stream(None)
    assert api.current_stream() == stream
    api.set_stream(api.default_stream())
    assert api.current_stream() == api.default_stream()


def test_current_stream_belongs_to_the_thread(device):
    api.set_stream(api.Stream())
    seen = []
    thread = threading.Thread(target=lambda: seen.append(api.current_stream()))
    thread.start()
    thread.join()
    assert seen == [api.default_stream()]


def test_event_is_made_when_recorded(device):
    event = api.Event()
    assert isinstance(event, torch.Event)
    assert event.query()
    event.synchronize()
    event.record()
    event.synchronize()
    assert event.query()
    assert event.device == device
    assert event.event_id != 0


def test_no_elapsed_time_without_timing():
    start, end = api.Event(), api.Event()
    start.record()
    end.record()
    end.synchronize()
    with pytest.raises(ValueError):
        start.elapsed_time(end)


def test_no_elapsed_time_before_recording():
    start, end = api.Event(enable_timing=True), api.Event(enable_timing=True)
    start.record()
    with pytest.raises((ValueError, RuntimeError)):
        start.elapsed_time(end)


@pytest.mark.parametrize("form", [0, NAME, f"{NAME}:0", torch.device(NAME, 0)])
def test_device_forms(form):
    event = api.Event(form)
    event.record()
    event.synchronize()
    assert event.query()
