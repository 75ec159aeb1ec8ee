"""Tries to break what the C API's header and docs/reference/opencl.md promise about the device library of an OpenCL tree.

These tests were written from the header and the pages alone. They call the library with ctypes; child processes do not
import torch, so they start quickly."""

import ctypes
import functools
import gc
import importlib.util
import os
import subprocess
import sys
import threading
import time
from ctypes import Structure, byref, c_char, c_char_p, c_float, c_int, c_size_t, c_void_p
from enum import IntEnum
from pathlib import Path

import pytest
from built import NAME, PACKAGE, ROOT

pytestmark = [
    pytest.mark.skipif(not (ROOT / PACKAGE / "opencl").is_dir(), reason="the tree has no OpenCL device"),
    pytest.mark.timeout(180, method="thread"),
]

PREFIX = NAME.upper()
MIB = 1 << 20
HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = range(4)
UNREGISTERED, HOST, DEVICE = range(3)
POINTER_ARGUMENT, BYTES_ARGUMENT, LOCAL_ARGUMENT = range(3)
DISABLE_TIMING = 1


class Error(IntEnum):
    SUCCESS = 0
    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_DEVICE = 3
    INVALID_HANDLE = 4
    NOT_READY = 5
    NOT_SUPPORTED = 6
    NOT_PORTED = 7
    FORKED = 8
    UNKNOWN = 9


class Attributes(Structure):
    _fields_ = [("type", c_int), ("device", c_int), ("base", c_void_p), ("size", c_size_t)]


class Properties(Structure):
    _fields_ = [
        ("name", c_char * 64),
        ("total_memory", c_size_t),
        ("processors", c_int),
        ("major", c_int),
        ("minor", c_int),
        ("host_accessible", c_int),
    ]


class Argument(Structure):
    _fields_ = [("kind", c_int), ("value", c_void_p), ("size", c_size_t)]


# --- The C API


@functools.cache
def library() -> ctypes.CDLL:
    (folder,) = importlib.util.find_spec(PACKAGE).submodule_search_locations
    loaded = ctypes.CDLL(f"{folder}/lib/lib{NAME}.so")
    for name in ("GetErrorString", "GetErrorName"):
        getattr(loaded, NAME + name).restype = c_char_p
    return loaded


def status(function: str, *arguments) -> Error:
    wide = [c_size_t(argument) if isinstance(argument, int) else argument for argument in arguments]
    return Error(getattr(library(), NAME + function)(*wide))


def text(error: int) -> str:
    return getattr(library(), f"{NAME}GetErrorString")(error).decode()


def ok(function: str, *arguments) -> None:
    answer = status(function, *arguments)
    assert answer is Error.SUCCESS, f"{function}: {answer.name}: {text(answer)}"


def refused(error: Error, function: str, *arguments) -> str:
    """Expects the error and that it is the thread's last error exactly until it is taken; returns its text."""
    status("GetLastError")
    answer = status(function, *arguments)
    assert answer is error, f"{function} returned {answer.name}, expected {error.name}: {text(answer)}"
    message = text(answer)
    kept = Error.SUCCESS if error is Error.NOT_READY else error
    assert [status(name) for name in ("PeekAtLastError", "GetLastError", "GetLastError")] == [kept, kept, Error.SUCCESS]
    return message


def get(function: str, *arguments, kind=c_void_p):
    """The value that the function writes to its first argument."""
    value = kind()
    ok(function, byref(value), *arguments)
    return value.value


def malloc(size: int) -> int:
    return get("Malloc", size)


def attributes(pointer: int | None) -> tuple[int, int, int | None, int]:
    result = Attributes(99, 99, 99, 99)
    ok("PointerGetAttributes", byref(result), pointer)
    return result.type, result.device, result.base, result.size


def free_memory() -> int:
    available, total = c_size_t(), c_size_t()
    ok("MemGetInfo", byref(available), byref(total))
    return available.value


def write(pointer: int, data: bytes) -> None:
    ok("Memcpy", pointer, bytes(data), len(data), HOST_TO_DEVICE)


def read(pointer: int, size: int) -> bytes:
    back = ctypes.create_string_buffer(size)
    ok("Memcpy", back, pointer, size, DEVICE_TO_HOST)
    return back.raw


def address(function) -> int:
    return ctypes.cast(function, c_void_p).value


keep: list = []


class Gate:
    """A host function in C that blocks its stream until the gate is opened; it needs no Python, and so no GIL."""

    def __init__(self, stream: int | None = None) -> None:
        self.libc, self.semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(128)
        self.libc.sem_init(self.semaphore, 0, 0)
        keep.append(self.semaphore)  # sem_wait may still use it after sem_post has returned
        ok("LaunchKernel", stream, address(self.libc.sem_wait), ctypes.addressof(self.semaphore))

    def __enter__(self) -> "Gate":
        return self

    def open(self) -> None:
        self.libc.sem_post(self.semaphore)

    def __exit__(self, *failure) -> None:  # so that a failed test doesn't block the following ones
        self.open()


def build(source: str, options: str = "", name: str = "outside") -> int:
    data = source.encode()
    return get("ProgramBuild", name.encode(), data, len(data), options.encode())


