"""Kernels in Python for tests of `openreg-gen try`: right ones, and one with the fault that $MUTANT names.

`--import mutants` registers them for the backend that is loaded. A kernel computes on the host, on copies with the same
strides, offsets and shared elements, so that it refuses what the CPU refuses.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any

import torch

MUTANT = os.environ.get("MUTANT", "")
LIBRARY = torch.library.Library("aten", "IMPL")


class Copies:
    """Of tensors on the host. Tensors that share memory still do."""

    def __init__(self) -> None:
        self.storages: dict[int, torch.UntypedStorage] = {}

    def of(self, x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [self.of(each) for each in x]
        if not isinstance(x, torch.Tensor) or x.device.type == "cpu":
            return x
        source = x.untyped_storage()
        if source._cdata not in self.storages:
            flat = torch.empty(0, dtype=torch.uint8, device=x.device).set_(source, 0, (source.nbytes(),), (1,))
            self.storages[source._cdata] = flat.cpu().untyped_storage()
        place = torch.empty(0, dtype=x.dtype)
        copy = place.set_(self.storages[source._cdata], x.storage_offset(), x.size(), x.stride())
        copy = copy.conj() if x.is_conj() else copy
        return torch._neg_view(copy) if x.is_neg() else copy


Compute = Callable[..., torch.Tensor]


def write(out: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    if out.shape != result.shape:
        out.resize_(result.shape)
        out.as_strided_(result.shape, result.stride())
    return out.copy_(result)


def kernel(name: str, compute: Compute | None = None, put: Callable[..., torch.Tensor] = write) -> None:
    """Registers "add.out": `compute` takes the host's arguments and out=, `put` writes its result."""
    base, _, overload = name.partition(".")
    own = getattr(getattr(torch.ops.aten, base), overload)

    def run(*args: Any, **kwargs: Any) -> torch.Tensor:
        copies = Copies()
        device_out = kwargs.pop("out")
        tensors = [x for x in (*args, device_out) if isinstance(x, torch.Tensor) and x.dim() > 0]
        if len({x.device for x in tensors}) > 1:
            raise RuntimeError("Expected all tensors to be on the same device")
        given = [copies.of(each) for each in args]
        named = {key: copies.of(value) for key, value in kwargs.items()}
        result = (compute or own)(*given, **named, out=copies.of(device_out))
        return put(device_out, result)

    LIBRARY.impl(name, run, "PrivateUse1")


