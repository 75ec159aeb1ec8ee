"""torch.compile: Dynamo's interface of the device, Inductor's backend, and a function that is traced."""

import torch

from ..probe import Probe
from .common import accelerator, expect, ramp, same

GROUP = "torch.compile"


def dynamo(kind: str) -> str:
    from torch._dynamo.device_interface import get_interface_for_device

    return str(get_interface_for_device(kind).__name__)


def inductor(kind: str) -> str:
    from torch._inductor.codegen.common import (
        get_scheduling_for_device,
        get_wrapper_codegen_for_device,
        init_backend_registration,
    )

    init_backend_registration()
    scheduling = get_scheduling_for_device(kind)
    if scheduling is None or get_wrapper_codegen_for_device(kind) is None:
        raise NotImplementedError(f"no scheduling is registered for {kind}: register_backend_for_device()")
    getattr(scheduling, "get_backend_features", None)  # an object that only says what is missing raises that here
    return str(getattr(scheduling, "__name__", scheduling))


def traced(kind: str, *, backend: str) -> str:
    x = ramp(kind)
    result = torch.compile(lambda value: value * 2 + 1, backend=backend)(x)
    same(result, torch.arange(6.0) * 2 + 1, f"compiled with {backend}")
    return "done"


def eager(kind: str) -> str:
    return traced(kind, backend="eager")


def aot(kind: str) -> str:
    return traced(kind, backend="aot_eager")


def fake(kind: str) -> str:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        made = torch.empty(2, 2, device=kind) @ torch.empty(2, 2, device=kind)
    expect(made.device.type == kind, f"a fake tensor on {made.device}")
    return "done"


def exported(kind: str) -> str:
    accelerator(kind)

    class Twice(torch.nn.Module):
        def forward(self, value: torch.Tensor) -> torch.Tensor:
            return value * 2

    program = torch.export.export(Twice(), (ramp(kind),))
    same(program.module()(ramp(kind)), torch.arange(6.0) * 2, "the exported program")
    return "done"


def probes() -> tuple[Probe, ...]:
    return (
        Probe(GROUP, "FakeTensorMode", fake, "torch.compile, torch.export", "a device guard"),
        Probe(
            GROUP,
            "Dynamo's device interface",
            dynamo,
            "torch.compile",
            "torch._dynamo.device_interface.register_interface_for_device()",
        ),
        Probe(GROUP, "torch.compile(backend='eager')", eager, "torch.compile", "Dynamo's device interface"),
        Probe(
            GROUP, "torch.compile(backend='aot_eager')", aot, "torch.compile", "the hooks; Dynamo's device interface"
        ),
        Probe(GROUP, "torch.export.export()", exported, "deployment", "Dynamo's device interface"),
        Probe(
            GROUP,
            "Inductor's backend",
            inductor,
            "torch.compile with its default backend",
            "torch._inductor.codegen.common.register_backend_for_device()",
        ),
    )