def launch_arguments(*values) -> tuple:
    """Device pointers are integers, `bytes` are numbers, a float is the size of local memory."""
    rows = []
    for value in values:
        if isinstance(value, bytes):
            rows.append(
                (BYTES_ARGUMENT, ctypes.cast(ctypes.create_string_buffer(value, len(value)), c_void_p), len(value))
            )
        elif isinstance(value, float):
            rows.append((LOCAL_ARGUMENT, None, int(value)))
        else:
            rows.append((POINTER_ARGUMENT, value, 8))
    return (Argument * max(len(rows), 1))(*rows), len(rows)


def sizes(x: int, y: int = 1, z: int = 1):
    return (c_size_t * 3)(x, y, z)


def run_kernel(kernel: int, *values, groups: int = 1, items: int = 1, stream: int | None = None) -> None:
    array, count = launch_arguments(*values)
    ok("KernelLaunch", stream, kernel, sizes(groups), sizes(items), array, count)


FILL = "kernel void fill(global int* out, int value) { out[get_global_id(0)] = value + SHIFT; }"


def fill(shift: int, name: str = "fill") -> int:
    """Builds and runs a program; returns what it wrote."""
    kernel = get("ProgramGetKernel", build(FILL, f"-DSHIFT={shift}", name), b"fill")
    memory = malloc(64)
    run_kernel(kernel, memory, (7).to_bytes(4, "little"), groups=4, items=4)
    result = {*memoryview(read(memory, 64)).cast("i")}
    ok("Free", memory)
    (value,) = result
    return value


# --- Child processes


def start(function: str, *arguments: str, **environment: str | None) -> subprocess.Popen:
    """Runs a function of this file in a process without torch. An environment variable of None is removed."""
    changes = {f"{PREFIX}_{key}": value for key, value in environment.items()}
    kept = {key: value for key, value in os.environ.items() if key not in changes}
    env = kept | {key: value for key, value in changes.items() if value is not None}
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_outside_opencl as t; t.{function}(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen, code: int = 0) -> str:
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail(f"a child process hangs: {process.args[2:]}: {process.communicate()}")
    assert process.returncode == code, out + err
    return out.strip()


def child(function: str, *arguments: str, **environment: str | None) -> str:
    return finish(start(function, *arguments, **environment))


# --- The tests


def test_pointers_that_are_null_interior_freed_or_foreign(device):
    invalid = functools.partial(refused, Error.INVALID_VALUE)
    foreign = ctypes.create_string_buffer(64)
    nothing = (UNREGISTERED, -1, None, 0)

    unset = c_void_p(1)
    ok("Malloc", byref(unset), 0)
    assert unset.value is None
    ok("Free", None)
    ok("FreeHost", None)
    for function in ("GetDeviceCount", "GetDevice", "StreamCreate", "EventCreate"):
        invalid(function, None)
    for function in ("Malloc", "MallocHost"):
        invalid(function, None, 8)
    invalid("GetDeviceProperties", None, 0)
    invalid("StreamGetDevice", None, None)
    invalid("StreamGetPriority", None, None)

    memory, pinned = malloc(1001), get("MallocHost", 1001)
    assert memory % 256 == 0
    for base, kind, owner in ((memory, DEVICE, 0), (pinned, HOST, -1)):
        for offset in (0, 1, 500, 1000):
            assert attributes(base + offset) == (kind, owner, base, 1001)
        assert attributes(base - 1)[2] != base and attributes(base + 1001)[2] != base
    assert attributes(ctypes.addressof(foreign)) == attributes(None) == attributes(2**64 - 1) == nothing
    invalid("PointerGetAttributes", None, memory)

    # A range that leaves its allocation, on either side; sizes that overflow
    for size in (1002, 2**63, 2**64 - 1):
        invalid("Memcpy", memory, pinned, size, HOST_TO_DEVICE)
        invalid("Memset", memory, 0, size)
    invalid("Memcpy", memory + 1, foreign, 1001, HOST_TO_DEVICE)
    invalid("Memcpy", foreign, memory + 1000, 2, DEVICE_TO_HOST)
    invalid("Memcpy", memory, pinned + 999, 3, HOST_TO_DEVICE)
    # Pointers that do not fit the kind
    for kind in (HOST_TO_HOST, DEVICE_TO_HOST, DEVICE_TO_DEVICE, 4, -1):
        invalid("Memcpy", memory, foreign, 8, kind)
    invalid("Memcpy", foreign, pinned, 8, HOST_TO_DEVICE)
    invalid("Memcpy", None, foreign, 8, HOST_TO_DEVICE)
    invalid("Memcpy", memory, None, 8, HOST_TO_DEVICE)
    invalid("MemcpyAsync", None, memory, 8, DEVICE_TO_HOST, None)
    invalid("Memset", pinned, 0, 8)
    invalid("MemsetAsync", None, 0, 8, None)
    # Nothing to do
    ok("Memcpy", memory + 7, foreign, 0, HOST_TO_DEVICE)
    ok("MemcpyAsync", foreign, memory, 0, DEVICE_TO_HOST, None)
    ok("Memset", memory + 1000, 1, 0)

    for pointer in (memory + 1, memory + 256, pinned, ctypes.addressof(foreign), 1, 2**64 - 256):
        invalid("Free", pointer)
    for pointer in (pinned + 1, memory, ctypes.addressof(foreign), 1):
        invalid("FreeHost", pointer)
    ok("Free", memory)
    ok("FreeHost", pinned)
    assert attributes(memory + 8) == attributes(pinned + 8) == nothing
    invalid("Free", memory)
    invalid("FreeHost", pinned)
    invalid("Memcpy", foreign, memory, 8, DEVICE_TO_HOST)
    invalid("Memset", memory, 0, 8)

    import torch

    x = torch.arange(100).pin_memory()
    assert x[3:].is_pinned() and not torch.arange(100).is_pinned()
    assert attributes(x[3:].data_ptr())[0] == HOST
    y = x.to(device, non_blocking=True)[5:]
    assert attributes(y.data_ptr())[:2] == (DEVICE, 0)
    assert y.cpu().equal(x[5:])


