"""Messages by which processes share memory of the device: from whom they are, how they are counted, and wrong ones."""

import importlib
import os
import shutil
import subprocess
import sys

import pytest
import torch
from built import NAME, PACKAGE, ROOT, module_of

if not (ROOT / "tests/test_multiprocessing.py").exists():
    pytest.skip("the tree has no component ipc", allow_module_level=True)
_C = importlib.import_module(f"{PACKAGE}._C")
tree = module_of(ROOT / "tests/test_multiprocessing.py")
PATIENCE = tree.PATIENCE


def test_a_process_is_not_known_by_its_number_alone(device):
    """In another namespace, another process has it, too."""
    if not tree._can_share():
        pytest.skip("the device can't share memory between processes")
    x = torch.ones(4, device=device)
    message = _C._ipc_share(x.untyped_storage())
    inode = slice(16, 24)  # behind the magic number, the process and its file
    other = message[: inode.start] + bytes(byte ^ 1 for byte in message[inode]) + message[inode.stop :]
    with pytest.raises(RuntimeError, match="has ended, or belongs to another user or PID namespace"):
        _C._ipc_open(other)
    _C._ipc_open(message)


COUNT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>

long locks = 0;

static int call(const char* name, int file, int command, va_list rest) {
  int (*next)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
  locks += command == 36;  // F_OFD_GETLK
  return next(file, command, va_arg(rest, void*));
}

int fcntl(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const int result = call("fcntl", file, command, rest);
  va_end(rest);
  return result;
}

int fcntl64(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const int result = call("fcntl64", file, command, rest);
  va_end(rest);
  return result;
}
"""

SHARE = """
import ctypes, fcntl, gc, mmap, os, struct, sys
import torch
from PACKAGE import _C

count = 200

# As if another process had received them all: their messages have arrived, and their slots are locked.
def received(message):
    file, = struct.unpack_from("i", message, 12)
    slot, = struct.unpack_from("i", message, 32)
    theirs = os.open(f"/proc/self/fd/{file}", os.O_RDWR)
    with mmap.mmap(theirs, 0) as counters:
        counters[slot * 16 : slot * 16 + 8] = bytes(8)
    fcntl.fcntl(theirs, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, slot, 1, 0))  # F_OFD_SETLK
    return theirs

kept = []
for _ in range(count):
    x = torch.ones(1, device="NAME")
    kept.append(received(_C._ipc_share(x.untyped_storage())))
    del x
gc.collect()
print(ctypes.c_long.in_dll(ctypes.CDLL(sys.argv[1]), "locks").value / count)
"""


def test_shares_look_at_few_others(tmp_path):
    """The system is asked about a slot; n shares may not ask about n each."""
    if not tree._can_share():
        pytest.skip("the device can't share memory between processes")
    (tmp_path / "count.c").write_text(COUNT)
    library = str(tmp_path / "count.so")
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    build = [compiler, "-shared", "-fPIC", "-o", library, str(tmp_path / "count.c")]
    subprocess.run(build, check=True, timeout=PATIENCE)
    done = subprocess.run(
        [sys.executable, "-c", SHARE.replace("PACKAGE", PACKAGE).replace("NAME", NAME), library],
        env={**os.environ, "LD_PRELOAD": library},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert 1 <= float(done.stdout) <= 10


def test_bad_messages(device):
    for message in (b"", b"x" * 10, b"\0" * 120):
        with pytest.raises(RuntimeError, match="not a message about a shared storage"):
            _C._ipc_open(message)
    with pytest.raises(RuntimeError, match="can't share a storage of cpu"):
        _C._ipc_share(torch.ones(1).untyped_storage())
