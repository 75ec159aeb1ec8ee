# Shared with openreg-gen: yours to edit; `backend` in the spec changes what is rendered.
"""PyTorch on device "lessons".

Importing this package, or `import torch` where it is installed, registers the device:

    import torch
    x = torch.ones(2, 3, device="lessons")

Device functions are in `torch.lessons` (the module torch_lessons.backend).
"""

from ._entry import _autoload, _chosen  # first: what follows imports torch, which may call it

__version__ = "0.1.0"
__all__ = ["__version__", "_autoload", "backend"]

if _chosen():
    from . import _release

    with _release.checked():
        from ._load import backend
