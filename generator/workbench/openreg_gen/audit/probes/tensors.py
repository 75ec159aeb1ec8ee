"""Tensors: copies, views, printing, files, and what else PyTorch does with any tensor."""

import copy
import io
import os
import pickle
import signal
import time

from typing import Any

import torch

from ..probe import Inapplicable, Probe
from .common import accelerator, expect, ramp, same

COPIES, FILES, OTHERS = "copies and views", "files", "processes and others"


def there_and_back(kind: str) -> str:
    same(ramp(kind), torch.arange(6.0), "copied there and back")
    return "done"


def strided(kind: str) -> str:
    source = torch.arange(12.0).view(3, 4).t()
    same(source.to(kind), source, "a transposed tensor, copied")
    return "done"


def converted(kind: str) -> str:
    same(ramp(kind).to(torch.int64), torch.arange(6), "converted to int64")
    return "done"


def background(kind: str) -> str:
    accelerator(kind)
    moved = torch.arange(6.0).to(kind, non_blocking=True)
    torch.accelerator.synchronize()
    same(moved, torch.arange(6.0), "copied without waiting")
    return "done"


def views(kind: str) -> str:
    x = ramp(kind)
    same(x.view(2, 3).t()[1:].unsqueeze(0), torch.arange(6.0).view(2, 3).t()[1:].unsqueeze(0), "view, t, slice")
    expect(x.view(2, 3)._base is not None or x.view(2, 3).data_ptr() == x.data_ptr(), "view() copies")
    return "done"


def item(kind: str) -> str:
    value = ramp(kind)[3].item()
    expect(value == 3.0, f"{value} instead of 3.0")
    return "done"


def printed(kind: str) -> str:
    text = repr(ramp(kind))
    expect(kind in text or kind == "cpu", text)
    return text


def boolean(kind: str) -> str:
    picked = ramp(kind)[torch.tensor([True, False] * 3).to(kind)]
    same(picked, torch.tensor([0.0, 2.0, 4.0]), "picked by a mask")
    return "done"


def deep(kind: str) -> str:
    x = ramp(kind)
    twin = copy.deepcopy(x)
    expect(twin.device == x.device, f"the copy is on {twin.device}")
    same(twin, torch.arange(6.0), "copied")
    twin.copy_(torch.zeros(6))  # an address says nothing of tensors without memory of their own
    same(x, torch.arange(6.0), "the original after a write to its copy")
    return "done"


def module_to(kind: str) -> str:
    layer = torch.nn.Linear(2, 2).to(kind)
    expect(all(each.device.type == kind for each in layer.parameters()), "parameters stay where they were")
    return "done"


def named_methods(kind: str) -> str:
    accelerator(kind)
    moved = getattr(torch.arange(6.0), kind)()
    expect(moved.device.type == kind, f"Tensor.{kind}() gives a tensor on {moved.device}")
    expect(getattr(moved, f"is_{kind}"), f"Tensor.is_{kind} is False")
    getattr(torch.nn.Linear(2, 2), kind)()
    return f"Tensor.{kind}(), Tensor.is_{kind}, Module.{kind}()"


