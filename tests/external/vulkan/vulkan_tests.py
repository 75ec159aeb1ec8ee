"""What the Vulkan port promises beyond the ladder: kernels in GLSL, their arguments, sizes and errors.

tests/test_vulkan.py runs this in a tree with the port. It needs the device library alone: MYBACKEND_LIBRARY."""

import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import threading
from ctypes import byref, c_int, c_size_t, c_void_p

import pytest
from bringup import (
    DEFAULT_STREAM,
    DEVICE_TO_HOST,
    HOST_TO_DEVICE,
    INVALID_VALUE,
    NOT_READY,
    Memory,
    call,
    error_text,
    event,
    status,
    stream,
)

POINTER, BYTES, LOCAL = 0, 1, 2

# The first lines of each kernel: what a program needs, and the number of its work-item.
HEAD = """#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
uint64_t global_id() {
  return (uint64_t(gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
}
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Element { SCALAR value; };
#define AT(pointer, i) Element((pointer) + (i) * SIZE).value
"""

RELU = (
    HEAD
    + """
layout(buffer_reference, scalar) readonly buffer Arguments { uint64_t count, out_, self; };
layout(push_constant) uniform Push { Arguments arguments; };
void main() {
  const uint64_t i = global_id();
  if (i >= arguments.count) return;
  const SCALAR x = AT(arguments.self, i);
  AT(arguments.out_, i) = x < SCALAR(0) ? SCALAR(0) : x;
}
"""
)


class Argument(ctypes.Structure):
    _fields_ = [("kind", c_int), ("value", c_void_p), ("size", c_size_t)]


def kernel_of(source, options="", name="test.comp"):
    text = source.encode() if isinstance(source, str) else source
    program, kernel = c_void_p(), c_void_p()
    call("ProgramBuild", byref(program), name.encode(), text, c_size_t(len(text)), options.encode())
    call("ProgramGetKernel", byref(kernel), program, b"main")
    return kernel


def launch(kernel, arguments, groups=1, items=64, where=DEFAULT_STREAM, answer=call):
    """`arguments`: pointers, bytes, or numbers of bytes that a work-group shares."""
    kept, all_ = [], (Argument * len(arguments))()
    for argument, value in zip(all_, arguments, strict=True):
        if isinstance(value, c_void_p):
            argument.kind, argument.value = POINTER, value
        elif isinstance(value, bytes):
            kept.append(ctypes.create_string_buffer(value, len(value)))
            argument.kind, argument.value, argument.size = BYTES, ctypes.addressof(kept[-1]), len(value)
        else:
            argument.kind, argument.size = LOCAL, value
    sizes = (c_size_t * 3)(groups, 1, 1), (c_size_t * 3)(items, 1, 1)
    return answer("KernelLaunch", where, kernel, *sizes, all_, c_size_t(len(arguments)))


def to_device(memory, data):
    call("Memcpy", memory, data, c_size_t(len(data)), HOST_TO_DEVICE)


def from_device(memory, size):
    back = ctypes.create_string_buffer(size)
    call("Memcpy", back, memory, c_size_t(size), DEVICE_TO_HOST)
    return back.raw


NUMBERS = [-2.0, -0.5, 0.0, 0.25, 3.0, 100.0, -100.0, 7.0]


