# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
"""torch.distributed on the device: its backend is "openregccl". docs/distributed.md is its page."""

import sys
from typing import Any

import torch.distributed as dist

from . import _C

BACKEND = "openregccl"


def register() -> None:
    """Make the backend known to init_process_group(), if PyTorch has torch.distributed."""
    if dist.is_available():
        dist.Backend.register_backend(BACKEND, _create, extended_api=True, devices=["openreg"])


def _create(options: Any, _: object) -> Any:
    """A process group's part for the device. Each rank calls it, and waits for the others."""
    if not dist.is_gloo_available():
        raise RuntimeError(f"{BACKEND} moves bytes by PyTorch's Gloo, which this PyTorch was built without")
    ranks = options.global_ranks_in_group or list(range(options.group_size))
    gloo = dist.ProcessGroupGloo(options.store, options.group_rank, options.group_size, options.timeout)
    gloo.options.global_ranks_in_group = ranks  # which its split() looks at
    _be_the_default(sys._getframe(1).f_locals.get("pg"))
    return _C._new_process_group(
        options.store,
        options.group_rank,
        options.group_size,
        options.timeout,
        gloo,
        options.group_id,
        ranks,
    )


def _be_the_default(group: object) -> None:
    """Make this backend the one that the group reports, as NCCL is for "cpu:gloo,cuda:nccl".

    PyTorch 2.13 sets it for backends of its own, and for one that is asked for by its bare name. Otherwise the group's default stays
    one that it has not, and DistributedDataParallel, which asks for its name, fails. No argument has the group: PyTorch's
    function that is making it does, and calls this module.
    """
    if isinstance(group, dist.ProcessGroup):
        group._set_default_backend(dist.ProcessGroup.BackendType.CUSTOM)