def test_copies_with_odd_pitches_offsets_and_overlaps(device, other):
    size = 1500
    pattern = bytes(i * 7 % 251 for i in range(size))
    first, second, pinned = malloc(size), malloc(size), get("MallocHost", size)
    ok("SetDevice", 1)
    there = malloc(size)
    ok("SetDevice", 0)

    # Columns: from odd offset with odd pitches, also between devices; the last row ends with its width.
    host = (c_char * size).from_address(pinned)
    for width, height, to_pitch, from_pitch, to, source in (
        (101, 7, 129, 113, 3, 5),
        (1, 300, 3, 5, 1, 0),
        (13, 1, 13, 4000, 0, 7),
        (499, 3, 500, 500, 1, 1),
    ):
        expected = bytearray(b"\xaa" * size)
        for row in range(height):
            at = source + row * from_pitch
            expected[to + row * to_pitch : to + row * to_pitch + width] = pattern[at : at + width]
        shape = (width, height)
        for target in (first, there):
            write(second, pattern)
            ok("Memset", target, 0xAA, size)
            rows = (target + to, to_pitch, second + source, from_pitch, *shape)
            ok("DeviceSynchronize")
            ok("Memcpy2DAsync", *rows, DEVICE_TO_DEVICE, None)
            ok("StreamSynchronize", None)
            assert read(target, size) == expected, (shape, target == there)
        ok("Memset", first, 0xAA, size)
        ok(
            "Memcpy2DAsync",
            first + to,
            to_pitch,
            (c_char * size)(*pattern[source:]),
            from_pitch,
            *shape,
            HOST_TO_DEVICE,
            None,
        )
        host.raw = b"\xaa" * size
        write(second, pattern)
        ok("Memcpy2DAsync", pinned + to, to_pitch, second + source, from_pitch, *shape, DEVICE_TO_HOST, None)
        ok("StreamSynchronize", None)
        assert read(first, size) == host.raw == expected, shape
    rows = functools.partial(refused, Error.INVALID_VALUE, "Memcpy2DAsync")
    rows(first, 99, second, 100, 100, 2, DEVICE_TO_DEVICE, None)
    rows(first, 100, second, 99, 100, 2, DEVICE_TO_DEVICE, None)
    rows(first, 1401, second, 100, 100, 2, DEVICE_TO_DEVICE, None)  # one byte too far
    ok("Memcpy2DAsync", first, 1400, second, 100, 100, 2, DEVICE_TO_DEVICE, None)
    rows(first, 2**63, second, 2**63, 1, 3, DEVICE_TO_DEVICE, None)  # overflows
    rows(first, 2, second, 2, 1, 2**63 + 1, DEVICE_TO_DEVICE, None)
    ok("Memcpy2DAsync", first, 8, second, 8, 0, 100000, DEVICE_TO_DEVICE, None)
    ok("Memcpy2DAsync", first, 8, second, 8, 8, 0, DEVICE_TO_DEVICE, None)

    # Bytes at odd offsets
    for pointer in (first, there):
        model = bytearray(pattern)
        write(pointer, pattern)
        for offset, length, value in (
            (0, 1, -1),
            (1, 2, 0x100),
            (3, 5, 0x17F),
            (131, 255, 3),
            (400, 1099, 200),
            (1499, 1, 9),
        ):
            ok("Memset", pointer + offset, value, length)
            model[offset : offset + length] = bytes([value & 255]) * length
            assert read(pointer, size) == model, (offset, length)

    # An overlapping copy: the header doesn't say what it does. It may be refused, or done as by memmove.
    for shift in (1, -1):
        write(first, pattern)
        source, target = (0, 1) if shift == 1 else (1, 0)
        answer = status("Memcpy", first + target, first + source, size - 1, DEVICE_TO_DEVICE)
        moved = bytearray(pattern)
        moved[target : target + size - 1] = pattern[source : source + size - 1]
        assert read(first, size) == (moved if answer is Error.SUCCESS else pattern)
        assert answer in (Error.SUCCESS, Error.INVALID_VALUE), text(answer)
    write(first, pattern)
    ok("Memcpy", first, first, size, DEVICE_TO_DEVICE)  # onto itself changes nothing
    assert read(first, size) == pattern

    # A pageable source may change as soon as the call returns, even if its stream can't run yet.
    late = ctypes.create_string_buffer(pattern, size)
    stream = get("StreamCreate")
    opener = threading.Timer(0.3, Gate(stream).open)
    opener.start()
    ok("MemcpyAsync", second, late, size, HOST_TO_DEVICE, stream)
    ctypes.memset(late, 0, size)
    ok("StreamSynchronize", stream)
    assert read(second, size) == pattern
    opener.join()
    for function, value in (
        ("StreamDestroy", stream),
        ("Free", first),
        ("Free", second),
        ("Free", there),
        ("FreeHost", pinned),
    ):
        ok(function, value)


