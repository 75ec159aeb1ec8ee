"""Random numbers and autocast."""

import torch

from ..dispatcher import registrations
from ..probe import Probe
from .common import accelerator, expect, same


def new_generator(kind: str) -> str:
    made = torch.Generator(device=kind)
    expect(made.device.type == kind, f"a generator on {made.device}")
    return str(made.device)


def generator_seed(kind: str) -> str:
    made = torch.Generator(device=kind)
    made.manual_seed(12)
    expect(made.initial_seed() == 12, f"initial_seed() is {made.initial_seed()} after manual_seed(12)")
    return "done"


def draws(kind: str) -> str:
    made = torch.Generator(device=kind)
    first, again = (torch.rand(4, device=kind, generator=made.manual_seed(7)) for _ in range(2))
    same(again, first.cpu(), "another draw with the same seed")
    return "the same for one seed"


def generator_state(kind: str) -> str:
    made = torch.Generator(device=kind).manual_seed(3)
    state = made.get_state()
    first = torch.rand(4, device=kind, generator=made)
    made.set_state(state)
    same(torch.rand(4, device=kind, generator=made), first.cpu(), "drawn again after set_state()")
    return f"{state.numel()} bytes"


def clone_generator(kind: str) -> str:
    made = torch.Generator(device=kind).manual_seed(3)
    copy = made.clone_state()
    same(torch.rand(4, device=kind, generator=copy), torch.rand(4, device=kind, generator=made).cpu(), "of the clone")
    return "done"


def global_seed(kind: str) -> str:
    torch.manual_seed(5)
    first = torch.rand(4, device=kind)
    torch.manual_seed(5)
    same(torch.rand(4, device=kind), first.cpu(), "drawn after the same torch.manual_seed(5)")
    return "the same for one seed"


def fork_rng(kind: str) -> str:
    accelerator(kind)
    torch.manual_seed(5)
    with torch.random.fork_rng(devices=[0], device_type=kind):
        first = torch.rand(4, device=kind)
    same(torch.rand(4, device=kind), first.cpu(), "drawn after the block")
    return "done"


def dropout(kind: str) -> str:
    dropped = torch.nn.functional.dropout(torch.ones(1000, device=kind), 0.5, training=True).cpu()
    zeros = int((dropped == 0).sum())
    expect(300 < zeros < 700, f"{zeros} of 1000 are zero with p = 0.5")
    return "done"


def autocast_available(kind: str) -> str:
    expect(torch.amp.is_autocast_available(kind), "False")
    return "True"


def autocast_dtype(kind: str) -> str:
    return str(torch.get_autocast_dtype(kind))


def autocast_registrations(kind: str) -> str:
    accelerator(kind)
    found = registrations(kind, ["aten::mm", "aten::conv2d", "aten::linear", "aten::softmax.int"])
    count = sum(each.key.startswith("Autocast") for each in found)
    if count == 0:
        raise NotImplementedError("no kernel is registered at AutocastPrivateUse1 for mm, conv2d, linear or softmax")
    return f"{count} of mm, conv2d, linear, softmax"


def autocast(kind: str) -> str:
    a = torch.ones(4, 4, device=kind)
    with torch.autocast(kind):
        wanted = torch.get_autocast_dtype(kind)
        given = torch.mm(a, a).dtype
    expect(given == wanted, f"mm gives {given} in a block of {wanted}")
    return str(given)


def scaler(kind: str) -> str:
    scale = torch.amp.GradScaler(kind, init_scale=2.0)
    parameter = torch.ones(2, device=kind, requires_grad=True)
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scale.scale((parameter * 3).sum()).backward()
    scale.step(optimizer)
    scale.update()
    same(parameter, torch.tensor([-2.0, -2.0]), "the parameter after one step")
    return "done"


def probes() -> tuple[Probe, ...]:
    generator = "random numbers"
    hooks = "at::PrivateUse1HooksInterface"
    return (
        Probe(generator, "torch.Generator(device)", new_generator, "seeds of one's own", f"{hooks}::getNewGenerator"),
        Probe(generator, "Generator.manual_seed()", generator_seed, "seeds of one's own", "c10::GeneratorImpl"),
        Probe(generator, "torch.rand(device, generator=)", draws, "random numbers", "the operator uniform_"),
        Probe(
            generator, "Generator.get_state(), set_state()", generator_state, "checkpoints", "GeneratorImpl::set_state"
        ),
        Probe(generator, "Generator.clone_state()", clone_generator, "graphs, dropout", "GeneratorImpl::clone_impl"),
        Probe(
            generator,
            "torch.manual_seed()",
            global_seed,
            "results that can be repeated",
            "torch.NAME._is_in_bad_fork, manual_seed_all",
        ),
        Probe(
            generator,
            "torch.random.fork_rng()",
            fork_rng,
            "activation checkpointing",
            "torch.NAME.get_rng_state, set_rng_state",
        ),
        Probe(
            generator, "torch.nn.functional.dropout()", dropout, "training", "the operator native_dropout or bernoulli_"
        ),
        Probe(
            "autocast",
            "torch.amp.is_autocast_available()",
            autocast_available,
            "mixed precision",
            "PyTorch's own answer",
        ),
        Probe("autocast", "torch.get_autocast_dtype()", autocast_dtype, "mixed precision", "PyTorch's own answer"),
        Probe(
            "autocast",
            "kernels at AutocastPrivateUse1",
            autocast_registrations,
            "mixed precision",
            "TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m)",
        ),
        Probe("autocast", "torch.autocast(device)", autocast, "mixed precision", "torch.NAME.get_amp_supported_dtype"),
        Probe(
            "autocast",
            "torch.amp.GradScaler(device)",
            scaler,
            "training in float16",
            "_amp_foreach_non_finite_check_and_unscale_",
        ),
    )
