# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
"""Gives fake tensors, and so compiled code, the layout that csrc/aten/native/Convolution.cpp gives real ones.

For devices other than its own, PyTorch says that a convolution's results are contiguous.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch._prims_common import are_strides_like_channels_last_or_false
from torch._subclasses import fake_impls


def register() -> None:
    aten = torch.ops.aten
    known = fake_impls.op_implementations_dict
    forward = aten.convolution.default, aten._convolution.default, aten._convolution.deprecated
    for op in (*forward, aten.convolution_backward.default):
        if op in known:
            known[op] = _convolution_with_layout(known[op])


def _convolution_with_layout(original: Callable[..., Any]) -> Callable[..., Any]:
    def convolution(fake_mode: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        results = original(fake_mode, func, *args, **kwargs)
        names = [argument.name for argument in func._schema.arguments]
        given = dict(zip(names, args, strict=False)) | kwargs
        operands = given["input"], given["weight"]
        if operands[0].dim() == 3:
            operands = operands[1:]  # PyTorch makes such an input contiguous
        if operands[0].device.type != "openreg":
            return results
        with fake_mode:
            if not any(_is_channels_last(value) for value in operands):
                return results
            if isinstance(results, torch.Tensor):
                return _channels_last_like(results)
            return (*(value if value is None else _channels_last_like(value) for value in results[:2]), results[2])

    return convolution


def _is_channels_last(value: torch.Tensor) -> bool:
    if value.dim() == 3:  # one dimension is computed as two
        value = value.unsqueeze(2)
    return are_strides_like_channels_last_or_false(value.shape, value.stride())


def _channels_last_like(value: torch.Tensor) -> torch.Tensor:
    if value.dim() == 3:
        return torch.empty_like(value.unsqueeze(2), memory_format=torch.channels_last).squeeze(2)
    return torch.empty_like(value, memory_format=torch.channels_last if value.dim() == 4 else torch.channels_last_3d)
