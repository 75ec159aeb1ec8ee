"""A library that stands between a backend and its device's library, and lets the calls fail that a test names.

It is made from the device's headers, so it fits each kind of device: each function that returns an error gets a wrapper that
counts the backend's calls and answers with an error in the place of the device. It goes before the device by LD_PRELOAD.
The idea is SQLite's: run what you test again and again, and let another call fail each time, until none is left.
"""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

# What a call that fails has done all the same: a capture ends, whatever its end says.
ENDS = ("StreamEndCapture",)
# Null, as the header says of a failure.
NULLED = ("Malloc", "StreamEndCapture")

HEAD = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
%(includes)s

#define MOST 65536
static _Atomic int counting;
static _Atomic long calls, matching;
static const char* names[MOST];
static const char* function;  // null: each
static long first, times;
static int code;
static long failed;
static const char* failed_name;

void failing_begin(const char* name, long call, long count, int error) {
  function = name;
  first = call;
  times = count;
  code = error;
  failed = 0;
  failed_name = NULL;
  atomic_store(&calls, 0);
  atomic_store(&matching, 0);
  atomic_store(&counting, 1);
}
long failing_end(void) {
  atomic_store(&counting, 0);
  return failed;
}
long failing_calls(void) {
  long all = atomic_load(&calls);
  return all < MOST ? all : MOST;
}
const char* failing_last(void) { return failed_name; }
const char* failing_name(long call) { return names[call]; }

// A library that Python loads is in no scope where RTLD_NEXT would look.
static void* of_device(const char* name) {
  static void* device;
  if (!device) device = dlopen(DEVICE, RTLD_NOW);
  return dlsym(device, name);
}

// Calls from within the device's library are its own matter.
static _Thread_local int inside;

static int answer(const char* name) {
  if (inside || !atomic_load(&counting)) return 0;
  const long call = atomic_fetch_add(&calls, 1);
  if (call < MOST) names[call] = name;
  if (function && strcmp(function, name) != 0) return 0;
  const long match = atomic_fetch_add(&matching, 1);
  if (match < first || (times >= 0 && match >= first + times)) return 0;
  ++failed;
  failed_name = name;
  return code;
}
"""

WRAPPER = """
%(error)s %(name)s(%(parameters)s) {
  static %(error)s (*real)(%(types)s);
  if (!real) real = (%(error)s (*)(%(types)s))of_device("%(name)s");
  const int error = answer("%(name)s");
  %(error)s result = (%(error)s)error;
  ++inside;
  if (!error%(ends)s) result = real(%(arguments)s);
  --inside;
  %(nulled)sreturn error ? (%(error)s)error : result;
}
"""


class Function(NamedTuple):
    name: str
    error: str
    parameters: tuple[str, ...]


def declared(folder: Path) -> list[Function]:
    """The functions of the device's C API that return an error and belong to no thread's state of errors."""
    found = []
    for header in sorted(folder.glob("*.h")):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        for error, name, parameters in re.findall(r"^\w+_API (\w+Error_t) (\w+)\(([^;]*)\);", text, re.MULTILINE):
            if not name.endswith("LastError"):
                words = " ".join(parameters.split())
                found.append(Function(name, error, () if words in ("", "void") else tuple(split(words))))
    return found


def split(parameters: str) -> list[str]:
    """At commas outside of parentheses."""
    depth, out = 0, [""]
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            out.append("")
        else:
            out[-1] += letter
    return [each.strip() for each in out]


def argument(parameter: str) -> str:
    pointer = re.search(r"\(\*(\w+)\)", parameter)
    return pointer[1] if pointer else re.findall(r"\w+", parameter.partition("[")[0])[-1]


def wrapper(each: Function) -> str:
    arguments = [argument(parameter) for parameter in each.parameters]
    call = ", ".join(arguments)
    ends = each.name.endswith(ENDS)
    nulled = each.name.endswith(NULLED)
    output = next((arguments[i] for i, one in enumerate(each.parameters) if "*" in one), "")
    return WRAPPER % {
        "error": each.error,
        "name": each.name,
        "parameters": ", ".join(each.parameters) or "void",
        "types": ", ".join(each.parameters) or "void",
        "arguments": call,
        "ends": " || 1" if ends else "",
        "nulled": f"if (error) *{output} = NULL;\n  " if nulled and output else "",
    }


def build(include: Path, device: Path, out: Path) -> Path:
    """Compiles the library for the headers in `include`, and the library `device`."""
    source = out.with_suffix(".c")
    first = [name for name in sorted(include.glob("*.h")) if "#pragma once" in name.read_text()]
    includes = "\n".join(f'#include "{path}"' for path in first)
    source.write_text(HEAD % {"includes": includes} + "".join(map(wrapper, declared(include))))
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-Wall", f'-DDEVICE="{device}"', "-I", include, "-o", out, source, "-ldl"],
        check=True,
    )
    return out


class Shim:
    """The library in this process, which was started with it."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.failing_begin.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_long, ctypes.c_int]
        self._library.failing_calls.restype = self._library.failing_end.restype = ctypes.c_long
        self._library.failing_name.argtypes = [ctypes.c_long]
        self._library.failing_name.restype = self._library.failing_last.restype = ctypes.c_char_p
        self._name: bytes | None = None

    def begin(self, function: str | None, call: int, times: int, error: int) -> None:
        """From now on calls are counted; `times` of them fail, the first one after `call` others. function: None for each."""
        self._name = None if function is None else function.encode()  # the library keeps the pointer
        self._library.failing_begin(self._name, call, times, error)

    def end(self) -> int:
        """Calls succeed again; how many have failed."""
        return self._library.failing_end()

    def failed(self) -> str:
        """The function whose call failed last, if one has."""
        return (self._library.failing_last() or b"").decode()

    def calls(self) -> list[str]:
        """The functions that were called since begin(), in their order."""
        return [self._library.failing_name(call).decode() for call in range(self._library.failing_calls())]
