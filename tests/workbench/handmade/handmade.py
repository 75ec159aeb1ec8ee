"""The backend of handmade.cpp as a Python module: `--device handmade --import handmade`. HANDMADE_LIBRARY is its library."""

import os
import types

import torch

torch.utils.rename_privateuse1_backend("handmade")
torch.ops.load_library(os.environ["HANDMADE_LIBRARY"])

_module = types.ModuleType("handmade.backend")
_module.is_available = lambda: True
_module.device_count = lambda: 1
_module.current_device = lambda: 0
torch._register_device_module("handmade", _module)
