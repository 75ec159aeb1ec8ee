# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Streams: pools, priorities, the current stream of a thread, order between streams."""

import threading

import pytest
import torch

NAME = "openreg"
api = torch.openreg


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


def test_stream_is_its_own_context_manager(device):
    stream = api.Stream()
    with stream:
        assert api.current_stream() == stream
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


def test_a_stream_keeps_order(device):
    x = torch.zeros(1 << 16, device=device)
    with api.stream(api.Stream()) as stream:
        stream.wait_stream(api.default_stream())
        for value in range(100):
            x.fill_(value)
    stream.synchronize()
    assert stream.query()
    assert torch.equal(x.cpu(), torch.full((1 << 16,), 99.0))


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
    x = torch.full((1 << 18,), 3.0, device=device)
    back = torch.zeros(1 << 18).pin_memory()
    stream.wait_stream(api.current_stream())
    with api.stream(stream):
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
