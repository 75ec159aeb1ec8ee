"""The backend of plain_cpp.cpp: `--device plain --import plain_cpp`."""

import importlib.machinery
import importlib.util
import os

import torch

_loader = importlib.machinery.ExtensionFileLoader("plain_cpp_C", os.environ["CLIENT_LIBRARY"])
_C = importlib.util.module_from_spec(importlib.util.spec_from_loader("plain_cpp_C", _loader))
_loader.exec_module(_C)


class _Device:
    """What torch.plain has."""

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def allocated(self) -> int:
        return _C.allocated()


torch.utils.rename_privateuse1_backend("plain")
torch._register_device_module("plain", _Device())