def test_events_recorded_twice_never_or_destroyed_while_pending(other):
    milliseconds = c_float()
    ahead, behind = get("StreamCreate"), get("StreamCreate")
    event, twin, plain = get("EventCreate"), get("EventCreate"), get("EventCreateWithFlags", DISABLE_TIMING)

    # Never recorded: has happened, delays nothing, has no time.
    ok("EventQuery", event)
    ok("EventSynchronize", event)
    ok("StreamWaitEvent", behind, event)
    ok("StreamSynchronize", behind)
    ok("StreamQuery", behind)
    refused(Error.INVALID_HANDLE, "EventElapsedTime", byref(milliseconds), event, twin)

    # Recorded twice: a stream that waits already waits for the first record only.
    with Gate(ahead) as first:
        ok("EventRecord", event, ahead)
        ok("StreamWaitEvent", behind, event)
        with Gate(ahead):
            ok("EventRecord", event, ahead)
            began = time.monotonic()
            for function, handle in (("EventQuery", event), ("StreamQuery", ahead), ("StreamQuery", behind)):
                refused(Error.NOT_READY, function, handle)
            refused(Error.NOT_READY, "EventElapsedTime", byref(milliseconds), event, event)
            assert time.monotonic() - began < 1, "a query waited"
            first.open()
            ok("StreamSynchronize", behind)
            refused(Error.NOT_READY, "EventQuery", event)
    ok("EventSynchronize", event)

    # Times, also backwards, and without
    ok("LaunchKernel", ahead, address(ctypes.CDLL(None).usleep), 20000)
    ok("EventRecord", twin, ahead)
    ok("EventRecord", plain, ahead)
    ok("StreamSynchronize", ahead)
    ok("EventElapsedTime", byref(milliseconds), event, twin)
    assert 15 < milliseconds.value < 2000
    forwards = milliseconds.value
    ok("EventElapsedTime", byref(milliseconds), twin, event)
    assert milliseconds.value == pytest.approx(-forwards)
    refused(Error.INVALID_HANDLE, "EventElapsedTime", byref(milliseconds), event, plain)
    refused(Error.INVALID_VALUE, "EventElapsedTime", None, event, twin)

    # Destroyed while it is pending, waited for by a stream of another device
    ok("SetDevice", 1)
    far, memory = get("StreamCreate"), malloc(3)
    ok("Memset", memory, 1, 3)
    ok("SetDevice", 0)
    with Gate(ahead):
        ok("EventRecord", event, ahead)
        ok("StreamWaitEvent", far, event)
        ok("EventDestroy", event)
        for function in ("EventQuery", "EventSynchronize", "EventDestroy"):
            refused(Error.INVALID_HANDLE, function, event)
        refused(Error.INVALID_HANDLE, "EventRecord", event, ahead)
        refused(Error.INVALID_HANDLE, "StreamWaitEvent", far, event)
        ok("MemsetAsync", memory, 2, 3, far)
        time.sleep(0.1)
        refused(Error.NOT_READY, "StreamQuery", far)
        assert read(memory, 3) == b"\1\1\1"  # by the default stream of device 1, which nothing holds up
        ok("StreamDestroy", far)  # its work still runs
        refused(Error.INVALID_HANDLE, "StreamQuery", far)
    ok("SetDevice", 1)
    ok("DeviceSynchronize")
    assert read(memory, 3) == b"\2\2\2"
    ok("SetDevice", 0)
    for handle in (None, ahead, 8):  # none, a stream, nonsense
        assert status("EventQuery", handle) in (Error.INVALID_HANDLE, Error.INVALID_VALUE)
    status("GetLastError")
    for function, value in (
        ("EventDestroy", twin),
        ("EventDestroy", plain),
        ("StreamDestroy", ahead),
        ("StreamDestroy", behind),
        ("Free", memory),
    ):
        ok(function, value)


