# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Errors: whose they are, which call reports them, and what stays true while calls of the device fail."""

import contextlib
import ctypes
import gc
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import torch_openreg
import pytest
import torch

NAME = "openreg"
api = torch.openreg
PACKAGE = Path(torch_openreg.__file__).parent
LIBRARY = ctypes.CDLL(str(PACKAGE / "lib" / f"lib{NAME}.so"))
HEADER = Path(__file__).parents[1] / "third_party" / NAME / "include" / f"{NAME}.h"
UNKNOWN = 9  # orErrorUnknown
ALWAYS = -1

# All that may fail: each function of the device's that returns an error.
DECLARED = re.findall(r"^\S+ \w+Error_t (\w+)\(", HEADER.read_text(), re.MULTILINE)
FUNCTIONS = sorted(name for name in DECLARED if not name.endswith("LastError"))


@contextlib.contextmanager
def failing(function: str | None, calls: int = 0, times: int = ALWAYS) -> Iterator[None]:
    """Calls of `function` (None: of each) fail: `times` of them, after `calls` that do not."""
    name = None if function is None else function.encode()
    LIBRARY.orDebugFailCall(name, calls, times, UNKNOWN)
    try:
        yield
    finally:
        LIBRARY.orDebugFailCall(None, 0, 0, 0)
        LIBRARY.orGetLastError()


def fail(device: int, lasting: bool = False) -> None:
    """As if a function that was launched on the device had failed."""
    torch_openreg._C._report_error(device, "index 7 is out of bounds", lasting)


# What programs of their own begin with.
HEAD = f"""
import ctypes, threading, torch, torch_openreg
library = ctypes.CDLL({str(PACKAGE / "lib" / f"lib{NAME}.so")!r})
api = torch.openreg
def fail_all():
    library.orDebugFailCall(None, 0, -1, {UNKNOWN})
def fail(device, lasting):
    torch_openreg._C._report_error(device, "index 7 is out of bounds", lasting)
"""