def into(out: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """`result` in `out`, as an operator's own out= does it."""
    return (
        torch.ops.aten.add.out(result, 0, out=out)
        if result.dtype != torch.bool
        else out.resize_(result.shape).copy_(result)
    )


# --- faults: the operator that has it, and its kernel


def tile_border(a: Any, b: Any, *, out: torch.Tensor) -> torch.Tensor:
    """The last tile of 32 is left out where it has one element."""
    result = torch.ops.aten.mul.out(a, b, out=out)
    if result.numel() > 32 and result.numel() % 32 == 1:
        result.reshape(-1)[-1:] = 0
        result[(-1,) * result.dim()] = 0
    return result


def nan_lost(x: Any, least: Any, *, out: torch.Tensor) -> torch.Tensor:
    """x > least ? x : least, which is false for NaN."""
    result = torch.ops.aten.clamp_min.Tensor_out(x, least, out=out)
    if result.is_floating_point() and result.isnan().any() and x.is_floating_point():
        result.copy_(torch.where(x.isnan(), least, result))
    return result


def narrow_sum(x: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None, out: torch.Tensor) -> torch.Tensor:
    """float16 is added up in float16."""
    if x.dtype != torch.float16 or x.dim() == 0 or x.numel() == 0 or out.dtype != torch.float16:
        return torch.ops.aten.sum.IntList_out(x, dim, keepdim, dtype=dtype, out=out)
    import numpy

    dims = sorted(d % x.dim() for d in dim) if dim else list(range(x.dim()))
    array = x.numpy()
    for d in dims:
        array = numpy.take(numpy.add.accumulate(array, axis=d, dtype=numpy.float16), [-1], axis=d)
    result = torch.from_numpy(numpy.ascontiguousarray(array))
    return into(out, result if keepdim else result.squeeze(dims))


def alpha_ignored(a: Any, b: Any, *, alpha: Any = 1, out: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.add.out(a, b, alpha=True if out.dtype == torch.bool else 1, out=out)


def offset_ignored(x: Any, *, out: torch.Tensor) -> torch.Tensor:
    """Dense memory is read from the beginning of its storage."""
    if x.is_contiguous() and not x.is_neg() and not x.is_conj():
        x = x.as_strided(x.size(), x.stride(), 0)
    return torch.ops.aten.neg.out(x, out=out)


def tail(out: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """Vectors of four elements: what is left over isn't written."""
    if not out.is_contiguous() or out.shape != result.shape:
        return write(out, result)
    whole = result.numel() // 4 * 4
    out.view(-1)[:whole].copy_(result.reshape(-1)[:whole])
    return out


def unchecked(x: Any, *, out: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.logical_not.out(x, out=torch.empty(out.shape, dtype=out.dtype))


def expanded_written(out: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """A target with elements that share memory isn't refused."""
    if out.dim() and out.stride(0) == 0 and out.size(0) > 1:
        out[:1].copy_(result[:1])
        return out
    return write(out, result)


def not_resized(out: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """A larger out= keeps its shape."""
    if out.shape == result.shape or out.numel() < result.numel():
        return write(out, result)
    out.view(-1)[: result.numel()].copy_(result.reshape(-1))
    return out


def truncated(a: Any, b: Any, *, rounding_mode: Any, out: torch.Tensor) -> torch.Tensor:
    """C's division of integers, where floor is wanted."""
    whole = not out.dtype.is_floating_point and rounding_mode == "floor"
    return torch.ops.aten.div.out_mode(a, b, rounding_mode="trunc" if whole else rounding_mode, out=out)


def negative_dim(x: Any, dim: int, *, dtype: Any = None, out: torch.Tensor) -> torch.Tensor:
    """A dimension counted from the end is the first one."""
    return torch.ops.aten.cumsum.out(x, max(dim, 0) if -x.dim() <= dim else dim, dtype=dtype, out=out)


def beta_zero(x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1, out: torch.Tensor) -> torch.Tensor:
    """0 * NaN is added."""
    result = torch.ops.aten.addmm.out(x, a, b, beta=beta, alpha=alpha, out=out)
    if beta == 0 and result.is_floating_point():
        result += x * 0
    return result


def conj_ignored(a: Any, b: Any, *, out: torch.Tensor) -> torch.Tensor:
    """The numbers in memory are taken as they are."""
    plain = [x.conj() if x.is_conj() else x for x in (a, b)]
    return torch.ops.aten.bmm.out(*plain, out=out)


def flip(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """Not an out= form: it allocates its result itself."""
    result = torch.flip(Copies().of(x), dims)
    where = "current" if MUTANT == "missing_guard" else x.device
    device = torch.device(x.device.type, torch.accelerator.current_device_index()) if where == "current" else x.device
    contiguous = MUTANT == "channels_last_strides"
    return (result.contiguous() if contiguous else result).to(device)


#: Each mutant with the operator that has it, a dtype, what is found wrong, and the fault's kernel: `compute` or `put` of kernel().
#: The last six are from reports about other backends and PyTorch itself: pytorch/pytorch#15358, #121476, #44858, #94119,
#: #187521 and #148156.
MUTANTS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "tile_border": ("mul.out", "float32", "value", {"compute": tile_border}),
    "nan_lost": ("clamp_min.Tensor_out", "float32", "value", {"compute": nan_lost}),
    "missing_guard": ("flip", "float32", "device", {}),
    "narrow_sum": ("sum.IntList_out", "float16", "value", {"compute": narrow_sum}),
    "alpha_ignored": ("add.out", "float32", "value", {"compute": alpha_ignored}),
    "offset_ignored": ("neg.out", "float32", "value", {"compute": offset_ignored}),
    "channels_last_strides": ("flip", "float32", "strides", {}),
    "tail": ("sinh.out", "float32", "value", {"put": tail}),
    "expanded_written": ("logical_not.out", "float32", "raising", {"compute": unchecked, "put": expanded_written}),
    "not_resized": ("sinh.out", "float32", "shape", {"put": not_resized}),
    "truncated": ("div.out_mode", "int64", "value", {"compute": truncated}),
    "negative_dim": ("cumsum.out", "float32", "value", {"compute": negative_dim}),
    "beta_zero": ("addmm.out", "float32", "value", {"compute": beta_zero}),
    "conj_ignored": ("bmm.out", "complex64", "value", {"compute": conj_ignored}),
}

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that a kernel takes another one's place
    LIBRARY.impl("flip", flip, "PrivateUse1")
    for _name in sorted({op for op, *_ in MUTANTS.values()} - {"flip"}):
        _op, _, _, _fault = MUTANTS.get(MUTANT, ("", "", "", {}))
        kernel(_name, **(_fault if _op == _name else {}))
