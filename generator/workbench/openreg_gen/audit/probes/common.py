"""What probes have in common."""

import torch

from ..probe import Inapplicable, Wrong


def accelerator(kind: str) -> None:
    """Raise Inapplicable for the CPU: it does not have hooks, a device guard or streams."""
    if kind == "cpu":
        raise Inapplicable("the CPU is not an accelerator")


def expect(condition: bool, otherwise: str) -> None:
    """Raise Wrong, with what was seen, unless a condition holds."""
    if not condition:
        raise Wrong(otherwise)


def ramp(kind: str, count: int = 6) -> torch.Tensor:
    """0, 1, 2, ... in float32 on the device, by a copy from the CPU."""
    return torch.arange(count, dtype=torch.float32).to(kind)


def same(given: torch.Tensor | None, wanted: torch.Tensor, what: str) -> None:
    """Raise Wrong unless both hold the same values; compared on the CPU."""
    if given is None:
        raise Wrong(f"{what}: there is none")
    on_cpu = given.detach().cpu()
    expect(torch.equal(on_cpu, wanted.detach().cpu()), f"{what}: {on_cpu.tolist()} instead of {wanted.tolist()}")
