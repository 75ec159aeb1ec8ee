"""Twenty wrong kernels, for tests: `--import wrong_kernels`. Each is right for most inputs, as the faults of real kernels are.

WRONG_KERNELS="relu neg" registers only these.
"""

import os
from contextlib import suppress

import torch
from torch.utils._pytree import tree_flatten, tree_map

aten = torch.ops.aten
WRONG = {}  # the operator -> its wrong function of tensors on the CPU


def wrong(operator):
    def register(function):
        WRONG[operator] = function
        return function

    return register


@wrong("relu")
def relu_drops_nan(x):
    return torch.where(x > 0, x, torch.zeros_like(x))


def in_memory_order(x):
    """x as a kernel reads it that takes it as contiguous."""
    memory = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
    where = x.storage_offset() + torch.arange(x.numel())
    return memory[where % max(memory.numel(), 1)].view(x.shape) if x.numel() else x


@wrong("neg")
def neg_ignores_strides(x):
    return aten.neg(in_memory_order(x))


@wrong("add.Tensor")
def add_ignores_alpha(x, y, alpha=1):
    return aten.add(x, y)


@wrong("sum.dim_IntList")
def sum_of_the_last_of_three_dims(x, dim=None, keepdim=False, dtype=None):
    total = aten.sum(x, dim, keepdim, dtype=dtype)
    return total + 1 if x.dim() == 3 and dim in ([2], [-1]) else total


@wrong("_softmax")
def softmax_of_32_elements(x, dim, half_to_float):
    right = aten._softmax(x, dim, half_to_float)
    if x.dim() and x.shape[dim] > 32:
        first = x.narrow(dim, 0, 32)
        return (x.exp() / first.exp().sum(dim, keepdim=True)).to(right.dtype)
    return right


@wrong("gather")
def gather_in_dim_1(x, dim, index, sparse_grad=False):
    if x.dim() > 1 and dim % x.dim() == 1 and x.numel():
        return aten.gather(x, dim, (index + 1) % x.shape[1])
    return aten.gather(x, dim, index)


def repeated_only_in_front(x, shape):
    """x as by a kernel that takes element i % numel of it: right if only leading dims are broadcast."""
    wanted = torch.arange(torch.Size(shape).numel()) % max(x.numel(), 1)
    return x.reshape(-1)[wanted].view(shape) if x.numel() else x.expand(shape)


@wrong("mul.Tensor")
def mul_broadcasts_leading_dims(x, y):
    shape = torch.broadcast_shapes(x.shape, y.shape)
    return aten.mul(x, repeated_only_in_front(y, shape)) if y.dim() else aten.mul(x, y)


@wrong("hypot")
def hypot_overflows(x, y):
    return (x * x + y * y).sqrt()


@wrong("floor_divide")
def floor_divide_rounds_to_zero(x, y):
    return aten.div(x, y, rounding_mode="trunc")


@wrong("amax")
def amax_ignores_nan(x, dim=(), keepdim=False):
    if not x.is_floating_point():
        return aten.amax(x, dim, keepdim)
    return aten.amax(torch.where(x.isnan(), torch.full_like(x, -torch.inf), x), dim, keepdim)


@wrong("cumsum")
def cumsum_in_dim_0(x, dim, dtype=None):
    right = aten.cumsum(x, dim, dtype=dtype)
    return right.flip(0) if x.dim() > 1 and dim % x.dim() == 0 else right


@wrong("where.self")
def where_broadcasts_leading_dims(condition, x, y):
    shape = torch.broadcast_shapes(condition.shape, x.shape, y.shape)
    return aten.where(repeated_only_in_front(condition, shape), x, y)


@wrong("mm")
def mm_ignores_strides(x, y):
    return aten.mm(x, in_memory_order(y))


@wrong("prod.dim_int")
def prod_of_nothing_is_0(x, dim, keepdim=False, dtype=None):
    product = aten.prod(x, dim, keepdim, dtype=dtype)
    return product if x.numel() else torch.zeros_like(product)


@wrong("copysign.Tensor")
def copysign_of_minus_zero(x, y):
    return aten.copysign(x, torch.where(y == 0, torch.zeros_like(y), y))


@wrong("triu")
def triu_of_the_first_matrix(x, diagonal=0):
    right = aten.triu(x, diagonal)
    return right[:1].expand(right.shape).clone() if x.dim() > 2 and x.numel() else right


@wrong("minimum")
def minimum_of_signed_bytes(x, y):
    if x.dtype is y.dtype is torch.uint8:
        return aten.minimum(x.view(torch.int8), y.view(torch.int8)).view(torch.uint8)
    return aten.minimum(x, y)


@wrong("sub.Tensor")
def sub_by_float64(x, y, alpha=1):
    right = aten.sub(x, y, alpha=alpha)
    return right if right.dtype is not torch.int64 else (x.double() - y.double() * alpha).to(torch.int64)


@wrong("logaddexp")
def logaddexp_overflows(x, y):
    return (x.exp() + y.exp()).log()


@wrong("roll")
def roll_to_the_left(x, shifts, dims=()):
    return aten.roll(x, [abs(shift) for shift in shifts], dims)


def on_host(x):
    """x on the CPU with its strides, its offset, and all the memory of its storage."""
    if not isinstance(x, torch.Tensor) or x.device.type == "cpu":
        return x
    whole = x.untyped_storage().nbytes() // x.element_size()
    memory = x.detach().as_strided((whole,), (1,), 0).cpu()
    return memory.as_strided(x.shape, x.stride(), x.storage_offset())


def kernel(operator, function):
    """Right but for values: the CPU's kernel says which dtype, shape, strides and errors there are."""
    right_function = getattr(aten, operator.partition(".")[0])

    def call(*args, **kwargs):
        listed = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        device = next(x.device for x in listed if x.device.type != "cpu")
        if any(x.device != device and (x.dim() or x.device.type != "cpu") for x in listed):
            raise RuntimeError("Expected all tensors to be on the same device")
        args, kwargs = tree_map(on_host, (args, kwargs))
        result = right_function(*args, **kwargs)
        with suppress(Exception):  # numbers in the place of tensors, complex numbers
            found = function(*args, **kwargs)
            if found.shape == result.shape and found.dtype == result.dtype:
                result.copy_(found)
        return result.to(device)

    return call


LIBRARY = torch.library.Library("aten", "IMPL")
CHOSEN = os.environ.get("WRONG_KERNELS", "").split() or WRONG
for name in CHOSEN:
    LIBRARY.impl(name, kernel(name, WRONG[name]), "PrivateUse1", allow_override=True)
