"""A backend as vendors write them, for the tests of adopt: `import byhand`. BYHAND_LIBRARY is its compiled part."""

import os
import types

import torch

torch.utils.rename_privateuse1_backend("byhand")
torch.ops.load_library(os.environ["BYHAND_LIBRARY"])

_module = types.ModuleType("byhand.backend")
_module.is_available = lambda: True
_module.device_count = lambda: 2
_module.current_device = lambda: 0
_module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
torch._register_device_module("byhand", _module)

from . import kernels  # noqa: E402, F401