def saved(kind: str, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(ramp(kind), file)
    file.seek(0)
    return torch.load(file, **options)


def save(kind: str) -> str:
    loaded = saved(kind)
    expect(loaded.device.type == kind, f"it comes back on {loaded.device}")
    same(loaded, torch.arange(6.0), "saved and loaded")
    return "done"


def load_on_cpu(kind: str) -> str:
    loaded = saved(kind, map_location="cpu")
    expect(loaded.device.type == "cpu", f"it comes back on {loaded.device}")
    same(loaded, torch.arange(6.0), "loaded on the CPU")
    return "done"


def load_from_cpu(kind: str) -> str:
    loaded = saved("cpu", map_location=kind)
    expect(loaded.device.type == kind, f"it comes back on {loaded.device}")
    same(loaded, torch.arange(6.0), "loaded from the CPU")
    return "done"


def pickled(kind: str) -> str:
    loaded = pickle.loads(pickle.dumps(ramp(kind)))
    same(loaded, torch.arange(6.0), "pickled")
    return f"on {loaded.device}"


def dlpack(kind: str) -> str:
    from torch.utils.dlpack import from_dlpack

    twin = from_dlpack(ramp(kind))
    expect(twin.device.type == kind, f"it comes back on {twin.device}")
    same(twin, torch.arange(6.0), "by way of DLPack")
    return "done"


def storage(kind: str) -> str:
    made = ramp(kind).untyped_storage()
    expect(made.device.type == kind and made.nbytes() == 24, f"{made.nbytes()} bytes on {made.device}")
    clone = made.clone()
    expect(clone.device.type == kind, f"a clone on {clone.device}")
    return "done"


def default_device(kind: str) -> str:
    with torch.device(kind):
        made = torch.ones(2)
    expect(made.device.type == kind, f"a tensor on {made.device}")
    return "done"


def checkpoint(kind: str) -> str:
    from torch.utils.checkpoint import checkpoint as run

    x = ramp(kind).requires_grad_()
    run(lambda value: (value * value).sum(), x, use_reentrant=False).backward()
    same(x.grad, 2 * torch.arange(6.0), "the gradient")
    return "done"


def optimizer(kind: str) -> str:
    weight = torch.ones(3, device=kind, requires_grad=True)
    step = torch.optim.AdamW([weight], lr=0.1)
    weight.sum().backward()
    step.step()
    expect(bool((weight.detach().cpu() < 1).all()), "the parameters did not change")
    return "done"


def profiler(kind: str) -> str:
    accelerator(kind)
    from torch.profiler import ProfilerActivity, profile, supported_activities

    if ProfilerActivity.PrivateUse1 not in supported_activities():
        raise NotImplementedError("torch.profiler.supported_activities() lacks PrivateUse1")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as events:
        ramp(kind)  # a copy, which every backend has
    return f"{len(events.events())} events"


def _wait(child: int, what: str) -> str:
    """How a forked child ended. It has 20 seconds: a device that is not usable there must say so."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            expect(code >= 0, f"{what}: the child dies of {signal.Signals(-code).name if code < 0 else code}")
            return "the child can use the device" if code == 0 else "the child gets an error"
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    expect(False, f"{what}: the child hangs")
    return ""


def forked(kind: str) -> str:
    if not hasattr(os, "fork"):
        raise Inapplicable("this system does not fork")
    ramp(kind)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            ramp(kind).cpu()
            code = 0
        finally:
            os._exit(code)
    return _wait(child, "after the parent used the device")


def probes() -> tuple[Probe, ...]:
    copies = "the operators _copy_from, empty_strided"
    return (
        Probe(COPIES, "Tensor.to(device), cpu()", there_and_back, "anything", copies),
        Probe(COPIES, "a copy of strided tensors", strided, "anything", copies),
        Probe(COPIES, "Tensor.to(dtype)", converted, "anything", copies),
        Probe(COPIES, "to(device, non_blocking=True)", background, "training", "the operator _copy_from"),
        Probe(COPIES, "views: view, t, slices", views, "anything", "the operators as_strided, view"),
        Probe(COPIES, "Tensor.item()", item, "anything", "the operator _local_scalar_dense"),
        Probe(COPIES, "print(tensor)", printed, "debugging", "the operators of Tensor.__repr__"),
        Probe(COPIES, "tensor[mask]", boolean, "models", "the operators nonzero, index.Tensor_out"),
        Probe(COPIES, "copy.deepcopy(tensor)", deep, "models, optimizers", "the operators set_, clone"),
        Probe(COPIES, "nn.Module.to(device)", module_to, "models", copies),
        Probe(
            COPIES,
            "Tensor.NAME(), is_NAME, Module.NAME()",
            named_methods,
            "scripts written for one device",
            "torch.utils.generate_methods_for_privateuse1_backend()",
        ),
        Probe(COPIES, "Tensor.untyped_storage()", storage, "FSDP, checkpoints", "the allocator"),
        Probe(COPIES, "with torch.device(device):", default_device, "models", "factories"),
        Probe(FILES, "torch.save(), torch.load()", save, "checkpoints", "torch.NAME.device_count, current_device, ..."),
        Probe(FILES, "torch.load(map_location='cpu')", load_on_cpu, "checkpoints", "copies"),
        Probe(FILES, "torch.load(map_location=device)", load_from_cpu, "checkpoints", "torch.NAME.device_count, ..."),
        Probe(FILES, "pickle.dumps(tensor)", pickled, "multiprocessing", "torch.NAME.device_count, ..."),
        Probe(
            FILES,
            "torch.from_dlpack(tensor)",
            dlpack,
            "other libraries",
            "torch.NAME.current_stream; DLPack's kDLExtDev",
        ),
        Probe(OTHERS, "torch.utils.checkpoint", checkpoint, "large models", "torch.NAME.get_rng_state, set_rng_state"),
        Probe(OTHERS, "torch.optim.AdamW.step()", optimizer, "training", "foreach operators"),
        Probe(
            OTHERS,
            "torch.profiler",
            profiler,
            "profiles with the device's kernels",
            "libkineto's IActivityProfiler, or observers",
        ),
        Probe(
            OTHERS, "os.fork() after use", forked, "DataLoader workers", "an error in the child, or a device that works"
        ),
    )
