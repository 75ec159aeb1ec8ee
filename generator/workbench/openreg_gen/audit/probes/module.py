"""torch.NAME: the functions that PyTorch calls by name."""

import functools
from types import ModuleType
from typing import Any

import torch

from ...device import module
from ..probe import Probe
from .common import accelerator, expect

GROUP = "torch.NAME"


def _module(kind: str) -> ModuleType:
    accelerator(kind)
    found = module(kind)
    if found is None:
        raise NotImplementedError(f"no module torch.{kind}: torch._register_device_module('{kind}', ...)")
    return found


def _has(kind: str, *names: str) -> ModuleType:
    found = _module(kind)
    lacking = [name for name in names if not hasattr(found, name)]
    if lacking:
        raise NotImplementedError(f"torch.{kind} has no attribute {', '.join(lacking)}")
    return found


def registered(kind: str) -> str:
    found = _module(kind)  # PyTorch takes any object; only a module has a name
    return str(getattr(found, "__name__", type(found).__qualname__))


def _call(kind: str, *, name: str, at_least: int | None = None) -> str:
    value: Any = getattr(_has(kind, name), name)()
    if at_least is not None:
        expect(value >= at_least, f"{value}")
    return str(value)


def set_device(kind: str) -> str:
    found = _has(kind, "set_device", "current_device")
    found.set_device(0)
    expect(found.current_device() == 0, f"current_device() is {found.current_device()} after set_device(0)")
    return "device 0"


def device_context(kind: str) -> str:
    found = _has(kind, "device")
    with found.device(0):
        torch.empty(1, device=kind)
    return "done"


def random_states(kind: str) -> str:
    found = _has(kind, "get_rng_state", "set_rng_state")
    state = found.get_rng_state()
    found.set_rng_state(state)
    return f"{state.numel()} bytes"


def seeds(kind: str) -> str:
    _has(kind, "manual_seed_all").manual_seed_all(1)
    return "done"


def streams(kind: str) -> str:
    found = _has(kind, "Stream", "Event", "current_stream", "stream")
    stream = found.Stream()
    with found.stream(stream):
        pass
    found.current_stream()
    return "Stream, Event, current_stream, stream"


def amp_dtypes(kind: str) -> str:
    dtypes = _has(kind, "get_amp_supported_dtype").get_amp_supported_dtype()
    expect(len(dtypes) > 0, "no dtypes")
    return ", ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)


def _function(name: str, needs: str, at_least: int | None = None) -> Probe:
    call = functools.partial(_call, name=name, at_least=at_least)
    return Probe(GROUP, f"torch.NAME.{name}()", call, needs, f"torch.NAME.{name}")


def probes() -> tuple[Probe, ...]:
    return (
        Probe(GROUP, "torch.NAME", registered, "whatever PyTorch calls by name", "torch._register_device_module()"),
        _function("is_available", "torch.save, torch.compile", 1),
        _function("device_count", "torch.load", 1),
        _function("current_device", "torch.load, FSDP"),
        Probe(GROUP, "torch.NAME.set_device()", set_device, "distributed training", "torch.NAME.set_device"),
        Probe(GROUP, "with torch.NAME.device(0):", device_context, "activation checkpointing", "torch.NAME.device"),
        _function("synchronize", "FSDP, benchmarks"),
        _function("_is_in_bad_fork", "torch.manual_seed"),
        Probe(GROUP, "torch.NAME.manual_seed_all()", seeds, "torch.manual_seed", "torch.NAME.manual_seed_all"),
        Probe(
            GROUP,
            "torch.NAME.get_rng_state(), set_rng_state()",
            random_states,
            "fork_rng, activation checkpointing, DTensor",
            "torch.NAME.get_rng_state, set_rng_state",
        ),
        Probe(GROUP, "torch.NAME.Stream, Event, stream()", streams, "FSDP, pipelines", "torch.NAME.Stream, Event, ..."),
        Probe(
            GROUP,
            "torch.NAME.get_amp_supported_dtype()",
            amp_dtypes,
            "torch.autocast",
            "torch.NAME.get_amp_supported_dtype",
        ),
    )
