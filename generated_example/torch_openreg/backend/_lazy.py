# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""First use of the device, and fork().

Importing the package uses no device, so a process may import it and fork. A child of a process that has used one
can't: it has its parent's memory, but neither its threads nor its connection to the driver.
"""

from .. import _C


def init() -> None:
    """Declare first use of the device; repeated calls do nothing. Tensors and streams call it automatically.

    Raises:
        RuntimeError: there is no device, or this process was forked from one that has used it.
    """
    _lazy_init()


def is_initialized() -> bool:
    """Whether this process has used a device."""
    return _C._is_initialized()


def _is_in_bad_fork() -> bool:
    """Whether this is a forked child whose parent had used a device. torch.manual_seed asks, in DataLoader workers."""
    return _C._is_in_bad_fork()


def _lazy_init() -> None:
    """Called by PyTorch before it creates the first tensor from Python."""
    if _is_in_bad_fork():
        raise RuntimeError(
            "Cannot re-initialize OpenReg in forked subprocess. "
            "To use OpenReg with multiprocessing, you must use the 'spawn' start method",
        )
    _C._init()