@pytest.mark.parametrize(
    ("scalar", "letter"),
    [
        ("float32_t", "f"),
        ("float16_t", "e"),
        ("float64_t", "d"),
        ("int8_t", "b"),
        ("int16_t", "h"),
        ("int32_t", "i"),
        ("int64_t", "q"),
    ],
)
def test_relu(scalar, letter):
    numbers = [x if letter in "fed" else int(x) for x in NUMBERS] * 100
    data = struct.pack(f"{len(numbers)}{letter}", *numbers)
    with Memory(len(data)) as first, Memory(len(data)) as second, stream() as where:
        to_device(first, data)
        kernel = kernel_of(RELU, f"-DSCALAR={scalar} -DSIZE={struct.calcsize(letter)}")
        launch(kernel, [struct.pack("Q", len(numbers)), second, first], groups=(len(numbers) + 63) // 64, where=where)
        call("StreamSynchronize", where)
        assert struct.unpack(f"{len(numbers)}{letter}", from_device(second, len(data))) == tuple(
            max(x, 0) for x in numbers
        )


def test_more_groups_than_the_device_takes_in_a_row():
    count = 70_001 * 64 - 5
    with Memory(count) as memory:
        call("Memset", memory, c_int(3), c_size_t(count))
        kernel = kernel_of(RELU.replace("x < SCALAR(0)", "x > SCALAR(2)"), "-DSCALAR=int8_t -DSIZE=1")
        launch(kernel, [struct.pack("Q", count - 1), memory, memory], groups=70_001)
        assert from_device(memory, count) == bytes(count - 1) + b"\x03"


def test_memory_of_a_group_has_the_size_of_the_argument():
    source = HEAD + (
        "layout(constant_id = 3) const uint bytes = 4;\n"
        "shared int32_t sums[bytes / 4];\n"
        "layout(buffer_reference, scalar) readonly buffer Arguments { uint64_t at; };\n"
        "layout(push_constant) uniform Push { Arguments arguments; };\n"
        "void main() {\n"
        "  const uint i = gl_LocalInvocationID.x;\n"
        "  sums[i] = AT(arguments.at, i);\n"
        "  barrier();\n"
        "  AT(arguments.at, i) = sums[gl_WorkGroupSize.x - 1 - i];\n"
        "}\n"
    )
    with Memory(128) as memory:
        to_device(memory, struct.pack("32i", *range(32)))
        launch(kernel_of(source, "-DSCALAR=int32_t -DSIZE=4"), [memory, 128], items=32)
        assert struct.unpack("32i", from_device(memory, 128)) == tuple(reversed(range(32)))


def test_arguments_lie_where_the_shader_looks():
    """A byte, a half, a pointer, three floats, a long."""
    source = HEAD + (
        "struct Three { float a, b, c; };\n"
        "layout(buffer_reference, scalar) readonly buffer Arguments { int8_t b; int16_t h; uint64_t at; Three three; int64_t q; };\n"
        "layout(push_constant) uniform Push { Arguments a; };\n"
        "void main() {\n"
        "  AT(a.at, 0) = double(a.b); AT(a.at, 1) = double(a.h); AT(a.at, 2) = double(a.three.c); AT(a.at, 3) = double(a.q);\n"
        "}\n"
    )
    with Memory(32) as memory:
        values = [
            struct.pack("b", -3),
            struct.pack("h", 1000),
            memory,
            struct.pack("3f", 1, 2, 2.5),
            struct.pack("q", 1 << 40),
        ]
        launch(kernel_of(source, "-DSCALAR=double -DSIZE=8"), values, items=1)
        assert struct.unpack("4d", from_device(memory, 32)) == (-3, 1000, 2.5, 1 << 40)


def test_too_many_bytes_of_arguments_are_an_error():
    kernel = kernel_of(RELU, "-DSCALAR=float -DSIZE=4")
    assert launch(kernel, [bytes(8)] * 300, answer=status) == INVALID_VALUE
    assert error_text(INVALID_VALUE) == "test.comp: more than 2048 bytes of arguments"


def test_what_the_compiler_says_is_the_error():
    source = b"#version 460\n#line 7\nvoid main() { undefined_thing(); }\n"
    program = c_void_p()
    arguments = (byref(program), b"wrong.comp", source, c_size_t(len(source)), None)
    assert status("ProgramBuild", *arguments) == INVALID_VALUE
    assert "the GLSL compiler refuses wrong.comp:" in error_text(INVALID_VALUE)
    assert "7: 'undefined_thing'" in error_text(INVALID_VALUE)
    assert status("ProgramBuild", *arguments[:4], b"-O3") == INVALID_VALUE
    assert error_text(INVALID_VALUE) == "an unknown option: -O3"


def test_a_program_has_one_kernel():
    text, program, kernel = (RELU + "// its own\n").encode(), c_void_p(), c_void_p()
    call("ProgramBuild", byref(program), b"relu.comp", text, c_size_t(len(text)), b"-DSCALAR=float -DSIZE=4")
    assert status("ProgramGetKernel", byref(kernel), program, b"relu") == INVALID_VALUE
    assert error_text(INVALID_VALUE) == "relu.comp: no kernel 'relu': a program has one, main"


BUILD = """
import ctypes
import sys
import threading
import vulkan_tests as tests
import bringup
text, program = tests.RELU.encode(), ctypes.c_void_p()
answer = bringup.status("ProgramBuild", ctypes.byref(program), b"relu.comp", text, ctypes.c_size_t(len(text)), b"-DSCALAR=float -DSIZE=4")
print(bringup.error_text(answer) if answer else "built")
"""


def test_kept_programs_are_used_and_damage_is_found(tmp_path):
    def built(path):
        places = os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])
        environment = {
            **os.environ,
            "PYTHONPATH": places,
            "PATH": path,
            "MYBACKEND_PROGRAM_CACHE": str(tmp_path / "programs"),
        }
        return subprocess.run(
            [sys.executable, "-c", BUILD], env=environment, capture_output=True, text=True, check=True
        ).stdout

    missing = "glslangValidator cannot be run; Debian has it in glslang-tools\n"
    assert built("/nowhere") == missing
    assert built(os.environ["PATH"]) == "built\n"
    assert built("/nowhere") == "built\n"
    (kept,) = (tmp_path / "programs").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    assert built("/nowhere") == missing


