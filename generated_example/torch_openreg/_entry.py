# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""The Autoload entry point. It imports nothing of PyTorch: `import torch` calls it before either package is complete."""

import sys


def _autoload() -> None:
    """What `import torch` calls at its end, unless TORCH_DEVICE_BACKEND_AUTOLOAD=0.

    Importing torch_openreg is what registers the device, and torch did that to find this function. If
    torch_openreg was imported first, its `import torch` led here, and it registers the device right after.
    So there is nothing left to do, however often it is called.
    """


def _diagnosing() -> bool:
    """Whether this is `python -m torch_openreg.diagnose`, which imports the package before it says why that can't be."""
    return sys.argv[:1] == ["-m"] and "torch_openreg.diagnose" in sys.orig_argv
