# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
"""Sharing tensors between processes.

torch.multiprocessing sends a tensor as its storage and what the view is like. PyTorch knows how to send storages of the
CPU and of CUDA; here is how storages of openreg are sent: not copied, but shared, and received as the same memory.
"""

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from .. import _C
from ._lazy import _lazy_init, is_initialized


def ipc_collect() -> None:
    """Release the memory of shared storages that are dead here and that no other process uses any more.

    It is looked at also when a storage is shared or dies, by empty_cache(), and before memory runs out.
    """
    if is_initialized():
        _C._ipc_collect()


def _reduce_storage(storage: torch.UntypedStorage) -> tuple[Any, ...]:
    """Pickled in place of a storage, on its way to another process."""
    if storage.device.type != "openreg":
        return reductions.reduce_storage(storage)
    if storage.nbytes() == 0:
        return _rebuild_empty_storage, (storage.device.index,)
    return _rebuild_storage, (_C._ipc_share(storage),)


def _rebuild_storage(message: bytes) -> torch.UntypedStorage:
    _lazy_init()
    return _C._ipc_open(message)


def _rebuild_empty_storage(index: int) -> torch.UntypedStorage:
    return torch.UntypedStorage(0, device=torch.device("openreg", index))


def _register() -> None:
    """Replaces PyTorch's reduction of storages, which only knows the CPU; tensors are sent as their storages."""
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)
