"""All probes, in the order in which a report shows them."""

from ..probe import Probe
from . import compiling, devices, distributed, memory, module, numerics, tensors


def all_probes() -> tuple[Probe, ...]:
    return (
        *devices.probes(),
        *memory.probes(),
        *numerics.probes(),
        *tensors.probes(),
        *module.probes(),
        *compiling.probes(),
        *distributed.probes(),
    )
