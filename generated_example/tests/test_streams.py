# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Streams: pools, priorities, order between streams; events: recording, waiting, timing."""

import threading

import pytest
import torch

NAME = "openreg"
api = torch.openreg


def test_streams_by_either_name(device):
    ours, generic = api.Stream(), torch.Stream(device=device)
    assert f"device_type={NAME}, device_index=0" in repr(ours)
    assert str(ours.stream_id) in repr(ours)
    x = torch.zeros(1 << 16, device=device)
    generic.wait_stream(torch.accelerator.current_stream())
    with generic:
        assert torch.accelerator.current_stream() == generic == api.current_stream()
        x.fill_(1)
        event = generic.record_event()
    ours.wait_event(event)
    ours.wait_stream(generic)
    with api.stream(ours):
        assert torch.accelerator.current_stream() == ours
        y = x.clone()
    torch.accelerator.current_stream().wait_stream(ours)
    assert torch.equal(y.cpu(), torch.ones(1 << 16))


@pytest.mark.parametrize("priority", [0, -1])
def test_priorities(device, priority):
    stream = api.Stream(device, priority=priority)
    with api.stream(stream):
        x = torch.full((100,), 2.0, device=device)
    stream.synchronize()
    assert torch.equal(x.cpu(), torch.full((100,), 2.0))


def test_more_streams_than_the_pool_has(device):
    streams = [api.Stream() for _ in range(3 * 4 + 1)]
    results = []
    for value, stream in enumerate(streams):
        with api.stream(stream):
            results.append(torch.full((1000,), float(value), device=device))
    api.synchronize()
    for value, result in enumerate(results):
        assert torch.equal(result.cpu(), torch.full((1000,), float(value)))


def test_wait_stream_orders_two_streams(device):
    source = torch.arange(1 << 18, dtype=torch.float32).pin_memory()
    back = torch.zeros(1 << 18).pin_memory()
    producer, consumer = api.Stream(), api.Stream()
    x = torch.empty(1 << 18, device=device)
    producer.wait_stream(api.current_stream())
    for _ in range(10):
        with api.stream(producer):
            x.fill_(0)
            x.copy_(source, non_blocking=True)
        consumer.wait_stream(producer)
        with api.stream(consumer):
            back.copy_(x, non_blocking=True)
        producer.wait_stream(consumer)
    consumer.synchronize()
    assert torch.equal(back, source)


def test_wait_event_orders_devices(device, other):
    x = torch.zeros(1 << 16, device=device)
    stream = api.Stream(other)
    x.fill_(5)
    stream.wait_event(api.current_stream(device).record_event())
    with api.stream(stream):
        y = x.to(other, non_blocking=True)
    stream.synchronize()
    assert torch.equal(y.cpu(), torch.full((1 << 16,), 5.0))


def test_record_stream_keeps_memory(device):
    stream = api.Stream()
    back = torch.zeros(1 << 18).pin_memory()
    with api.stream(stream):
        busy = torch.empty(1 << 22, device=device)
    for _ in range(3):
        x = torch.full((1 << 18,), 3.0, device=device)
        stream.wait_stream(api.current_stream())
        with api.stream(stream):
            for value in range(8):  # the copy is late
                busy.fill_(value)
            back.copy_(x, non_blocking=True)
        x.record_stream(stream)
        del x  # its memory must not be handed out before the copy is done
        torch.full((1 << 18,), 4.0, device=device)
        stream.synchronize()
        assert torch.equal(back, torch.full((1 << 18,), 3.0))


def test_copies_to_the_host_wait(device):
    stream = api.Stream()
    with api.stream(stream):
        x = torch.full((1 << 18,), 6.0, device=device)
        assert torch.equal(x.cpu(), torch.full((1 << 18,), 6.0))
        assert x[-1].item() == 6.0


def test_streams_from_many_threads(device):
    results: dict[int, torch.Tensor] = {}

    def work(value: int) -> None:
        with api.stream(api.Stream(device)) as stream:
            x = torch.empty(1 << 14, device=device)
            for step in range(20):
                x.fill_(value + step)
            stream.synchronize()
            results[value] = x

    threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 100, 200, 300]
    for value, x in results.items():
        assert torch.equal(x.cpu(), torch.full((1 << 14,), value + 19.0))


# --- Events


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
