"""The array library tinygrad, as kernels.py needs it. A tensor's handle is a Part of a Memory, which is one flat Tensor of tinygrad.

DEV says where tinygrad computes: with DEV=CPU it compiles C, for which CC names clang; DEV=PYTHON needs no compiler.
"""

import math
import os

import numpy as np
import torch

os.environ.setdefault(
    "CACHELEVEL", "0"
)  # its cache on disk belongs to one thread, and backward passes run in another one
from tinygrad import Tensor, dtypes  # noqa: E402

DTYPES = {
    torch.bool: dtypes.bool,
    torch.uint8: dtypes.uint8,
    torch.int8: dtypes.int8,
    torch.int16: dtypes.int16,
    torch.int32: dtypes.int32,
    torch.int64: dtypes.int64,
    torch.float16: dtypes.float16,
    torch.float32: dtypes.float32,
    torch.float64: dtypes.float64,
}
TORCH = {kind: dtype for dtype, kind in DTYPES.items()}

exp, abs, sqrt, tanh, negative = Tensor.exp, Tensor.abs, Tensor.sqrt, Tensor.tanh, Tensor.neg


def kind_of(dtype):
    if dtype not in DTYPES:
        raise NotImplementedError(f"arrays: {dtype} is not supported")
    return DTYPES[dtype]


# --- memory


class Memory:
    def __init__(self, flat):
        self.flat = flat.contiguous().realize()


class Part:
    """Elements of a memory: sizes, strides and the offset of the first one."""

    def __init__(self, memory, sizes, strides, offset):
        self.memory, self.sizes, self.strides, self.offset = memory, tuple(sizes), tuple(strides), offset

    def is_dense(self):
        return math.prod(self.sizes) < 2 or self.strides == dense(self.sizes)

    def on_host(self, flat):
        """The elements in NumPy's copy of the memory."""
        steps = [step * flat.itemsize for step in self.strides]
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.sizes, steps)


def dense(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def layout(handle):
    return TORCH[handle.memory.flat.dtype], handle.sizes, handle.strides, handle.offset


def zeros(elements, dtype):
    return handle_of(Tensor(np.zeros(elements, np.uint8)).cast(kind_of(dtype)))


def strided(handle, sizes, strides, offset):
    return Part(handle.memory, sizes, strides, offset)


def from_host(tensor):
    kind = kind_of(tensor.dtype)
    return handle_of(Tensor(np.ascontiguousarray(tensor.detach().numpy()), dtype=kind).reshape(tuple(tensor.shape)))


def to_host(handle):
    return torch.from_numpy(np.array(value_of(handle).numpy()).reshape(handle.sizes))


def assign(handle, value):
    memory = handle.memory
    value = value.cast(memory.flat.dtype).expand(handle.sizes)
    if math.prod(handle.sizes) == 0:
        return
    if handle.is_dense() and math.prod(handle.sizes) == memory.flat.numel():
        memory.flat = value.reshape(-1).contiguous().realize()
        return
    host = np.array(memory.flat.numpy())
    handle.on_host(host)[...] = value.numpy()
    memory.flat = Tensor(host, dtype=memory.flat.dtype).realize()


# --- values, with which kernels compute


def value_of(handle):
    count = math.prod(handle.sizes)
    flat = handle.memory.flat
    if handle.is_dense():
        return flat[handle.offset : handle.offset + count].reshape(handle.sizes)
    return Tensor(np.ascontiguousarray(handle.on_host(flat.numpy())), dtype=flat.dtype).reshape(handle.sizes)


def is_value(x):
    return isinstance(x, Tensor | Part)


def handle_of(value):
    if isinstance(value, Part):
        return value
    return Part(Memory(value.reshape(-1)), value.shape, dense(value.shape), 0)


def dtype_of(value):
    return TORCH[value.dtype]


def cast(value, dtype):
    return value.cast(kind_of(dtype)) if isinstance(value, Tensor) else Tensor(value, dtype=kind_of(dtype))


def where(condition, x, y):
    return condition.where(x, y)


def total(value, dims, keepdim, dtype):
    return value.cast(kind_of(dtype)).sum(tuple(dims) if dims else None, keepdim=keepdim)


def greatest(value, dim):
    return value.max(dim, keepdim=True)
