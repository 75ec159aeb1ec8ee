"""The device, its streams and events: torch.accelerator, and the hooks and the device guard below it."""

import torch

from ..probe import Probe
from .common import accelerator, expect, ramp

HOOKS = "hooks"
GUARD = "device guard"


def is_the_accelerator(kind: str) -> str:
    accelerator(kind)
    found = torch.accelerator.current_accelerator()
    expect(found is not None and found.type == kind, f"it is {found}")
    return str(found)


def is_available(kind: str) -> str:
    accelerator(kind)
    expect(torch.accelerator.is_available(), "False, though tensors can be made on the device")
    return "True"


def built(kind: str) -> str:
    accelerator(kind)
    found = torch.accelerator.current_accelerator(check_available=True)
    expect(found is not None, "None, though tensors can be made on the device")
    return str(found)


def hooks_count(kind: str) -> str:
    accelerator(kind)
    count = torch._C._accelerator_hooks_device_count()
    expect(count >= 1, f"{count} devices")
    return str(count)


def hooks_current(kind: str) -> str:
    accelerator(kind)
    return str(torch._C._accelerator_hooks_get_current_device())


def hooks_set(kind: str) -> str:
    accelerator(kind)
    torch._C._accelerator_hooks_set_current_device(0)
    return "device 0"


def hooks_exchange(kind: str) -> str:
    accelerator(kind)
    return f"device {torch._C._accelerator_hooks_exchange_device(0)} before"


def hooks_maybe_exchange(kind: str) -> str:
    accelerator(kind)
    return f"device {torch._C._accelerator_hooks_maybe_exchange_device(0)} before"


def device_count(kind: str) -> str:
    accelerator(kind)
    count = torch.accelerator.device_count()
    expect(count >= 1, f"{count} devices, though tensors can be made on one")
    return str(count)


def current_index(kind: str) -> str:
    accelerator(kind)
    index = torch.accelerator.current_device_index()
    made = torch.empty(1, device=kind).device.index
    expect(index == made, f"{index}, but a new tensor is on device {made}")
    return str(index)


def set_index(kind: str) -> str:
    accelerator(kind)
    last = torch.accelerator.device_count() - 1
    expect(last >= 0, "no devices are counted")
    before = torch.accelerator.current_device_index()
    torch.accelerator.set_device_index(last)
    try:
        made = torch.empty(1, device=kind).device.index
        expect(made == last, f"after set_device_index({last}) a new tensor is on device {made}")
    finally:
        torch.accelerator.set_device_index(before)
    return f"device {last}"


def index_context(kind: str) -> str:
    accelerator(kind)
    last = max(torch.accelerator.device_count() - 1, 0)
    before = torch.accelerator.current_device_index()
    with torch.accelerator.device_index(last):
        pass
    after = torch.accelerator.current_device_index()
    expect(after == before, f"device {after} is current afterwards, not {before}")
    return f"device {last}"


def refuses_index(kind: str) -> str:
    accelerator(kind)
    beyond = max(torch.accelerator.device_count(), 1)
    try:
        made = torch.empty(1, device=f"{kind}:{beyond}")
    except RuntimeError as error:
        return f"refused: {str(error).splitlines()[0]}"
    expect(False, f"made a tensor on {made.device}, which does not exist")
    return ""


def synchronize(kind: str) -> str:
    accelerator(kind)
    torch.accelerator.synchronize()
    return "done"


def capability(kind: str) -> str:
    accelerator(kind)
    return str(torch.accelerator.get_device_capability())


def new_stream(kind: str) -> str:
    accelerator(kind)
    stream = torch.Stream(device=kind)
    expect(stream.device.type == kind, f"a stream on {stream.device}")
    return str(stream)


def current_stream(kind: str) -> str:
    accelerator(kind)
    return str(torch.accelerator.current_stream())


def set_stream(kind: str) -> str:
    accelerator(kind)
    before, stream = torch.accelerator.current_stream(), torch.Stream(device=kind)
    torch.accelerator.set_stream(stream)
    try:
        now = torch.accelerator.current_stream()
        expect(now == stream, f"the current stream is {now}, not {stream}")
    finally:
        torch.accelerator.set_stream(before)
    return "done"


def stream_context(kind: str) -> str:
    accelerator(kind)
    before = torch.accelerator.current_stream()
    with torch.Stream(device=kind):
        ramp(kind)
    expect(torch.accelerator.current_stream() == before, "another stream is current afterwards")
    return "done"


def stream_synchronize(kind: str) -> str:
    accelerator(kind)
    stream = torch.Stream(device=kind)
    stream.synchronize()
    expect(stream.query(), "query() is False after synchronize()")
    return "done"


