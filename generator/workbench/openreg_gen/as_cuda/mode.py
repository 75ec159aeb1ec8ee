"""Translates devices in calls of PyTorch's functions.

A TorchFunctionMode sees nearly all of them, torch.device(...) included, which is a type of C++ that can't be patched.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ..cuda_names import DTYPES, is_cuda, translated

_IS_CUDA = torch.Tensor.is_cuda.__get__  # type: ignore[attr-defined]
_WORDS = {torch.einsum}  # their strings are not devices


def translate(value: Any, kind: str) -> Any:
    """The same value, on the device if it names CUDA."""
    return translated(value, kind) if is_cuda(value) else value


def on_device(device: Any, kind: str) -> torch.device:
    """The device that `.cuda(device)` means."""
    if device is None:
        return torch.device(kind)
    return torch.device(kind, device) if isinstance(device, int) else torch.device(translate(device, kind))


def cast_tensor(tensor: torch.Tensor, dtype: str, kind: str, non_blocking: bool = False) -> torch.Tensor:
    """`tensor.type(dtype)` for "torch.cuda.FloatTensor" and the like."""
    wanted = getattr(torch, DTYPES[dtype.rpartition(".")[2].removesuffix("Tensor")])
    return tensor.to(kind, wanted, non_blocking=non_blocking)


class CudaMode(TorchFunctionMode):
    """Makes calls that say "cuda" calls that say `kind`."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self._special: dict[Any, Callable[..., Any]] = {
            _IS_CUDA: self._is_cuda,
            torch.Tensor.cuda: self._cuda,
            torch.Tensor.type: self._type,
        }

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        special = self._special.get(func)
        if special is not None:
            return special(*args, **(kwargs or {}))
        for value in args:
            if value.__class__ is str and is_cuda(value) and func not in _WORDS:
                args = tuple(translate(each, self.kind) for each in args)
                break
        if not kwargs:
            return func(*args)
        if is_cuda(kwargs.get("device")) or is_cuda(kwargs.get("device_type")):
            kwargs = {name: translate(value, self.kind) for name, value in kwargs.items()}
        return func(*args, **kwargs)

    def _is_cuda(self, tensor: torch.Tensor, *_: Any) -> bool:
        return tensor.device.type == self.kind

    def _cuda(
        self,
        tensor: torch.Tensor,
        device: Any = None,
        non_blocking: bool = False,
        memory_format: torch.memory_format = torch.preserve_format,
    ) -> torch.Tensor:
        wanted = on_device(device, self.kind)
        if device is None and tensor.device.type == self.kind:
            return tensor
        return tensor.to(wanted, non_blocking=non_blocking, memory_format=memory_format)

    def _type(self, tensor: torch.Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
        if isinstance(dtype, type) and dtype.__module__ == "torch.cuda":
            dtype = f"torch.cuda.{dtype.__name__}"
        if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
            return cast_tensor(tensor, dtype, self.kind, non_blocking)
        if dtype is None:
            return tensor.type()
        return tensor.type(dtype, non_blocking)
