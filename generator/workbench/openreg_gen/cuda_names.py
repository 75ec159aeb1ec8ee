"""The table of `torch.cuda`: for each public name, what `as_cuda` makes of it and what `lint-cuda` suggests instead.

A row's `runs` is one of

    same                unchanged: an import, or a submodule whose own names are replaced
    device X            torch.NAME.X; else torch.accelerator.Y where the row says "device X, accelerator Y"
    accelerator Y       torch.accelerator.Y
    here X              openreg_gen.as_cuda.substitutes.X
    constant V          the value V; for a function, what it returns
    raises WHY          raises NotImplementedError when it is called

`write` is the generic spelling: code that runs on each backend, CUDA included. `fix` says whether `lint-cuda --fix` may put it in
the name's place: "name" in any case, "call" only in a call whose arguments mean the same there.

This module doesn't import torch.
"""

import re
from typing import NamedTuple


class Row(NamedTuple):
    """What becomes of one name of torch.cuda."""

    runs: str
    write: str = ""
    fix: str = ""


_MODULE = "torch.get_device_module()"


def _of_module(names: str) -> dict[str, Row]:
    """Names that a backend's module may have, and torch.accelerator doesn't."""
    return {name: Row(f"device {name}", f"{_MODULE}.{name}", "name") for name in names.split()}


def _alike(names: str, runs: str, write: str = "", fix: str = "") -> dict[str, Row]:
    return {name: Row(runs, write, fix) for name in names.split()}


DTYPES = {
    "BFloat16": "bfloat16",
    "Bool": "bool",
    "Byte": "uint8",
    "Char": "int8",
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "Int": "int32",
    "Long": "int64",
    "Short": "int16",
}