def test_streams_priorities_devices_and_threads(other):
    least, greatest = c_int(9), c_int(9)
    ok("DeviceGetStreamPriorityRange", byref(least), byref(greatest))
    assert greatest.value <= least.value == 0
    for asked, given in ((0, 0), (2**31 - 1, 0), (-(2**31), greatest.value), (greatest.value, greatest.value)):
        stream = get("StreamCreateWithPriority", asked)
        value = c_int(9)
        ok("StreamGetPriority", stream, byref(value))
        assert value.value == given
        ok("StreamDestroy", stream)
        refused(Error.INVALID_HANDLE, "StreamDestroy", stream)
        refused(Error.INVALID_HANDLE, "StreamSynchronize", stream)
    refused(Error.INVALID_HANDLE, "StreamDestroy", None)

    count = get("GetDeviceCount", kind=c_int)
    properties = Properties()
    for wrong in (-1, count, 2**31 - 1):
        refused(Error.INVALID_DEVICE, "SetDevice", wrong)
        refused(Error.INVALID_DEVICE, "GetDeviceProperties", byref(properties), wrong)
    assert get("GetDevice", kind=c_int) == 0

    # The null stream follows the current device of the calling thread.
    ok("SetDevice", 1)
    value = c_int(-1)
    ok("StreamGetDevice", None, byref(value))
    assert value.value == 1
    seen = []
    thread = threading.Thread(target=lambda: seen.append(get("GetDevice", kind=c_int)))
    thread.start()
    thread.join()
    assert seen == [0]
    # A stream of device 1, used by a thread whose current device is 0
    far, memory = get("StreamCreate"), malloc(100)
    ok("SetDevice", 0)
    ok("MemsetAsync", memory, 5, 100, far)
    ok("StreamSynchronize", far)
    assert read(memory, 100) == b"\5" * 100 and attributes(memory)[1] == 1

    # Errors belong to the thread
    refused(Error.INVALID_DEVICE, "SetDevice", 77)
    status("SetDevice", 77)
    thread = threading.Thread(target=lambda: seen.append(status("GetLastError")))
    thread.start()
    thread.join()
    assert seen[1:] == [Error.SUCCESS] and status("GetLastError") is Error.INVALID_DEVICE
    for error in (0, 9, 99, -1):
        assert text(error) and getattr(library(), f"{NAME}GetErrorName")(error)

    # Threads that make and destroy everything at the same time, on both devices
    failures = []

    def work(number: int) -> None:
        try:
            ok("SetDevice", number % 2)
            for turn in range(40):
                stream, event, here = get("StreamCreate"), get("EventCreate"), malloc(turn * 37 + 1)
                ok("MemsetAsync", here, number + turn, turn * 37 + 1, stream)
                ok("EventRecord", event, stream)
                ok("StreamWaitEvent", None, event)
                ok("EventDestroy", event)
                ok("StreamDestroy", stream)
                assert read(here, turn * 37 + 1) == bytes([number + turn]) * (turn * 37 + 1)
                ok("Free", here)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in threads), failures
    ok("Free", memory)
    ok("StreamDestroy", far)


def child_host_functions() -> None:
    stream, bystander = get("StreamCreate"), get("StreamCreate")
    answers = []

    # Calls from a host function that would wait for the device
    def calls(_) -> None:
        for function, *arguments in (
            ("StreamSynchronize", None),
            ("StreamSynchronize", stream),
            ("DeviceSynchronize",),
        ):
            answers.append(status(function, *arguments))

    function = ctypes.CFUNCTYPE(None, c_void_p)(calls)
    ok("LaunchKernel", stream, function, None)
    ok("StreamSynchronize", stream)
    assert answers == [Error.NOT_SUPPORTED] * 3, answers
    refused(Error.INVALID_VALUE, "LaunchKernel", stream, None, None)

    # Free from a host function frees at the next synchronization of the device.
    before = free_memory()
    memory = malloc(4 * MIB)
    ok("LaunchKernel", stream, address(getattr(library(), f"{NAME}Free")), memory)
    ok("DeviceSynchronize")
    assert free_memory() == before and attributes(memory)[0] == UNREGISTERED

    # A long one: the stream waits, the other doesn't, and Free waits for both.
    memory = malloc(16)
    ok("Memset", memory, 0, 16)
    began = time.monotonic()
    ok("LaunchKernel", stream, address(ctypes.CDLL(None).usleep), 2000000)
    ok("MemsetAsync", memory, 9, 8, stream)
    assert time.monotonic() - began < 1.5, "LaunchKernel or MemsetAsync waited"
    ok("MemsetAsync", memory + 8, 8, 8, bystander)
    ok("StreamSynchronize", bystander)
    assert time.monotonic() - began < 1.5, "another stream waited"
    refused(Error.NOT_READY, "StreamQuery", stream)
    ok("StreamDestroy", stream)
    spare = malloc(1)
    ok("Free", spare)
    assert time.monotonic() - began > 1.9, "Free did not wait"
    assert read(memory, 16) == b"\x09" * 8 + b"\x08" * 8
    print("done")


def test_host_functions_that_are_long_or_call_back():
    assert child("child_host_functions") == "done"


def child_throw() -> None:
    stream, memory = get("StreamCreate"), malloc(8)
    throw = ctypes.CDLL("libstdc++.so.6")._ZSt20__throw_length_errorPKc
    why = ctypes.create_string_buffer(b"outside threw this")
    for wait, arguments in (("StreamSynchronize", (stream,)), ("DeviceSynchronize", ())):
        ok("LaunchKernel", stream, address(throw), ctypes.addressof(why))
        message = refused(Error.UNKNOWN, wait, *arguments)
        assert "outside threw this" in message, message
        ok(wait, *arguments)
    ok("MemsetAsync", memory, 3, 8, stream)
    ok("StreamSynchronize", stream)
    assert read(memory, 8) == b"\3" * 8
    print("done")


def test_a_host_function_that_throws_is_reported_once():
    assert child("child_throw") == "done"


