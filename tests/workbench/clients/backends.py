"""The client backends of scripts/nightly.sh clients: how each is loaded, and what the tools run on it."""

import functools
import os
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

from . import build

ROOT = build.ROOT

# Three operators that every client has, with numbers that no order of additions changes.
FORWARD = """
import torch
x = torch.arange(9.0).view(3, 3).to("{device}")
y = x
for _ in range(3):
    y = y + x
print((y @ x).cpu())
"""
TRAINING = """
import torch
torch.manual_seed(0)
x, bias = (torch.randn(*sizes).to("{device}") for sizes in ((3, 4), (8,)))
weight = torch.randn(8, 4).to("{device}").requires_grad_()
for step in range(2):
    y = torch.nn.functional.linear(x, weight, bias)
    y = y.relu() + y
    torch.softmax(y, 1)
    (y * 2).sum().backward()
print(weight.grad.cpu())
"""
# Before a script: a kernel of the device that subtracts.
WRONG_ADD = """
import torch
planted = torch.library.Library("aten", "IMPL")
planted.impl("add.Tensor", lambda x, y, alpha=1: (x.cpu() - y.cpu()).to("{device}"), "PrivateUse1", allow_override=True)
"""
# A file as PyTorch's tests are: what it makes for the device runs there, each test once per dtype.
TESTS = """
import torch
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, run_tests


class TestClient(TestCase):
    @dtypes(torch.float32, torch.int64)
    def test_there_and_back(self, device, dtype):
        self.assertEqual(torch.arange(3, dtype=dtype).to(device).cpu(), torch.arange(3, dtype=dtype))

    def test_add(self, device):
        x = torch.arange(3.0)
        self.assertEqual((x.to(device) + x.to(device)).cpu(), x + x)

    def test_planted(self, device):
        self.assertEqual(torch.arange(3.0).to(device).cpu(), torch.zeros(3))


instantiate_device_type_tests(TestClient, globals())
if __name__ == "__main__":
    run_tests()
"""
# Named for the sweep, on each client the same: --sample takes each of their variants once.
SUBJECTS = (
    "add sub mul div neg abs exp sqrt tanh eq ne lt gt where clamp maximum sum mean amax argmax cumsum sort mm addmm bmm "
    "matmul softmax log_softmax nn.functional.relu nn.functional.gelu nn.functional.linear nn.functional.layer_norm cat "
    "index_select gather reshape transpose hypot"
)


@dataclass(frozen=True)
class Client:
    """A backend, by its module and its device.

    kernel: an operator with a kernel of its own, as `try` takes it. traced: an expression, the operator whose kernel its trace
    has to show, and the end of the kernel's file. sources: what `new --from` reads.
    """

    name: str
    about: str
    device: str
    module: str
    variables: Callable[[], dict[str, str]]
    kernel: str
    traced: tuple[str, str, str]
    model: str = FORWARD
    operators: tuple[str, ...] = ()  # that `record` has to list
    sources: pathlib.Path | None = None

    def environment(self) -> dict[str, str]:
        """All variables of a tool on this client. No other backend loads."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("OPENREG_GEN_")}
        kept = {name: os.environ[name] for name in ("OPENREG_GEN_DATA",) if name in os.environ}
        return {**inherited, **kept, "OPENREG_GEN_PYTHON": sys.executable, **self.variables()}

    @property
    def words(self) -> list[str]:
        return ["--device", self.device, "--import", self.module]


def _handmade() -> dict[str, str]:
    from handmade import build as handmade

    return {
        name: value
        for name, value in handmade.environment().items()
        if name in ("PYTHONPATH", "HANDMADE_LIBRARY", "TORCH_DEVICE_BACKEND_AUTOLOAD")
    }


def _installed() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT / "generator/workbench"), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


CLIENTS = (
    Client(
        "torchvulkan",
        "a C++ wheel from PyPI, on Mesa's driver for CPUs",
        "vulkan",
        "torchvulkan",
        _installed,
        "relu",
        ("torch.relu(a + b)", "relu", ".cpp"),
        TRAINING,
        ("relu", "_softmax"),
    ),
    Client(
        "tinygrad",
        "kernels in Python, tensors without storage: `tests/workbench/clients/py_kernels`, computed by tinygrad",
        "arrays",
        "py_kernels",
        functools.partial(build.environment, "py_kernels", arrays="tinygrad"),
        "relu",
        ("a @ b", "mm", "py_kernels/kernels.py"),
        TRAINING,
        ("addmm", "relu", "_softmax"),
    ),
    Client(
        "plain_cpp",
        "the plainest C++: seven kernels, no fallback: `tests/workbench/clients/plain_cpp`",
        "plain",
        "plain_cpp",
        functools.partial(build.environment, "plain_cpp"),
        "add.Tensor",
        ("a @ b + a", "mm", "plain_cpp/plain_cpp.cpp"),
        operators=("add.Tensor", "mm"),
        sources=build.FOLDER / "plain_cpp",
    ),
    Client(
        "handmade",
        "C++ with planted faults and the CPU fallback: `tests/workbench/handmade`",
        "handmade",
        "handmade",
        _handmade,
        "hypot",
        ("torch.hypot(a, b)", "hypot.out", "handmade/handmade.cpp"),
        operators=("add.out", "mm.out"),
        sources=build.FOLDER.parent / "handmade",
    ),
)
