# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Registers the device. Importing this loads the libraries."""

import atexit

import torch

from ._entry import _taken

if taken := _taken():
    raise ImportError(taken)

from . import _C, _patches, _distributed, _inductor, backend  # noqa: E402

# Loading _C registered guard, hooks, allocators and kernels. Now the Python side follows: the device's name, the
# methods x.openreg() and x.is_openreg of tensors, modules and storages, and the module torch.openreg.
assert _C is not None
torch.utils.rename_privateuse1_backend("openreg")
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
backend._register()
_patches.register()
atexit.register(_C._wait_for_autograd)
_C._register_graphs()  # by the device's name, too
_inductor.register()
_distributed.register()

from . import custom_ops as custom_ops  # noqa: E402  (its operators belong to the device, which has a name only now)