def test_programs_that_do_not_compile_or_fit(device, other):
    handle = c_void_p()
    broken = "kernel void f(global int* out) {\n  int x = 0;\n  out[0] = no_such_name_anywhere;\n}\n"

    def attempt(source: bytes | None, size: int, options: bytes | None = b"") -> str:
        return refused(Error.INVALID_VALUE, "ProgramBuild", byref(handle), b"my.cl", source, size, options)

    message = attempt(broken.encode(), len(broken))
    assert "my.cl" in message and "no_such_name_anywhere" in message and ":3:" in message, message
    assert "no_such_name_anywhere" in attempt(broken.encode(), len(broken))  # again, from no cache
    assert "my.cl" in attempt(FILL.encode(), len(FILL), b"-DSHIFT=0 --no-such-option")
    attempt(bytes(range(1, 256)), 255)
    attempt(None, 8)
    refused(Error.INVALID_VALUE, "ProgramBuild", None, b"my.cl", FILL.encode(), len(FILL), b"-DSHIFT=0")

    # The source ends with its size, not with a zero.
    source = FILL.encode()
    program = get("ProgramBuild", b"my.cl", source + b" garbage(", len(source), b"-DSHIFT=1")
    assert get("ProgramBuild", b"other.cl", source, len(source), b"-DSHIFT=1")
    for name in (b"no_such_kernel", b""):
        refused(Error.INVALID_VALUE, "ProgramGetKernel", byref(handle), program, name)
    refused(Error.INVALID_VALUE, "ProgramGetKernel", None, program, b"fill")
    kernel = get("ProgramGetKernel", program, b"fill")

    memory = malloc(64)
    ok("Memset", memory, 0, 64)
    four = (41).to_bytes(4, "little")
    run_kernel(kernel, memory + 12, four, groups=2, items=3)  # an interior pointer
    assert [*memoryview(read(memory, 64)).cast("i")] == [0] * 3 + [42] * 6 + [0] * 7

    # Launches that can't work return an error, and nothing runs.
    ok("SetDevice", 1)
    far = get("StreamCreate")
    ok("SetDevice", 0)
    for what, stream, groups, items, values in (
        ("too many arguments", None, 1, 1, (memory, four, four)),
        ("the size of a number", None, 1, 1, (memory, b"12345678")),
        ("an enormous group", None, 1, 2**40, (memory, four)),
        ("a stream of another device", far, 1, 1, (memory, four)),
    ):
        array, count = launch_arguments(*values)
        answer = status("KernelLaunch", stream, kernel, sizes(groups), sizes(items), array, count)
        assert answer is not Error.SUCCESS and text(answer), what
    status("GetLastError")
    array, count = launch_arguments(memory, four)
    for broken_launch in (
        (None, None, sizes(1), sizes(1), array, count),
        (None, kernel, None, sizes(1), array, count),
        (None, kernel, sizes(1), None, array, count),
        (None, kernel, sizes(1), sizes(1), None, count),
    ):
        assert status("KernelLaunch", *broken_launch) in (Error.INVALID_VALUE, Error.INVALID_HANDLE)
    status("GetLastError")
    ok("DeviceSynchronize")
    assert [*memoryview(read(memory, 64)).cast("i")] == [0] * 3 + [42] * 6 + [0] * 7

    # A null pointer that the kernel doesn't use, a struct and local memory
    source = """
    typedef struct { int a; char b; double c; } Small;
    kernel void mixed(global int* unused, global double* out, Small small, local int* shared, int has) {
      shared[get_local_id(0)] = get_local_id(0);
      barrier(CLK_LOCAL_MEM_FENCE);
      int sum = has ? unused[0] : 0;
      for (int i = 0; i < get_local_size(0); i++) sum += shared[i];
      out[get_global_id(0)] = sum + small.a + small.b + small.c;
    }"""
    kernel = get("ProgramGetKernel", build(source.replace("double", "float")), b"mixed")
    small = (100).to_bytes(4, "little") + b"\x07\0\0\0" + bytes(c_float(0.5))
    run_kernel(kernel, None, memory, small, 32.0, bytes(4), groups=2, items=8)
    assert [*memoryview(read(memory, 64)).cast("f")] == [135.5] * 16

    # An index out of range raises in PyTorch, once; then the device works on.
    import torch

    x = torch.arange(5.0, device=device)
    with pytest.raises(Exception, match="index 7 is out of bounds for dimension with size 5"):
        torch.index_select(x, 0, torch.tensor([7], device=device)).cpu()
        torch.get_device_module(NAME).synchronize()
    assert torch.index_select(x, 0, torch.tensor([4], device=device)).cpu().item() == 4
    ok("Free", memory)
    ok("StreamDestroy", far)


def test_a_launch_with_too_few_arguments_is_refused_whatever_ran_before(device):
    kernel = get("ProgramGetKernel", build(FILL, "-DSHIFT=1"), b"fill")
    memory = malloc(64)
    answers = []
    for _ in range(2):
        array, count = launch_arguments(memory)
        answers.append(status("KernelLaunch", None, kernel, sizes(1), sizes(1), array, count))
        run_kernel(kernel, memory, bytes(4))
    status("GetLastError")
    ok("Free", memory)
    assert Error.SUCCESS not in answers, answers


def child_fill(*shifts: str) -> None:
    print(*(fill(int(shift)) for shift in shifts))