def run(script: str) -> str:
    """The output of a program of its own that must end as it should."""
    done = subprocess.run([sys.executable, "-c", HEAD + script], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def consistent() -> None:
    """The statistics say what the snapshot says, where there are snapshots, and there is memory to work with."""
    for index in range(api.device_count()):
        stats = api.memory_stats(index)
        assert stats["reserved_bytes.all.current"] >= stats["allocated_bytes.all.current"] >= 0
        if "memory_snapshot" in api.memory.__all__:
            segments = [each for each in api.memory_snapshot() if each["device"] == index]
            assert stats["reserved_bytes.all.current"] == sum(each["total_size"] for each in segments)
            assert stats["allocated_bytes.all.current"] == sum(each["allocated_size"] for each in segments)
        x = torch.ones(1000, device=f"{NAME}:{index}")
        assert (x + x).sum().item() == 2000


def test_an_error_is_reported_once_by_the_next_launch(device):
    x = torch.ones(4, device=device)
    fail(0)
    with pytest.raises(torch.AcceleratorError, match="device 0 failed.*index 7 is out of bounds"):
        x.fill_(2)
    assert x.fill_(3).tolist() == [3] * 4


@pytest.mark.parametrize("how", ["device", "stream", "event", "copy", "item", "accelerator"])
def test_synchronizations_tell_an_error(device, how):
    x = torch.ones((), device=device)
    event = torch.Event(NAME)
    event.record()
    fail(0)
    waits = {
        "device": lambda: api.synchronize(0),
        "stream": lambda: api.current_stream().synchronize(),
        "event": event.synchronize,
        "copy": x.cpu,
        "item": x.item,
        "accelerator": torch.accelerator.synchronize,
    }
    with pytest.raises(torch.AcceleratorError, match="index 7 is out of bounds"):
        waits[how]()
    waits[how]()


def test_nothing_else_tells_an_error(device):
    """Functions that can't handle or raise an error leave it for one that can."""
    recorded = torch.ones(1000, device=device)
    recorded.record_stream(api.Stream())
    pinned = torch.ones(1000).pin_memory()
    stream, event = api.Stream(), torch.Event(NAME)
    pinned.to(device, non_blocking=True)
    api.synchronize()
    fail(0)
    with api.device(0), api.stream(stream):
        assert api.current_device() == 0
        torch.empty(10, device=device)
        event.record(stream)
        event.query()
        stream.query()
    del recorded, pinned, event
    api.empty_cache()
    api.empty_host_cache()
    api.memory_stats()
    api.mem_get_info()
    with pytest.raises(torch.AcceleratorError, match="index 7 is out of bounds"):
        api.synchronize(0)
    api.synchronize(0)


def test_an_error_is_its_devices_alone(device, other):
    a, b = torch.ones(4, device=device), torch.ones(4, device=other)
    fail(0)
    seen = []

    def work():
        with api.device(1):
            seen.append((b + b).tolist())
            api.synchronize()
            api.current_stream().synchronize()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [[2, 2, 2, 2]]
    with api.device(1), pytest.raises(torch.AcceleratorError, match="device 0 failed"):
        api.synchronize(0)
    assert (a + a).tolist() == [2] * 4


def test_an_event_tells_its_own_devices_error(device, other):
    event = torch.Event(f"{NAME}:0")
    event.record(api.current_stream(device))
    with api.device(1):
        fail(1)
        event.synchronize()
        fail(0)
        with pytest.raises(torch.AcceleratorError, match="device 0 failed"):
            event.synchronize()
        with pytest.raises(torch.AcceleratorError, match="device 1 failed"):
            api.synchronize()


@pytest.mark.parametrize("scope", ["device", "stream", "torch"])
def test_a_scope_that_ends_restores_what_was(other, scope):
    enter = {
        "device": lambda: api.device(1),
        "stream": lambda: api.stream(api.Stream(other)),
        "torch": lambda: torch.Stream(other),
    }[scope]
    stream = api.current_stream(other)
    with enter():
        assert api.current_device() == 1
        fail(1)
        fail(0)
    assert api.current_device() == 0
    assert api.current_stream(other) == stream
    for index in (0, 1):
        with pytest.raises(torch.AcceleratorError):
            api.synchronize(index)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scope", ["device", "stream"])
def test_a_scope_ends_while_the_device_fails(other, scope):
    """One failed call neither raises nor stops the rest of what is restored."""
    context = api.device(1) if scope == "device" else api.stream(api.Stream(other))
    stream = api.current_stream(other)
    context.__enter__()
    with failing("orGetDevice"):
        context.__exit__(None, None, None)
    assert api.current_device() == 0
    context.__enter__()
    with failing(None):
        context.__exit__(None, None, None)
    api.set_device(0)
    assert api.current_stream(other) == stream


def test_a_stream_that_cannot_be_entered_changes_nothing(other):
    stream, before = api.Stream(other), api.current_stream(other)
    with pytest.raises(torch.AcceleratorError), failing("orSetDevice", times=1):
        api.stream(stream).__enter__()
    assert api.current_device() == 0
    assert api.current_stream(other) == before


def workload() -> None:
    """Something of all that calls the device."""
    x = torch.arange(1000.0, device=NAME)
    large = torch.ones(1 << 20, device=NAME)
    stream = api.Stream()
    stream.wait_stream(api.current_stream())
    with api.stream(stream):
        y = x * 2
        event = stream.record_event(torch.Event(NAME, enable_timing=True))
        large.record_stream(stream)
    del large
    event.wait(api.current_stream())
    pinned = torch.empty(1000).pin_memory()
    pinned.copy_(y, non_blocking=True)
    end = torch.Event(NAME, enable_timing=True)
    end.record()
    end.synchronize()
    event.elapsed_time(end)
    del pinned
    if api.device_count() > 1:
        assert y.to(f"{NAME}:1").sum().item() == 999000
    torch.rand(100, device=NAME)
    torch.eye(4, device=NAME).mm(torch.ones(4, 4, device=NAME)).cpu()
    x.resize_(2000)
    x.zero_()
    api.empty_cache()
    api.empty_host_cache()
    api.mem_get_info()
    api.get_device_properties(0)
    api.synchronize()


def settle() -> None:
    api.set_device(0)
    for index in range(api.device_count()):
        with contextlib.suppress(torch.AcceleratorError):  # of a launch that the fault hit
            api.synchronize(index)
    api.empty_cache()
    api.empty_host_cache()


def test_the_functions_are_known():
    assert len(FUNCTIONS) > 40
    for name in ("Malloc", "SetDevice", "LaunchKernel", "EventRecord"):
        assert f"or{name}" in FUNCTIONS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_call_of_the_device_may_fail(function):
    """One call, or all from one on: an exception, a warning or nothing; never the end, and then all is as it was."""
    workload()
    gc.collect()  # what earlier tests left in cycles must not go while this one counts
    settle()
    before = api.memory_allocated()
    reserved = api.memory_reserved()
    stream = api.current_stream()
    for calls in range(4):
        for times in (1, ALWAYS):
            with failing(function, calls, times), contextlib.suppress(RuntimeError):
                workload()
            settle()
            assert api.memory_allocated() == before
            assert api.memory_reserved() <= reserved
            assert api.current_stream() == stream
            consistent()
    workload()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [None, *FUNCTIONS], ids=str)
