# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""The Autoload entry point. It imports nothing of PyTorch: `import torch` calls it before either package is complete.

PyTorch has room for one backend of this kind per process. If several are installed, `import torch` loads the first that it
finds, and the others stay out. TORCH_DEVICE_BACKEND names the device to load; so does importing its package before torch.
"""

import os
import sys
import warnings
from importlib import metadata


def _autoload() -> None:
    """Called at the end of `import torch`, unless TORCH_DEVICE_BACKEND_AUTOLOAD=0.

    Importing torch_openreg is what registers the device, and torch did that to find this function. If
    torch_openreg was imported first, its `import torch` led here, and it registers the device right after.
    So there is nothing left to do, however often it is called.
    """
    if f"{__package__}._load" not in sys.modules:
        del sys.modules[__package__]  # it stayed out: a later `import torch_openreg` tries again


def _taken() -> str:
    """Why PyTorch has no room for this backend; "" if it has."""
    torch = sys.modules["torch"]
    name = torch._C._get_privateuse1_backend_name()
    if name == "privateuseone" or f"{__package__}._C" in sys.modules:
        return ""
    other = getattr(getattr(torch, name, None), "__name__", "another package").partition(".")[0]
    return (
        f"torch_openreg was not loaded: {other} has registered device '{name}', and a process can have one such backend.\n"
        f"To choose, set TORCH_DEVICE_BACKEND to openreg or {name}, or import the package before torch. Or uninstall one, or"
        " set TORCH_DEVICE_BACKEND_AUTOLOAD=0: then `import torch` loads neither."
    )


def _chosen() -> bool:
    """Decides whether this import of the package loads the device."""
    if sys.argv[:1] == ["-m"] and "torch_openreg.diagnose" in sys.orig_argv:
        return False  # `python -m torch_openreg.diagnose` imports the package before it says why that can't be
    torch = sys.modules.get("torch")
    if torch is None:  # other backends and child processes go by the variable
        os.environ["TORCH_DEVICE_BACKEND"] = "openreg"
    if torch is None or not torch.__spec__._initializing:
        return True  # imported by its name: it is loaded, or the user learns why it can't be
    chosen = os.environ.get("TORCH_DEVICE_BACKEND")
    if chosen != "openreg" and chosen in metadata.entry_points(group="torch.backends").names:
        return False
    taken = _taken()
    if taken:
        warnings.warn(taken, stacklevel=2)
    return not taken