def test_program_cache_with_damaged_and_foreign_files(tmp_path):
    folder = tmp_path / f"{NAME}_programs"

    def run(*shifts: str, use: str = "on") -> None:
        expected = " ".join(str(7 + int(shift)) for shift in shifts)
        assert child("child_fill", *shifts, PROGRAM_CACHE=str(tmp_path), PROGRAM_CACHE_USE=use) == expected

    run("1", use="off")
    assert not folder.exists() or not any(folder.iterdir())
    # Two processes at once
    both = [start("child_fill", "1", "2", PROGRAM_CACHE=str(tmp_path)) for _ in range(2)]
    assert [finish(process) for process in both] == ["8 9"] * 2
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) == 2, files
    good = [path.read_bytes() for path in files]

    # Truncated, and a changed byte; two foreign files and a folder beside them
    files[0].write_bytes(good[0][: len(good[0]) // 2])
    changed = bytearray(good[1])
    changed[len(changed) // 2] ^= 1
    files[1].write_bytes(changed)
    (folder / "README.txt").write_text("not a program")
    (folder / ("0" * len(files[0].name))).write_bytes(b"")
    (folder / "folder").mkdir()
    run("1", "2")
    assert len(files[0].read_bytes()) > len(good[0]) // 2 and files[1].read_bytes() != changed, (
        "damaged files were not replaced"
    )
    # One program's complete file under the other's name, and an empty file
    files[0].write_bytes(good[1])
    files[1].write_bytes(b"")
    run("1", "2")
    # A folder and a dangling link in the place of a file
    files[0].unlink()
    files[0].mkdir()
    files[1].unlink()
    files[1].symlink_to(tmp_path / "nowhere" / "file")
    run("1", "2")
    files[0].rmdir()

    # `clear` removes the old programs
    run("3")
    run("4", use="clear")
    left = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 1000]
    assert len(left) == 1, left
    # A cache that can't be written; root may write to read-only folders, so this is a file's "subdirectory".
    (tmp_path / "file").write_bytes(b"")
    for place in (str(tmp_path / "file"), "/proc/self/no"):
        assert child("child_fill", "5", PROGRAM_CACHE=place) == "12"


def child_out_of_memory() -> None:
    limit = 64 * MIB
    properties = Properties()
    ok("GetDeviceProperties", byref(properties), 0)
    available, total = c_size_t(), c_size_t()
    ok("MemGetInfo", byref(available), byref(total))
    assert properties.total_memory == total.value == limit, (properties.total_memory, total.value)
    start_free = available.value
    for size in (limit + 1, 2**40, 2**63, 2**64 - 1, 2**64 - 255):
        pointer = c_void_p(1)
        message = refused(Error.MEMORY_ALLOCATION, "Malloc", byref(pointer), size)
        assert pointer.value is None and message, size
    assert free_memory() == start_free
    # Full, then one freed block is enough for the next
    blocks = []
    pointer = c_void_p()
    while status("Malloc", byref(pointer), 5 * MIB + 1) is Error.SUCCESS:
        blocks.append(pointer.value)
        assert pointer.value % 256 == 0
    assert len(blocks) == 12 and pointer.value is None
    assert status("GetLastError") is Error.MEMORY_ALLOCATION
    for block in blocks:
        ok("Memset", block, 1, 5 * MIB + 1)
    ok("Free", blocks.pop())
    blocks.append(malloc(5 * MIB + 1))
    # The other device has its own limit; pinned memory isn't device memory.
    ok("SetDevice", 1)
    there = malloc(60 * MIB)
    ok("Free", there)
    ok("SetDevice", 0)
    pinned = get("MallocHost", 10 * MIB)
    ok("FreeHost", pinned)
    refused(Error.MEMORY_ALLOCATION, "MallocHost", byref(pointer), 2**62)
    for block in blocks:
        ok("Free", block)
    assert free_memory() == start_free

    # Many small ones
    began = time.monotonic()
    small = [malloc(1 + number % 300) for number in range(5000)]
    assert len({*small}) == 5000 and all(block % 256 == 0 for block in small)
    for number in (0, 2500, 4999):
        assert attributes(small[number]) == (DEVICE, 0, small[number], 1 + number % 300)
    for block in small:
        ok("Free", block)
    assert free_memory() == start_free
    print(f"{time.monotonic() - began:.1f}")


def test_out_of_memory_and_many_allocations(device):
    assert float(child("child_out_of_memory", MEMORY="64MiB", SUB_DEVICES="2")) < 40

    import torch

    api = torch.get_device_module(NAME)
    gc.collect()
    api.empty_cache()
    available, total = api.mem_get_info(device)
    kept = torch.ones(1000, device=device)
    for _ in range(3):
        with pytest.raises(torch.OutOfMemoryError, match="(?i)out of memory"):
            torch.empty(total + 1, dtype=torch.uint8, device=device)
        with pytest.raises((torch.OutOfMemoryError, RuntimeError)):
            torch.empty(2**62, dtype=torch.uint8, device=device)
    # Freed blocks of the cache serve an allocation of another size that would not fit beside them.
    for size in (available // 2, available * 3 // 4):
        x = torch.empty(size, dtype=torch.uint8, device=device)
        del x
    assert kept.sum().item() == 1000
    api.empty_cache()


def child_fork() -> None:
    children = []

    def forked(work) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                work()
                os._exit(0)
            except BaseException as failure:
                print("in the forked child:", failure, file=sys.stderr, flush=True)
                os._exit(1)
        children.append(os.waitpid(pid, 0)[1])

    def uses() -> None:
        assert free_memory() and read(malloc(8), 8)

    forked(uses)  # before the parent used the device
    uses()
    stream, event, memory, pinned = get("StreamCreate"), get("EventCreate"), malloc(8), get("MallocHost", 8)
    count = get("GetDeviceCount", kind=c_int)

    def refuses() -> None:
        properties, pointer = Properties(), c_void_p()
        assert get("GetDeviceCount", kind=c_int) == count
        assert get("GetDevice", kind=c_int) == 0
        ok("GetDeviceProperties", byref(properties), 0)
        assert properties.name and getattr(library(), f"{NAME}GetErrorName")(Error.FORKED)
        for function, *arguments in (
            ("Malloc", byref(pointer), 8),
            ("MallocHost", byref(pointer), 8),
            ("Memset", memory, 0, 8),
            ("MemcpyAsync", memory, pinned, 8, HOST_TO_DEVICE, stream),
            ("StreamCreate", byref(pointer)),
            ("StreamSynchronize", stream),
            ("StreamQuery", stream),
            ("DeviceSynchronize",),
            ("EventRecord", event, stream),
            ("EventSynchronize", event),
            ("ProgramBuild", byref(pointer), b"x", FILL.encode(), len(FILL), b"-DSHIFT=1"),
        ):
            assert "fork" in refused(Error.FORKED, function, *arguments).lower(), function

    with Gate(stream):  # with work pending
        forked(refuses)
    uses()
    assert children == [0, 0], children
    print("done")


def child_exit(seconds: str) -> None:
    """Ends with a host function, a copy behind it and a wait of a thread all pending."""
    memory, pinned, stream = malloc(MIB), get("MallocHost", MIB), get("StreamCreate")
    if seconds == "never":
        Gate(stream)
    else:
        ok("LaunchKernel", stream, address(ctypes.CDLL(None).usleep), int(float(seconds) * 1e6))
    ok("MemcpyAsync", memory, pinned, MIB, HOST_TO_DEVICE, stream)
    threading.Thread(target=lambda: status("StreamSynchronize", stream), daemon=True).start()
    time.sleep(0.1)
    print("exits", flush=True)


def test_fork_and_exit_with_work_pending():
    assert child("child_fork") == "done"
    for seconds, least, most in (("0.5", 0.3, 8), ("never", 0, 15)):
        process = start("child_exit", seconds)
        assert process.stdout.readline() == "exits\n", process.communicate(timeout=30)
        began = time.monotonic()
        finish(process)
        took = time.monotonic() - began
        assert least < took < most, f"an exit with {seconds} s of work pending took {took:.1f} s"


def child_first_use() -> None:
    """Prints the number of devices, and the answer of the first use."""
    count = c_int(-1)
    counted = status("GetDeviceCount", byref(count))
    if counted is not Error.SUCCESS:
        print(f"count {count.value}: {counted.name}: {text(counted)}")
        return
    status("GetLastError")
    pointer = c_void_p()
    answer = status("Malloc", byref(pointer), 8)
    print(count.value, answer.name, text(answer) if answer else fill(1))


def child_timeout() -> None:
    source = "kernel void endless(global int* x) { volatile global int* y = x; for (long i = 0; i < (1l << 36) && !*y; i++) *y = 0; }"
    memory = malloc(8)
    ok("Memset", memory, 0, 8)
    run_kernel(get("ProgramGetKernel", build(source), b"endless"), memory)
    answer = status("DeviceSynchronize")
    print(answer.name, text(answer), flush=True)
    os._exit(0)


def test_environment_variables_with_nonsense_values():
    def first_use(**environment: str | None) -> str:
        return child("child_first_use", **({"VISIBLE_DEVICES": None, "SUB_DEVICES": "2"} | environment))

    assert first_use() == "2 SUCCESS 8"
    # As CUDA_VISIBLE_DEVICES: what follows a wrong entry is not seen.
    for value, count in (("1,0", 2), ("0,nonsense,1", 1), ("0,7,1", 1)):
        assert first_use(VISIBLE_DEVICES=value) == f"{count} SUCCESS 8", value
    # Devices that do not exist: the error names the variable or what the device lacks.
    for key, value in (("VISIBLE_DEVICES", "-1"), ("VISIBLE_DEVICES", "0,0"), ("PLATFORM", "no such platform")):
        answer = first_use(**{key: value})
        assert "SUCCESS" not in answer and f"{PREFIX}_{key}" in answer, f"{key}={value}: {answer}"
    # The pages don't say what a value outside their lists does: it may be an error that names the variable, or be ignored.
    nonsense = {"DEVICE_TYPE": "toaster", "SUB_DEVICES": "two", "MEMORY": "lots", "ALLOCATION": "paper"}
    for values in (
        {**nonsense, "KERNEL_TIMEOUT": "soon", "PROGRAM_CACHE_USE": "perhaps"},
        {"SUB_DEVICES": "100000", "MEMORY": "-1"},
    ):
        answer = first_use(**values)
        assert answer.endswith("SUCCESS 8") or any(f"{PREFIX}_{key}" in answer for key in values), answer
    answer = child("child_timeout", KERNEL_TIMEOUT="1")
    assert "SUCCESS" not in answer and "endless" in answer, answer


def test_if_all_devices_are_hidden_the_count_says_why():
    answer = child("child_first_use", VISIBLE_DEVICES="")
    assert answer.startswith("count 0: INVALID_DEVICE: ") and f"{PREFIX}_VISIBLE_DEVICES" in answer, answer
