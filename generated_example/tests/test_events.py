# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Events: recording, waiting, timing."""

import pytest
import torch

NAME = "openreg"
api = torch.openreg


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


def test_record_on_a_stream(device):
    stream = api.Stream()
    x = torch.empty(1 << 16, device=device)
    with api.stream(stream):
        x.fill_(1)
        event = stream.record_event()
    assert isinstance(event, api.Event)
    event.synchronize()
    assert torch.equal(x.cpu(), torch.ones(1 << 16))
    same = api.Event()
    assert stream.record_event(same) is same


def test_event_waits_for_the_work_before_it(device):
    x = torch.empty(1 << 20, device=device)
    back = torch.zeros(1 << 20).pin_memory()
    event = api.Event()
    for value in range(1, 6):
        x.fill_(value)
        back.copy_(x, non_blocking=True)
        event.record()
        event.synchronize()
        assert torch.equal(back, torch.full((1 << 20,), float(value)))


def test_wait_on_another_stream(device):
    producer, consumer = api.Stream(), api.Stream()
    x = torch.zeros(1 << 18, device=device)
    back = torch.zeros(1 << 18).pin_memory()
    producer.wait_stream(api.current_stream())
    event = api.Event()
    with api.stream(producer):
        for value in range(20):
            x.fill_(value)
        event.record(producer)
    event.wait(consumer)
    with api.stream(consumer):
        back.copy_(x, non_blocking=True)
    consumer.synchronize()
    assert torch.equal(back, torch.full((1 << 18,), 19.0))


def test_elapsed_time(device):
    x = torch.empty(1 << 20, device=device)
    start, middle, end = (api.Event(enable_timing=True) for _ in range(3))
    start.record()
    x.fill_(0)
    middle.record()
    for _ in range(10):
        x.fill_(1)
    end.record()
    end.synchronize()
    assert 0 <= start.elapsed_time(middle) <= start.elapsed_time(end)
    assert start.elapsed_time(end) > 0
    assert start.elapsed_time(end) == pytest.approx(-end.elapsed_time(start))
    parts = start.elapsed_time(middle) + middle.elapsed_time(end)
    assert parts == pytest.approx(start.elapsed_time(end), rel=0.05, abs=0.05)


def test_elapsed_time_of_events_by_either_name(device):
    events = [torch.Event(NAME, enable_timing=True), api.Event(enable_timing=True)]
    assert all(isinstance(event, api.Event) for event in events)
    assert not isinstance(torch.Event("cpu"), api.Event)
    for start, end in (events, reversed(events)):
        start.record()
        torch.empty(1 << 16, device=device).fill_(1)
        end.record()
        end.synchronize()
        assert start.elapsed_time(end) >= 0
        assert torch.Event.elapsed_time(start, end) == start.elapsed_time(end)


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


@pytest.mark.parametrize("blocking", [False, True])
def test_many_streams_wait_for_one_event(device, blocking):
    x = torch.zeros(1 << 18, device=device)
    event, streams = api.Event(blocking=blocking), [api.Stream() for _ in range(4)]
    for value in range(20):
        x.fill_(value)
    event.record()
    found = []
    for stream in streams:
        event.wait(stream)
        with api.stream(stream):
            found.append(x.clone())
    for stream, copy in zip(streams, found, strict=True):
        stream.synchronize()
        assert event.query()
        assert torch.equal(copy.cpu(), torch.full((1 << 18,), 19.0))


def test_event_on_another_device(other):
    with api.device(other):
        event = api.Event()
        x = torch.full((1 << 16,), 2.0, device=other)
        event.record()
    event.synchronize()
    assert event.device == other
    assert api.current_device() == 0
    assert torch.equal(x.cpu(), torch.full((1 << 16,), 2.0))


@pytest.mark.parametrize("form", [0, NAME, f"{NAME}:0", torch.device(NAME, 0)])
def test_device_forms(form):
    event = api.Event(form)
    event.record()
    event.synchronize()
    assert event.query()


def test_an_event_recorded_again_means_the_later_work(device):
    event = api.Event()
    x = torch.empty(1 << 18, device=device)
    for value in range(50):
        x.fill_(value)
        event.record()
    event.synchronize()
    assert event.query()
    assert torch.equal(x.cpu(), torch.full((1 << 18,), 49.0))


def test_many_events_live_and_die(device):
    events = [api.Event(enable_timing=True) for _ in range(200)]
    for event in events:
        event.record()
    del events[::2]
    for event in events:
        event.synchronize()
        assert event.query()
