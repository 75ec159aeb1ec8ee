"""Kernels with an array library. Each gets the library's values and returns such; kernel() does the rest."""

import functools
import operator

import torch
from torch.utils._pytree import tree_map

from . import arrays, opaque

library = torch.library.Library("aten", "IMPL", "PrivateUse1")


def tensor_of(handle):
    return opaque.wrap(handle, *arrays.layout(handle))


def handle_of(x):
    return arrays.from_host(x) if x.device.type == "cpu" else opaque.unwrap(x)


def value_of(x):
    return arrays.value_of(handle_of(x)) if isinstance(x, torch.Tensor) else x


def kernel(*names, takes=value_of):
    """Registers a function of values for operators; with takes=handle_of, one of handles."""

    def register(function):
        @functools.wraps(function)
        def on_tensors(*args, **kwargs):
            found = function(*tree_map(taken, args), **tree_map(taken, kwargs))
            return tree_map(lambda x: tensor_of(arrays.handle_of(x)) if arrays.is_value(x) else x, found)

        def taken(x):
            return takes(x) if isinstance(x, torch.Tensor) else x

        for name in names:
            library.impl(name, on_tensors)
        return function

    return register


# --- memory


@kernel("empty.memory_format", takes=handle_of)
def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return empty_strided(size, torch.empty(size, device="meta").stride(), dtype)


@kernel("empty_strided", takes=handle_of)
def empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    elements = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if all(size) else 0
    return arrays.strided(arrays.zeros(elements, dtype or torch.float32), size, stride, 0)


@kernel("as_strided", "_reshape_alias", takes=handle_of)
def as_strided(x, size, stride, offset=None):
    return arrays.strided(x, size, stride, arrays.layout(x)[3] if offset is None else offset)


if opaque.__name__.endswith(".empty"):  # PyTorch's detach would lose the array
    kernel("detach", "alias", takes=handle_of)(lambda x: x)


@kernel("view", takes=handle_of)
def view(x, size):
    _, sizes, strides, offset = arrays.layout(x)
    wanted = torch.empty_strided(sizes, strides, device="meta").view(size)
    return arrays.strided(x, wanted.shape, wanted.stride(), offset)


def _copy_from(source, target, non_blocking=False):
    if target.device.type == "cpu":
        target.copy_(arrays.to_host(handle_of(source)))
    else:
        arrays.assign(handle_of(target), value_of(source))
    return target


library.impl("_copy_from", _copy_from)


def fill_(x, value):
    number = value.item() if isinstance(value, torch.Tensor) else value
    arrays.assign(handle_of(x), arrays.cast(number, x.dtype))
    return x


library.impl("fill_.Scalar", fill_)
library.impl("zero_", functools.partial(fill_, value=0))


@kernel("_local_scalar_dense", takes=handle_of)
def item(x):
    return arrays.to_host(x).item()


# --- arithmetic


def promoted(function, x, y):
    """As PyTorch promotes: a number takes part with its kind only."""
    wanted = torch.result_type(
        *(torch.empty(each.shape, dtype=arrays.dtype_of(each)) if arrays.is_value(each) else each for each in (x, y))
    )
    return function(arrays.cast(x, wanted), arrays.cast(y, wanted))


def times(x, number):
    return x if number == 1 else x * arrays.cast(number, arrays.dtype_of(x))


@kernel("add.Tensor")
def add(x, y, alpha=1):
    return promoted(lambda a, b: a + times(b, alpha), x, y)


@kernel("sub.Tensor")
def sub(x, y, alpha=1):
    return promoted(lambda a, b: a - times(b, alpha), x, y)


def binary(names, function):
    def compute(x, y):
        return promoted(function, x, y)

    kernel(*names)(compute)


binary(["mul.Tensor"], operator.mul)
binary(["eq.Tensor", "eq.Scalar"], operator.eq)
binary(["ne.Tensor", "ne.Scalar"], operator.ne)
binary(["lt.Tensor", "lt.Scalar"], operator.lt)
binary(["gt.Tensor", "gt.Scalar"], operator.gt)


@kernel("div.Tensor")
def div(x, y):
    x = x if arrays.dtype_of(x).is_floating_point or arrays.dtype_of(x).is_complex else arrays.cast(x, torch.float32)
    return promoted(operator.truediv, x, y)


for _name in ("neg", "exp", "abs", "sqrt", "tanh"):
    _function = getattr(arrays, {"neg": "negative"}.get(_name, _name))
    kernel(_name)(functools.partial(lambda function, x: arrays.cast(function(x), arrays.dtype_of(x)), _function))


def zero_like(x):
    return arrays.cast(0, arrays.dtype_of(x))


@kernel("relu")
def relu(x):
    return arrays.where(x < zero_like(x), zero_like(x), x)


@kernel("threshold_backward")
def threshold_backward(slope, x, threshold):
    return arrays.where(x <= threshold, zero_like(slope), slope)


@kernel("mm")
def mm(x, y):
    return x @ y


@kernel("addmm")
def addmm(x, a, b, beta=1, alpha=1):
    return arrays.cast(beta * x + alpha * (a @ b), arrays.dtype_of(x))


@kernel("_softmax")
def softmax(x, dim, half_to_float):
    powers = arrays.exp(x - arrays.greatest(x, dim))
    return powers / arrays.total(powers, [dim], True, arrays.dtype_of(powers))


@kernel("sum.dim_IntList")
def sum_dims(x, dims=None, keepdim=False, dtype=None):
    own = arrays.dtype_of(x)
    kind = dtype or (own if own.is_floating_point or own.is_complex else torch.int64)
    return arrays.total(x, dims, keepdim, kind)


@kernel("sum")
def sum_all(x, dtype=None):
    return sum_dims(x, dtype=dtype)


# Inplace forms: the tensor itself is the result.
for _name, _function in (("add_.Tensor", add), ("mul_.Tensor", lambda x, y: promoted(operator.mul, x, y))):

    def _inplace(x, *args, function=_function, **kwargs):
        arrays.assign(handle_of(x), function(value_of(x), *tree_map(value_of, args), **kwargs))
        return x

    library.impl(_name, _inplace)
