"""Times PyTorch's calls on a discrete device beside the driver's own calls, in one process: a copy within the device, fills,
a column that is written, and what the host computes into a column. Usage: device_discrete.py NAME TREE; prints a table of
seconds and ratios.

The tree has a port whose memory the host cannot read. tests/external/card_port.cpp is one, for the name `mybackend`; with
MYBACKEND_CARD_JITTER=0 its streams start at once. A port without Memcpy2DAsync is compared with a loop of copies.
"""

import ctypes
import sys
from pathlib import Path

import torch
import turns

NAME, TREE = sys.argv[1:]
sys.path.insert(0, TREE)
package = __import__(f"torch_{NAME}")
device = getattr(torch, NAME)
api = ctypes.CDLL(str(Path(package.__file__).parent / f"lib/lib{NAME}.so"))
DEVICE_TO_DEVICE = 3
MIB = 1 << 20


def call(function: str, *arguments) -> None:
    assert getattr(api, NAME + function)(*arguments) == 0, function


def address(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def size(count: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(count)


def copy(to: torch.Tensor, source: torch.Tensor) -> None:
    call("MemcpyAsync", address(to), address(source), size(source.nbytes), DEVICE_TO_DEVICE, None)


def copy_column(to: torch.Tensor, source: torch.Tensor) -> None:
    width, pitch = source.element_size(), to.stride(0) * to.element_size()
    if hasattr(api, NAME + "Memcpy2DAsync"):
        column = ctypes.c_void_p(to.data_ptr() + width)
        call(
            "Memcpy2DAsync",
            column,
            size(pitch),
            address(source),
            size(width),
            size(width),
            size(len(source)),
            DEVICE_TO_DEVICE,
            None,
        )
        return
    for row in range(len(source)):
        at = ctypes.c_void_p(to.data_ptr() + width + row * pitch)
        call("MemcpyAsync", at, ctypes.c_void_p(source.data_ptr() + row * width), size(width), DEVICE_TO_DEVICE, None)


def assign_column(to: torch.Tensor, source: torch.Tensor) -> None:
    to[:, 1] = source


def main() -> None:
    large, other = (
        torch.ones(64 * MIB, dtype=torch.uint8, device=NAME),
        torch.ones(64 * MIB, dtype=torch.uint8, device=NAME),
    )
    floats = large.view(torch.float32)
    table, column = torch.zeros(100_000, 2, device=NAME), torch.ones(100_000, device=NAME)
    cases = {
        "clone, 64 MiB": (lambda: other.copy_(large), lambda: copy(other, large)),
        "fill_(1) of bytes, 64 MiB": (
            lambda: large.fill_(1),
            lambda: call("MemsetAsync", address(large), 1, size(large.nbytes), None),
        ),
        "fill_(1.5) of floats, 64 MiB / a copy of as much": (lambda: floats.fill_(1.5), lambda: copy(other, large)),
        "x[:, 1] = v, 100,000 rows": (lambda: assign_column(table, column), lambda: copy_column(table, column)),
    }
    print(f"{'':52}{'PyTorch, ms':>14}{'driver, ms':>14}{'ratio':>8}")
    for name, (ours, driver) in cases.items():
        first, second = turns.compare([(ours, device.synchronize), (driver, device.synchronize)], 1, 7)
        print(f"{name:52}{1e3 * first:14.3f}{1e3 * second:14.3f}{first / second:8.2f}")


main()
