"""The backend of kernels.py: `--device arrays --import py_kernels`. CLIENT_LIBRARY is the library of opaque.cpp, if there is one;
CLIENT_ARRAYS the array library that computes: numpy, or tinygrad."""

import importlib
import importlib.machinery
import importlib.util
import os

import torch


class _Device:
    """What torch.arrays has."""

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def is_initialized(self) -> bool:
        return True


class _Hooks(torch._C._acc.PrivateUse1Hooks):
    """What autograd's engine asks before a backward pass."""

    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index) -> bool:
        return True

    def is_built(self) -> bool:
        return True


_hooks = _Hooks()


def _with_library(path: str):
    loader = importlib.machinery.ExtensionFileLoader("py_kernels_C", path)
    opaque = importlib.util.module_from_spec(importlib.util.spec_from_loader("py_kernels_C", loader))
    loader.exec_module(opaque)
    torch.utils.rename_privateuse1_backend("arrays")
    torch._register_device_module("arrays", _Device())
    torch.utils.generate_methods_for_privateuse1_backend()
    torch._C._acc.register_python_privateuseone_hook(_hooks)
    return opaque


def _without_library():
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    from . import empty

    _setup_privateuseone_for_python_backend("arrays", backend_module=_Device(), hook=_hooks)
    return empty


_path = os.environ.get("CLIENT_LIBRARY")
opaque = _with_library(_path) if _path else _without_library()
arrays = importlib.import_module(f".{os.environ.get('CLIENT_ARRAYS') or 'numpy'}_arrays", __name__)

from . import kernels  # noqa: E402, F401  (registers them, which needs the device's name)

# Backward passes run in the thread that asks for them. A thread of autograd's frees its last tensors after backward() has returned,
# and their Python parts with them: if the interpreter ends meanwhile, Python 3.11 ends that thread inside a C++ destructor, which
# aborts the process ("terminate called without an active exception").
torch.autograd.set_multithreading_enabled(False)
