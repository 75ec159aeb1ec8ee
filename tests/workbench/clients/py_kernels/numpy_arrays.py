"""The array library NumPy, as kernels.py needs it. A tensor's handle is the array itself; a view shares its memory."""

import numpy as np
import torch

DTYPES = {
    torch.bool: np.bool_,
    torch.uint8: np.uint8,
    torch.int8: np.int8,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.float16: np.float16,
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.complex64: np.complex64,
    torch.complex128: np.complex128,
}
TORCH = {np.dtype(kind): dtype for dtype, kind in DTYPES.items()}

exp, abs, sqrt, tanh, negative, where = np.exp, np.abs, np.sqrt, np.tanh, np.negative, np.where


# --- memory


def base(array):
    """The array that owns the memory, flat."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ravel(order="K")


def layout(handle):
    """Dtype, sizes, strides and offset, as PyTorch counts them: in elements."""
    if handle.size == 0:
        return TORCH[handle.dtype], handle.shape, torch.empty(handle.shape, device="meta").stride(), 0
    strides = [stride // handle.itemsize for stride in handle.strides]
    offset = (handle.ctypes.data - base(handle).ctypes.data) // handle.itemsize
    return TORCH[handle.dtype], handle.shape, strides, offset


def zeros(elements, dtype):
    return np.zeros(elements, DTYPES[dtype])


def strided(handle, sizes, strides, offset):
    flat = base(handle)
    steps = [step * flat.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(flat[offset:], tuple(sizes), steps)


def from_host(tensor):
    return tensor.detach().numpy()


def to_host(handle):
    return torch.from_numpy(np.array(handle))


def assign(handle, value):
    np.copyto(handle, value, casting="unsafe")


# --- values, with which kernels compute


def value_of(handle):
    return handle


def is_value(x):
    return isinstance(x, np.ndarray | np.generic)


def handle_of(value):
    return np.asarray(value)


def dtype_of(value):
    return TORCH[value.dtype]


def cast(value, dtype):
    return np.asarray(value, DTYPES[dtype])


def total(value, dims, keepdim, dtype):
    return np.asarray(value.sum(tuple(dims) if dims else None, keepdims=keepdim, dtype=DTYPES[dtype]))


def greatest(value, dim):
    return value.max(dim, keepdims=True)
