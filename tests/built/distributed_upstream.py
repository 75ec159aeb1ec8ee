"""What it takes to run PyTorch's own tests of torch.distributed, which ship with PyTorch, on the device of a tree.

They are written for torch.cuda with NCCL, or for the CPU with Gloo. Here CUDA means this device, and NCCL, or Gloo, its
collectives. Of PyTorch, nothing is changed but the modules of those tests, and the processes that run them.
"""

import functools
import importlib.util
import multiprocessing.forkserver
import os
import sys
import types
import zlib
from unittest import mock

import pytest
import torch
import torch.cuda.nccl
import torch.distributed as dist
import torch.multiprocessing as mp
from built import NAME, PACKAGE, ROOT
from distributed_processes import BACKEND
from torch.overrides import TorchFunctionMode
from torch.testing._internal import common_distributed
from torch.utils._pytree import tree_map

SIMULATED = (ROOT / "third_party" / NAME / "src/heap.h").exists()  # it has as many devices as it is asked for
ALL = os.environ.get(f"{NAME.upper()}_DISTRIBUTED") == "all"


def needs_devices(ranks):
    few = not SIMULATED and torch.accelerator.device_count() < ranks
    return pytest.mark.skipif(few, reason=f"{ranks} ranks need a device each")


def sampled(name, of):
    """Whether it runs without NAME_DISTRIBUTED=all, too: about one of so many."""
    return ALL or zlib.crc32(name.encode()) % of == 0


class Alias(str):
    """The name of our collectives, which equals another's too: PyTorch's tests choose by it what they run."""

    __slots__ = ("other",)

    def __eq__(self, other):
        return other in (str(self), self.other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.other)


class AsCuda(TorchFunctionMode):
    """Tensors that are made on a CUDA device, or moved to one, go to this device."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            func, args = torch.Tensor.to, (args[0], _cuda(args[1] if len(args) > 1 else kwargs.pop("device", None)))
        return func(*tree_map(_ours, args), **tree_map(_ours, kwargs))


def _cuda(device):
    """A device as Tensor.cuda() takes it."""
    if isinstance(device, (list, tuple)):
        (device,) = device
    if device is None:
        device = torch.accelerator.current_device_index()
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device)


def _ours(value):
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device(NAME) if value.index is None else torch.device(NAME, value.index)
    if isinstance(value, str) and value.partition(":")[0] == "cuda":
        return NAME + value[len("cuda") :]
    return value


class Torch(types.ModuleType):
    """torch, of which `cuda` is our device."""

    def __getattr__(self, name):
        return getattr(torch, name)


class Cuda(types.ModuleType):
    def __getattr__(self, name):
        return getattr(torch.get_device_module(NAME), name, None) or getattr(torch.cuda, name)


def load_as(other, ranks):
    """PyTorch's distributed_test.py for our collectives in the place of others; which tests it has is decided at the import."""
    found = importlib.util.find_spec("torch.testing._internal.distributed.distributed_test")
    spec = importlib.util.spec_from_file_location(f"distributed_test_as_{other}", found.origin)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with (
        mock.patch.dict(os.environ, BACKEND=other, WORLD_SIZE=str(ranks)),
        mock.patch.object(dist, "is_nccl_available", lambda: True),
        mock.patch.object(torch.cuda.nccl, "version", lambda: (99,)),
    ):
        spec.loader.exec_module(module)
    module.torch = common_distributed.torch = Torch("torch")
    module.torch.cuda = Cuda("torch.cuda")
    common_distributed.TEST_CUDA = True
    module.BACKEND = Alias(BACKEND)
    module.BACKEND.other = other
    kinds = torch.autograd.DeviceType
    module.DeviceType = types.SimpleNamespace(CUDA=kinds.PrivateUse1, CPU=kinds.CPU, XPU=kinds.XPU)
    return module


class Processes:
    """A MultiProcessTestCase whose ranks are copies of a process that has imported what they need."""

    environment = {}
    preload = (PACKAGE, __name__)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = os.path.dirname(os.path.abspath(__file__))
        path = os.pathsep.join(filter(None, (folder, str(ROOT / "tests"), os.environ.get("PYTHONPATH"))))
        cls.patch = mock.patch.dict(os.environ, {**cls.environment, "PYTHONPATH": path})
        cls.patch.start()
        multiprocessing.forkserver._forkserver._stop()  # another file's may run, with other settings

    @classmethod
    def tearDownClass(cls):
        multiprocessing.forkserver._forkserver._stop()
        cls.patch.stop()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self._spawn_processes()

    def _spawn_processes(self):
        context = mp.get_context("forkserver")
        context.set_forkserver_preload([*self.preload, type(self).__module__])

        def process(target, name, args, kwargs):
            return context.Process(target=_rank, name=name, args=(dict(os.environ), target, args, kwargs))

        if not self.processes:
            self._start_processes(process)


def _rank(settings, target, args, kwargs):
    os.environ.update(settings)
    torch.set_num_threads(1)
    torch.accelerator.set_device_index(args[0] % torch.accelerator.device_count())
    dist.new_group = _with_our_backend(dist.new_group)
    target(*args, **kwargs)


def _with_our_backend(new_group):
    @functools.wraps(new_group)
    def call(*args, **kwargs):
        if kwargs.get("backend") == "nccl":
            kwargs["backend"] = BACKEND
        return new_group(*args, **kwargs)

    return call
