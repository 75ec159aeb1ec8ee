# Written by openreg-gen 0.1.0 from openreg.yaml.
# Shared: rendered, then yours to edit; `backend` in the spec changes what is rendered.
"""PyTorch on device "openreg".

Importing this package, or `import torch` where it is installed, registers the device:

    import torch
    x = torch.ones(2, 3, device="openreg")

Device functions are in `torch.openreg` (the module torch_openreg.backend).
"""

from ._entry import _autoload  # first: the next line may call it

import torch

from . import _C, backend

__version__ = "0.1.0"
__all__ = ["__version__", "_autoload", "backend"]

# Loading _C registered guard, hooks, allocators and kernels. What is left is Python's side: the device's name, the
# methods x.openreg() and x.is_openreg of tensors, modules and storages, and the module torch.openreg.
assert _C is not None
torch.utils.rename_privateuse1_backend("openreg")
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
backend._register()

from . import custom_ops as custom_ops  # noqa: E402  (its operators belong to the device, which has a name only now)