def test_what_goes_away_while_the_device_fails(function, device):
    settle()
    before = api.memory_allocated()
    things = [torch.ones(1000, device=device) for _ in range(3)]
    things[0].record_stream(api.Stream())
    pinned = torch.ones(1000).pin_memory()
    pinned.to(device, non_blocking=True)
    things += [pinned, torch.Event(NAME), api.Stream(), torch.Generator(NAME), api.Event(enable_timing=True)]
    things[4].record()
    del pinned
    with failing(function):
        things.clear()
    settle()
    assert api.memory_allocated() == before
    consistent()


def test_another_processes_memory_goes_while_the_device_fails(device):
    """Memory opened from another process closes, and shared memory is released."""
    sharer = """
import sys
x = torch.ones(1000, device="openreg")
print(torch_openreg._C._ipc_share(x.untyped_storage()).hex(), flush=True)
sys.stdin.read()
del x
fail_all()
"""
    command = [sys.executable, "-c", HEAD + sharer]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        storage = torch_openreg._C._ipc_open(bytes.fromhex(process.stdout.readline()))
        x = torch.empty(0, device=device).set_(storage)
        assert x.sum().item() == 1000
        fail(0)
        with failing(None):
            del storage, x
        with pytest.raises(torch.AcceleratorError, match="index 7 is out of bounds"):
            api.synchronize()
        process.stdin.close()
        assert process.wait(timeout=600) == 0


@pytest.mark.parametrize("lasting", [False, True])
def test_a_process_ends_with_an_error_that_was_never_reported(lasting):
    run(
        f"""
x = torch.ones(1000, device="openreg"); x.record_stream(api.Stream())
pinned = torch.ones(1000).pin_memory(); pinned.to("openreg", non_blocking=True)
event = torch.Event("openreg"); event.record()
fail(0, {lasting})
del pinned
"""
    )


def test_a_process_ends_while_every_call_fails():
    run(
        """
x = torch.ones(1000, device="openreg"); x.record_stream(api.Stream())
pinned = torch.ones(1000).pin_memory(); pinned.to("openreg", non_blocking=True)
event = torch.Event("openreg"); event.record()
kept = torch.ones(1000).pin_memory(); kept.to("openreg", non_blocking=True)
fail_all()
del x, pinned
"""
    )


def test_a_lasting_error_ends_one_device_and_no_other():
    printed = run(
        """
a = torch.ones(4, device="openreg:0")
b = torch.ones(4, device="openreg:1") if api.device_count() > 1 else None
fail(0, True)
for call in (lambda: a + a, lambda: api.synchronize(0), lambda: a.cpu(), lambda: a + a):
    try:
        call()
        raise SystemExit("nothing was raised")
    except torch.AcceleratorError as error:
        assert "of no more use" in str(error), error
def work():
    with api.device(1):
        print((b + b).tolist() if b is not None else [2.0] * 4)
        if b is not None:
            api.synchronize()
thread = threading.Thread(target=work); thread.start(); thread.join()
if b is not None:
    print((b + b).tolist())
del a
api.empty_cache()
api.memory_stats()
print("end")
"""
    )
    assert printed.startswith("[2.0, 2.0, 2.0, 2.0]") and printed.endswith("end\n")