ROWS: dict[str, Row] = {
    # Imports of Python's and PyTorch's names, types and constants that don't reach a device.
    **_alike("Any Callable NewType Optional TYPE_CHECKING cast classproperty lru_cache", "same"),
    **_alike("importlib os platform threading torch traceback warnings", "same"),
    **_alike("AcceleratorError CudaError DeferredCudaCallError Device cudaStatus", "same"),
    **_alike("DEVICE_REQUIREMENT PYTORCH_RELEASES_CODE_CC", "same"),
    "OutOfMemoryError": Row("same", "torch.OutOfMemoryError", "name"),
    **_alike("graphs memory random streams", "same"),
    "amp": Row("same", "torch.amp"),
    # Devices.
    "is_available": Row("here is_available", "torch.accelerator.is_available", "call"),
    "device_count": Row("device device_count, accelerator device_count", "torch.accelerator.device_count", "call"),
    "current_device": Row(
        "device current_device, accelerator current_device_index", "torch.accelerator.current_device_index", "call"
    ),
    "set_device": Row("device set_device, accelerator set_device_index", "torch.accelerator.set_device_index", "call"),
    "device": Row("here device", "torch.accelerator.device_index(INDEX)"),
    "device_of": Row("device device_of", "torch.accelerator.device_index(TENSOR.get_device())"),
    "synchronize": Row("device synchronize, accelerator synchronize", "torch.accelerator.synchronize", "call"),
    "init": Row("device init", "nothing: PyTorch initializes a device when it is first used"),
    "is_initialized": Row("device is_initialized", f"{_MODULE}.is_initialized", "name"),
    "get_device_capability": Row(
        "device get_device_capability",
        f"{_MODULE}.get_device_capability",
        "name",
    ),
    **_of_module("can_device_access_peer get_device_name get_device_properties"),
    "is_bf16_supported": Row("here is_bf16_supported", "torch.accelerator.get_device_capability()['supported_dtypes']"),
    "is_tf32_supported": Row("constant False", "torch.set_float32_matmul_precision('high')"),
    "has_half": Row("constant True", "torch.accelerator.get_device_capability()['supported_dtypes']"),
    "has_magma": Row("constant False", "nothing: MAGMA is a library for CUDA"),
    "get_arch_list": Row("constant []", "nothing: architectures are CUDA's"),
    "get_gencode_flags": Row("constant ''", "nothing: architectures are CUDA's"),
    # Streams, events, graphs.
    "Stream": Row("here Stream", "torch.Stream", "call"),
    "Event": Row("here Event", "torch.Event", "call"),
    "StreamContext": Row("device StreamContext", "with STREAM:"),
    "stream": Row("here stream", "with STREAM:"),
    "current_stream": Row(
        "device current_stream, accelerator current_stream", "torch.accelerator.current_stream", "call"
    ),
    "default_stream": Row("device default_stream", f"{_MODULE}.default_stream", "name"),
    "set_stream": Row("device set_stream, accelerator set_stream", "torch.accelerator.set_stream", "call"),
    "CUDAGraph": Row("device Graph, accelerator Graph", "torch.accelerator.Graph"),
    **_of_module("graph graph_pool_handle make_graphed_callables is_current_stream_capturing"),
    "ExternalStream": Row("raises this device has its own streams, no cudaStream_t", "torch.Stream()"),
    "get_stream_from_external": Row("raises this device has its own streams, no cudaStream_t", "torch.Stream()"),
    "GreenContext": Row("raises green contexts belong to CUDA's driver", "torch.Stream()"),
    "green_contexts": Row("same", "torch.Stream()"),
    # Memory.
    "empty_cache": Row("device empty_cache, accelerator empty_cache", "torch.accelerator.empty_cache", "call"),
    "memory_allocated": Row(
        "device memory_allocated, accelerator memory_allocated", "torch.accelerator.memory_allocated", "call"
    ),
    "max_memory_allocated": Row(
        "device max_memory_allocated, accelerator max_memory_allocated",
        "torch.accelerator.max_memory_allocated",
        "call",
    ),
    "memory_reserved": Row(
        "device memory_reserved, accelerator memory_reserved", "torch.accelerator.memory_reserved", "call"
    ),
    "max_memory_reserved": Row(
        "device max_memory_reserved, accelerator max_memory_reserved", "torch.accelerator.max_memory_reserved", "call"
    ),
    "memory_cached": Row(
        "device memory_reserved, accelerator memory_reserved", "torch.accelerator.memory_reserved", "call"
    ),
    "max_memory_cached": Row(
        "device max_memory_reserved, accelerator max_memory_reserved", "torch.accelerator.max_memory_reserved", "call"
    ),
    "memory_stats": Row("device memory_stats, accelerator memory_stats", "torch.accelerator.memory_stats", "call"),
    **_alike(
        "reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached",
        "device reset_peak_memory_stats, accelerator reset_peak_memory_stats",
        "torch.accelerator.reset_peak_memory_stats",
        "call",
    ),
    "reset_accumulated_memory_stats": Row(
        "device reset_accumulated_memory_stats, accelerator reset_accumulated_memory_stats",
        "torch.accelerator.reset_accumulated_memory_stats",
        "call",
    ),
    "mem_get_info": Row(
        "device mem_get_info, accelerator get_memory_info", "torch.accelerator.get_memory_info", "call"
    ),
    **_of_module("memory_snapshot memory_stats_as_nested_dict memory_summary"),
    **_of_module("host_memory_stats host_memory_stats_as_nested_dict"),
    **_of_module("reset_accumulated_host_memory_stats reset_peak_host_memory_stats"),
    **_of_module("get_per_process_memory_fraction set_per_process_memory_fraction"),
    **_of_module("MemPool use_mem_pool change_current_allocator get_allocator_backend ipc_collect"),
    **_of_module(
        "caching_allocator_alloc caching_allocator_delete caching_allocator_disabled caching_allocator_enable"
    ),
    "CUDAPluggableAllocator": Row(
        "raises its functions call CUDA",
        "the backend's own class, if its module has one: dir(torch.get_device_module())",
    ),
    # Random numbers.
    "manual_seed": Row("device manual_seed", "torch.manual_seed, which seeds the CPU and all devices"),
    "manual_seed_all": Row("device manual_seed_all", "torch.manual_seed, which seeds the CPU and all devices"),
    "seed": Row("device seed", "torch.seed, which seeds the CPU and all devices"),
    "seed_all": Row("device seed_all", "torch.seed, which seeds the CPU and all devices"),
    **_of_module("initial_seed get_rng_state get_rng_state_all set_rng_state set_rng_state_all"),
    "default_generators": Row("here default_generators", f"{_MODULE}.default_generators"),
    # Types of tensors and storages.
    **{
        f"{name}Tensor": Row(f"here {name}Tensor", f"torch.tensor(..., dtype=torch.{dtype}, device=DEVICE)")
        for name, dtype in DTYPES.items()
    },
    **_alike(
        " ".join(f"{name}Storage" for name in (*DTYPES, "ComplexDouble", "ComplexFloat")),
        "raises typed storages are deprecated",
        "torch.UntypedStorage(SIZE, device=DEVICE)",
    ),
    "sparse": Row("same", "torch.sparse_coo_tensor(..., device=DEVICE)"),
    # CUDA's libraries and tools.
    "check_error": Row("raises cudaError_t is an error code of CUDA", "nothing: the backend raises its own errors"),
    "cudart": Row("raises the library cudart belongs to CUDA", "functions of torch.accelerator"),
    "current_blas_handle": Row("raises cuBLAS belongs to CUDA", "operators of PyTorch"),
    "current_solver_handle": Row("raises cuSOLVER belongs to CUDA", "operators of PyTorch"),
    "gds": Row("same", "torch.load and torch.save"),
    "jiterator": Row("same", "torch.compile"),
    "nccl": Row("here nccl", "torch.distributed"),
    "nvtx": Row("here nvtx", "torch.profiler.record_function"),
    "profiler": Row("here profiler", "torch.profiler"),
    "tunable": Row("same", "nothing: it tunes CUDA's matrix products"),
    "set_sync_debug_mode": Row("constant None", "nothing: it is a mode of CUDA's"),
    "get_sync_debug_mode": Row("constant 0", "nothing: it is a mode of CUDA's"),
    **_alike(
        "clock_rate device_memory_used memory_usage power_draw temperature utilization",
        "raises it asks NVIDIA's management library",
        "the vendor's tool",
    ),
    "list_gpu_processes": Row("raises it asks NVIDIA's management library", "the vendor's tool"),
}

_DEVICE = re.compile(r"cuda(:\d+)?")


def is_cuda(text: object) -> bool:
    """Whether `text` names a CUDA device: "cuda", "cuda:1"."""
    return isinstance(text, str) and _DEVICE.fullmatch(text) is not None


def translated(text: str, kind: str) -> str:
    """The same device of another type: "cuda:1" -> "mine:1"."""
    return kind + text[len("cuda") :]
