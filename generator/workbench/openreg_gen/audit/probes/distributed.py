"""torch.distributed: the device's process group, with one process."""

from typing import Any

import torch
import torch.distributed as dist

from ...collectives import library_of
from ..probe import Inapplicable, Probe
from .common import expect, ramp, same

GROUP = "torch.distributed"


def _available() -> None:
    if not dist.is_available():
        raise Inapplicable("this PyTorch was built without torch.distributed")


def _store() -> Any:
    """In this process's memory: there is one process."""
    from torch._C._distributed_c10d import HashStore

    return HashStore()


def backend_name(kind: str) -> str:
    _available()
    name, why = library_of(kind)
    if name is None:
        raise NotImplementedError(why)
    return name


def group(kind: str) -> str:
    name = backend_name(kind)
    dist.init_process_group(f"{kind}:{name}", store=_store(), rank=0, world_size=1)
    try:
        x = ramp(kind)
        dist.all_reduce(x)
        same(x, torch.arange(6.0), "all_reduce of one process")
        dist.barrier()
    finally:
        dist.destroy_process_group()
    return name


def mesh(kind: str) -> str:
    from torch.distributed.device_mesh import init_device_mesh

    name = backend_name(kind)
    dist.init_process_group(f"{kind}:{name}", store=_store(), rank=0, world_size=1)
    try:
        made = init_device_mesh(kind, (1,))
        expect(made.device_type == kind, f"a mesh on {made.device_type}")
    finally:
        dist.destroy_process_group()
    return "done"


def probes() -> tuple[Probe, ...]:
    register = "torch.distributed.Backend.register_backend()"
    return (
        Probe(GROUP, "the device's backend", backend_name, "distributed training", register),
        Probe(GROUP, "init_process_group(), all_reduce()", group, "distributed training", register),
        Probe(GROUP, "init_device_mesh()", mesh, "FSDP, DTensor", "torch.NAME.set_device; a process group"),
    )
