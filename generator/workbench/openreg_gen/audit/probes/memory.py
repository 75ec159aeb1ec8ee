"""Memory: the allocator and its statistics, pinned host memory, storages that change their size."""

import torch
from torch.utils.data import DataLoader, TensorDataset

from ..probe import Probe
from .common import accelerator, expect, ramp, same

GROUP = "memory"


def allocated(kind: str) -> str:
    accelerator(kind)
    before = torch.accelerator.memory_allocated()
    held = torch.empty(1 << 20, dtype=torch.uint8, device=kind)
    after = torch.accelerator.memory_allocated()
    expect(after >= before + held.nbytes, f"{after - before} bytes more after 1 MiB was allocated")
    return f"{after - before} bytes more after 1 MiB"


def reserved(kind: str) -> str:
    accelerator(kind)
    held = torch.empty(1 << 20, dtype=torch.uint8, device=kind)
    found = torch.accelerator.memory_reserved()
    expect(found >= held.nbytes, f"{found} bytes while 1 MiB is in use")
    return f"{found} bytes"


def stats(kind: str) -> str:
    accelerator(kind)
    found = torch.accelerator.memory_stats()
    expect("allocated_bytes.all.current" in found, f"no allocated_bytes.all.current among {len(found)} keys")
    return f"{len(found)} keys"


def peaks(kind: str) -> str:
    accelerator(kind)
    torch.accelerator.reset_peak_memory_stats()
    torch.accelerator.reset_accumulated_memory_stats()
    return f"peak {torch.accelerator.max_memory_allocated()} bytes"


def info(kind: str) -> str:
    accelerator(kind)
    free, total = torch.accelerator.get_memory_info()
    expect(0 <= free <= total and total > 0, f"{free} of {total} bytes are free")
    return f"{free} of {total} bytes free"


def empty_cache(kind: str) -> str:
    accelerator(kind)
    torch.accelerator.empty_cache()
    return "done"


def out_of_memory(kind: str) -> str:
    accelerator(kind)
    try:
        torch.empty(1 << 52, dtype=torch.uint8, device=kind)
    except torch.OutOfMemoryError:
        return "torch.OutOfMemoryError"
    except Exception as error:
        expect(False, f"{type(error).__name__} instead of torch.OutOfMemoryError: {str(error).splitlines()[0]}")
    expect(False, "4 PiB were allocated")
    return ""


def no_elements(kind: str) -> str:
    made = torch.empty(0, 3, device=kind)
    expect(made.cpu().shape == (0, 3), "another shape after a copy")
    return "done"


def pin(kind: str) -> str:
    accelerator(kind)
    pinned = torch.ones(8).pin_memory()
    expect(pinned.is_pinned(), "is_pinned() is False after pin_memory()")
    same(pinned.to(kind, non_blocking=True), torch.ones(8), "copied from pinned memory")
    return "done"


def is_pinned(kind: str) -> str:
    accelerator(kind)
    expect(not torch.empty(8).is_pinned(), "plain memory is said to be pinned")
    return "False, of plain memory"


def loader(kind: str) -> str:
    accelerator(kind)
    (batch,) = next(iter(DataLoader(TensorDataset(torch.arange(4)), batch_size=4, pin_memory=True)))
    expect(batch.is_pinned(), "its batches are not pinned")
    return "done"


def empty_host_cache(kind: str) -> str:
    accelerator(kind)
    torch.accelerator.empty_host_cache()
    return "done"


def resize_storage(kind: str) -> str:
    tensor = ramp(kind)
    storage = tensor.untyped_storage()
    storage.resize_(0)
    expect(storage.nbytes() == 0, f"{storage.nbytes()} bytes after resize_(0)")
    storage.resize_(24)
    expect(storage.nbytes() == 24, f"{storage.nbytes()} bytes after resize_(24)")
    return "done"


def resize_tensor(kind: str) -> str:
    tensor = ramp(kind).resize_(12)
    same(tensor[:6], torch.arange(6.0), "the first elements afterwards")
    return "done"


def probes() -> tuple[Probe, ...]:
    device = "c10::DeviceAllocator"
    hooks = "at::PrivateUse1HooksInterface"
    accelerator_memory = "torch.accelerator.memory_{}"
    return (
        Probe(GROUP, "torch.empty(0, device)", no_elements, "anything", "the allocator: a null pointer for 0 bytes"),
        Probe(
            GROUP,
            "an allocation too large",
            out_of_memory,
            "code that catches OutOfMemoryError",
            "c10::OutOfMemoryError",
        ),
        Probe(
            GROUP, accelerator_memory.format("allocated()"), allocated, "memory reports", f"{device}::getDeviceStats"
        ),
        Probe(GROUP, accelerator_memory.format("reserved()"), reserved, "memory reports", f"{device}::getDeviceStats"),
        Probe(GROUP, accelerator_memory.format("stats()"), stats, "memory reports", f"{device}::getDeviceStats"),
        Probe(
            GROUP, "torch.accelerator.reset_peak_memory_stats()", peaks, "memory reports", f"{device}::resetPeakStats"
        ),
        Probe(GROUP, "torch.accelerator.get_memory_info()", info, "inference servers", f"{device}::getMemoryInfo"),
        Probe(GROUP, "torch.accelerator.empty_cache()", empty_cache, "memory reports", f"{device}::emptyCache"),
        Probe(
            GROUP,
            "torch.accelerator.empty_host_cache()",
            empty_host_cache,
            "pinned memory",
            "at::HostAllocator, by REGISTER_HOST_ALLOCATOR: until a backend registers one, PyTorch's is null, and the call crashes",
        ),
        Probe(GROUP, "Tensor.is_pinned()", is_pinned, "pinned memory", f"{hooks}::isPinnedPtr"),
        Probe(GROUP, "Tensor.pin_memory()", pin, "copies in the background", f"{hooks}::getPinnedMemoryAllocator"),
        Probe(GROUP, "DataLoader(pin_memory=True)", loader, "training", f"{hooks}::getPinnedMemoryAllocator"),
        Probe(GROUP, "UntypedStorage.resize_()", resize_storage, "FSDP", f"{hooks}::resizePrivateUse1Bytes"),
        Probe(GROUP, "Tensor.resize_()", resize_tensor, "out= of another size", "the operator resize_"),
    )
