# Shared with openreg-gen: yours to edit; `compile` in the spec changes what is rendered.
"""Functions for generated code: compile and launch kernels, allocate memory."""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from torch._dynamo.graph_bytecode_inputs import get_external_object_by_index
from torch._inductor.async_compile import AsyncCompile, get_compile_threads
from torch._inductor.codecache import CppCodeCache, LambdaFuture
from torch._logging import getArtifactLogger

from .. import _C
from .device_interface import Interface
from .source import codes

stream = get_external_object_by_index
empty_strided = _C._empty_strided
get_raw_stream = Interface.get_raw_stream
_labels: list[Any] = []  # names of kernels in traces, which may be read at any time later
_log = getArtifactLogger("torch._inductor.async_compile", "kernel_code")


class _Kernels(CppCodeCache):
    """Libraries of one kernel each, in Inductor's cache folder. Locks there let several processes share it."""

    cache: dict[str, Callable[[], Any]] = {}
    cache_clear = staticmethod(cache.clear)
    cpp_compile_command_flags = {"include_pytorch": False, "shared": True}

    @classmethod
    def _get_uncompiled_header(cls, device: str) -> str | None:
        return "torch/csrc/inductor/cpp_prefix.h"


def kernel(async_compile: AsyncCompile, name: str, types: list[str], source: str) -> Any:
    """The kernel `name`, to be called with a device's index and its arguments. It is compiled meanwhile."""
    _log.info("openreg kernel %s:\n%s", name, source)
    label = ctypes.create_string_buffer(name.encode())
    _labels.append(label)
    # With one thread submit() compiles at once, under a lock that the compilation itself takes.
    submit = async_compile.submit if get_compile_threads() > 1 else None
    library = _Kernels.load_async(source, device_type="cpu", submit_fn=submit)

    def loaded() -> Callable[..., None]:
        entry = ctypes.cast(library().launch, ctypes.c_void_p).value
        return functools.partial(_C._launch_compiled, entry, ctypes.addressof(label), codes(types))

    return loaded() if submit is None else LambdaFuture(loaded)
