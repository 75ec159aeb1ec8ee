"""Kernels in NumPy. Each gets arrays and returns arrays; kernel() does the rest."""

import functools
import operator

import numpy as np
import torch
from torch.utils._pytree import tree_map

from . import opaque

library = torch.library.Library("aten", "IMPL", "PrivateUse1")
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


def base(array):
    """The array that owns the memory, flat."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ravel(order="K")


def tensor_of(array):
    array = np.asarray(array)
    strides = [stride // array.itemsize for stride in array.strides]
    owner = base(array)
    offset = (array.ctypes.data - owner.ctypes.data) // array.itemsize if array.size else 0
    return opaque.wrap(array, TORCH[array.dtype], array.shape, strides, offset)


def array_of(x):
    if isinstance(x, torch.Tensor):
        return x.detach().numpy() if x.device.type == "cpu" else opaque.unwrap(x)
    return DTYPES[x] if isinstance(x, torch.dtype) and x in DTYPES else x


def kernel(*names):
    """Registers a function of arrays for operators."""

    def register(function):
        @functools.wraps(function)
        def on_tensors(*args, **kwargs):
            found = function(*tree_map(array_of, args), **tree_map(array_of, kwargs))
            return tree_map(lambda x: tensor_of(x) if isinstance(x, np.ndarray | np.generic) else x, found)

        for name in names:
            library.impl(name, on_tensors)
        return function

    return register


# --- memory


@kernel("empty.memory_format")
def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return np.zeros(size, dtype or np.float32)


@kernel("empty_strided")
def empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    kind = np.dtype(dtype or np.float32)
    elements = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if all(size) else 0
    return strided(np.zeros(elements, kind), size, stride, 0)


def strided(flat, size, stride, offset):
    steps = [step * flat.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(flat[offset:], tuple(size), steps)


@kernel("as_strided", "_reshape_alias")
def as_strided(x, size, stride, offset=None):
    begin = (x.ctypes.data - base(x).ctypes.data) // x.itemsize if offset is None and x.size else offset or 0
    return strided(base(x), size, stride, begin)


if opaque.__name__.endswith(".empty"):  # PyTorch's detach would lose the array
    kernel("detach", "alias")(lambda x: x)


@kernel("view")
def view(x, size):
    return x.reshape(size)


def _copy_from(source, target, non_blocking=False):
    values = array_of(source)
    if target.device.type == "cpu":
        target.copy_(torch.from_numpy(np.array(values)))
    else:
        np.copyto(array_of(target), values, casting="unsafe")
    return target


library.impl("_copy_from", _copy_from)


def fill_(x, value):
    array_of(x)[...] = value.item() if isinstance(value, torch.Tensor) else value
    return x


library.impl("fill_.Scalar", fill_)
library.impl("zero_", functools.partial(fill_, value=0))


@kernel("_local_scalar_dense")
def item(x):
    return x.item()


# --- arithmetic


def promoted(function, x, y, *rest):
    """As PyTorch promotes: a number takes part with its kind only."""
    wanted = torch.result_type(
        *(torch.from_numpy(np.array(each)) if isinstance(each, np.ndarray) else each for each in (x, y))
    )
    x, y = (np.asarray(each, DTYPES[wanted]) for each in (x, y))
    return function(x, y, *rest)


@kernel("add.Tensor")
def add(x, y, alpha=1):
    return promoted(lambda a, b: np.add(a, b if alpha == 1 else np.multiply(b, alpha, dtype=b.dtype)), x, y)


@kernel("sub.Tensor")
def sub(x, y, alpha=1):
    return promoted(lambda a, b: np.subtract(a, b if alpha == 1 else np.multiply(b, alpha, dtype=b.dtype)), x, y)


def binary(names, function):
    def compute(x, y):
        return promoted(function, x, y)

    kernel(*names)(compute)


binary(["mul.Tensor"], np.multiply)
binary(["eq.Tensor", "eq.Scalar"], operator.eq)
binary(["ne.Tensor", "ne.Scalar"], operator.ne)
binary(["lt.Tensor", "lt.Scalar"], operator.lt)
binary(["gt.Tensor", "gt.Scalar"], operator.gt)


@kernel("div.Tensor")
def div(x, y):
    x = x.astype(np.float32) if x.dtype.kind in "iub" else x
    return promoted(np.true_divide, x, y)


for _name in ("neg", "exp", "abs", "sqrt", "tanh"):
    _function = {"neg": np.negative}.get(_name) or getattr(np, _name)
    kernel(_name)(functools.partial(lambda function, x: np.asarray(function(x), x.dtype), _function))


@kernel("relu")
def relu(x):
    return np.maximum(x, x.dtype.type(0))


@kernel("threshold_backward")
def threshold_backward(slope, x, threshold):
    return np.where(x <= threshold, slope.dtype.type(0), slope)


@kernel("mm")
def mm(x, y):
    return x @ y


@kernel("addmm")
def addmm(x, a, b, beta=1, alpha=1):
    return (beta * x + alpha * (a @ b)).astype(x.dtype)


@kernel("_softmax")
def softmax(x, dim, half_to_float):
    powers = np.exp(x - x.max(dim, keepdims=True))
    return powers / powers.sum(dim, keepdims=True)


@kernel("sum.dim_IntList")
def sum_dims(x, dims=None, keepdim=False, dtype=None):
    kind = dtype or (np.int64 if x.dtype.kind in "iub" else x.dtype)
    return np.asarray(x.sum(tuple(dims) if dims else None, keepdims=keepdim, dtype=kind))


@kernel("sum")
def sum_all(x, dtype=None):
    return sum_dims(x, dtype=dtype)


# Inplace forms: the tensor itself is the result.
for _name, _function in (("add_.Tensor", add), ("mul_.Tensor", lambda x, y: promoted(np.multiply, x, y))):

    def _inplace(x, *args, function=_function, **kwargs):
        _copy_from(tensor_of(np.asarray(function(array_of(x), *tree_map(array_of, args), **kwargs))), x)
        return x

    library.impl(_name, _inplace)