def event(kind: str) -> str:
    accelerator(kind)
    made = torch.Event(device=kind)
    made.record(torch.accelerator.current_stream())
    made.synchronize()
    expect(made.query(), "query() is False after synchronize()")
    return "done"


def elapsed_time(kind: str) -> str:
    accelerator(kind)
    begin, end = (torch.Event(device=kind, enable_timing=True) for _ in range(2))
    stream = torch.accelerator.current_stream()
    begin.record(stream)
    ramp(kind)
    end.record(stream)
    end.synchronize()
    time = begin.elapsed_time(end)
    expect(time >= 0, f"{time} ms")
    return "in milliseconds"


def wait_event(kind: str) -> str:
    accelerator(kind)
    first, second = torch.Stream(device=kind), torch.Stream(device=kind)
    second.wait_event(first.record_event())
    second.wait_stream(first)
    second.synchronize()
    return "done"


def record_stream(kind: str) -> str:
    accelerator(kind)
    ramp(kind).record_stream(torch.Stream(device=kind))
    return "done"


def backward(kind: str) -> str:
    x = ramp(kind).requires_grad_()
    (x * 2).sum().backward()
    expect(x.grad is not None and x.grad.device.type == kind, "no gradient on the device")
    return "done"


def probes() -> tuple[Probe, ...]:
    guard = "c10::impl::DeviceGuardImplInterface"
    hooks = "at::PrivateUse1HooksInterface"
    return (
        Probe(HOOKS, "torch.accelerator.current_accelerator()", is_the_accelerator, "code for any accelerator", hooks),
        Probe(
            HOOKS, "torch.accelerator.is_available()", is_available, "code for any accelerator", f"{hooks}::isAvailable"
        ),
        Probe(
            HOOKS,
            "torch.accelerator.current_accelerator(check_available=True)",
            built,
            "code for any accelerator",
            f"{hooks}::isBuilt, isAvailable",
        ),
        Probe(HOOKS, "hooks: deviceCount", hooks_count, "torch.accelerator, Dynamo", f"{hooks}::deviceCount"),
        Probe(HOOKS, "hooks: getCurrentDevice", hooks_current, "torch.compile", f"{hooks}::getCurrentDevice"),
        Probe(HOOKS, "hooks: setCurrentDevice", hooks_set, "torch.compile", f"{hooks}::setCurrentDevice"),
        Probe(HOOKS, "hooks: exchangeDevice", hooks_exchange, "torch.compile", f"{hooks}::exchangeDevice"),
        Probe(
            HOOKS, "hooks: maybeExchangeDevice", hooks_maybe_exchange, "torch.compile", f"{hooks}::maybeExchangeDevice"
        ),
        Probe(HOOKS, "Tensor.backward()", backward, "training", f"{hooks}::hasPrimaryContext; {guard}"),
        Probe(GUARD, "torch.accelerator.device_count()", device_count, "more than one device", f"{guard}::deviceCount"),
        Probe(
            GUARD,
            "torch.accelerator.current_device_index()",
            current_index,
            "more than one device",
            f"{guard}::getDevice",
        ),
        Probe(GUARD, "torch.accelerator.set_device_index()", set_index, "more than one device", f"{guard}::setDevice"),
        Probe(
            GUARD, "torch.accelerator.device_index()", index_context, "more than one device", f"{guard}::exchangeDevice"
        ),
        Probe(
            GUARD, "a device index out of range", refuses_index, "an error instead of a wild pointer", "the allocator"
        ),
        Probe(
            GUARD, "torch.accelerator.synchronize()", synchronize, "timing, debugging", f"{guard}::synchronizeDevice"
        ),
        Probe(
            GUARD,
            "torch.accelerator.get_device_capability()",
            capability,
            "which dtypes the device has",
            f"{guard}::getDeviceCapability",
        ),
        Probe("streams", "torch.Stream(device)", new_stream, "work on several streams", f"{guard}::getNewStream"),
        Probe("streams", "torch.accelerator.current_stream()", current_stream, "streams", f"{guard}::getStream"),
        Probe("streams", "torch.accelerator.set_stream()", set_stream, "streams", f"{guard}::exchangeStream"),
        Probe("streams", "with torch.Stream(device):", stream_context, "streams", f"{guard}::exchangeStream"),
        Probe("streams", "Stream.synchronize(), query()", stream_synchronize, "streams", f"{guard}::synchronizeStream"),
        Probe("streams", "torch.Event(device): record, query", event, "streams, pipelines", f"{guard}::record"),
        Probe("streams", "Event.elapsed_time()", elapsed_time, "timing, benchmarks", f"{guard}::elapsedTime"),
        Probe("streams", "Stream.wait_event(), wait_stream()", wait_event, "FSDP, pipelines", f"{guard}::block"),
        Probe("streams", "Tensor.record_stream()", record_stream, "FSDP, prefetching", "the operator record_stream"),
    )