def test_a_binary_is_taken_as_it_is(tmp_path):
    (tmp_path / "relu.comp").write_text(RELU)
    command = [
        "glslangValidator",
        "-V",
        "--target-env",
        "vulkan1.2",
        "-DSCALAR=int8_t",
        "-DSIZE=1",
        "-o",
        "relu.spv",
        "relu.comp",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with Memory(4) as memory:
        to_device(memory, b"\xff\x01\xfe\x02")
        launch(kernel_of((tmp_path / "relu.spv").read_bytes()), [struct.pack("Q", 4), memory, memory])
        assert from_device(memory, 4) == b"\x00\x01\x00\x02"


def test_a_host_function_holds_up_only_its_stream():
    """All streams share a queue of Vulkan's: what is queued behind the function must not get there."""
    may_end = threading.Event()

    @ctypes.CFUNCTYPE(None, c_void_p)
    def wait(_):
        may_end.wait(60)

    with (
        stream() as held,
        stream() as waits,
        stream() as free,
        event() as mark,
        Memory(64) as memory,
        Memory(64) as other,
    ):
        call("LaunchKernel", held, wait, None)
        call("MemsetAsync", memory, c_int(1), c_size_t(64), held)
        call("EventRecord", mark, held)
        call("StreamWaitEvent", waits, mark)
        call("MemsetAsync", memory, c_int(2), c_size_t(64), waits)
        call("MemsetAsync", other, c_int(3), c_size_t(64), free)
        call("StreamSynchronize", free)
        assert [status("StreamQuery", each) for each in (held, waits, free)] == [NOT_READY, NOT_READY, 0]
        assert status("EventQuery", mark) == NOT_READY
        may_end.set()
        call("StreamSynchronize", waits)
        assert from_device(memory, 64) == b"\x02" * 64
        assert from_device(other, 64) == b"\x03" * 64


def test_streams_may_be_destroyed_while_they_work():
    ran = []
    function = ctypes.CFUNCTYPE(None, c_void_p)(ran.append)
    with Memory(1 << 20) as memory:
        for i in range(200):
            with stream() as where:
                call("MemsetAsync", memory, c_int(i), c_size_t(1 << 20), where)
                call("LaunchKernel", where, function, c_void_p(i + 1))
        call("DeviceSynchronize")
    assert sorted(ran) == list(range(1, 201))


ADD_ONE = RELU.replace("x < SCALAR(0) ? SCALAR(0) : x", "x + SCALAR(1)")

FAILED_SUBMITS = """
import ctypes, os, struct
import bringup
import vulkan_tests as tests
libc = ctypes.CDLL(None)
kernel = tests.kernel_of(tests.ADD_ONE, "-DSCALAR=int32_t -DSIZE=4")
with bringup.Memory(256) as memory, bringup.stream() as where:
    data = ctypes.create_string_buffer(bytes(256), 256)
    copy = ("MemcpyAsync", memory, data, ctypes.c_size_t(256), bringup.HOST_TO_DEVICE, where)
    bringup.call("Memset", memory, ctypes.c_int(0), ctypes.c_size_t(256))
    taken = 0
    for fails in (False, True, False, True, True, False):
        libc.setenv(b"FAIL_SUBMIT", b"1" if fails else b"0", 1)
        arguments = [struct.pack("Q", 64), memory, memory]
        answer = tests.launch(kernel, arguments, where=where, answer=bringup.status)
        assert (answer != 0) == fails, (answer, fails)
        taken += answer == 0
    libc.setenv(b"FAIL_SUBMIT", b"0", 1)
    bringup.call("StreamSynchronize", where)
    assert struct.unpack("64i", tests.from_device(memory, 256)) == (taken,) * 64
    libc.setenv(b"FAIL_SUBMIT", b"1", 1)
    for i in range(32):  # each would take memory on the host for what it copies
        assert bringup.status(*copy) != 0
    libc.setenv(b"FAIL_SUBMIT", b"0", 1)
    bringup.call("StreamSynchronize", where)
    assert struct.unpack("64i", tests.from_device(memory, 256)) == (taken,) * 64
    bringup.call(*copy)
    bringup.call("StreamSynchronize", where)
    assert tests.from_device(memory, 256) == bytes(256)
    print("done", taken)
"""


def test_what_could_not_be_submitted_never_runs(tmp_path):
    """Its caller got the error; what comes before and behind it runs once."""
    here = pathlib.Path(__file__).parent
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-Wl,--no-as-needed",
        "-lvulkan",
        "-o",
        tmp_path / "fail_submit.so",
        here / "fail_submit.c",
    ]
    subprocess.run(command, check=True)
    environment = {
        **os.environ,
        "LD_PRELOAD": str(tmp_path / "fail_submit.so"),
        "PYTHONPATH": os.pathsep.join([str(here), *sys.path]),
    }
    ran = subprocess.run(
        [sys.executable, "-c", FAILED_SUBMITS], env=environment, capture_output=True, text=True, timeout=100
    )
    assert ran.stdout == "done 3\n", ran.stderr
