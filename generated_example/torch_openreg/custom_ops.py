# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
"""Operators of the backend's own, as functions: the same as torch.ops.openreg.NAME.

The schemas and kernels are registered by the C++ library (csrc/aten/CustomOps.cpp). Where the spec asks for
`autograd: function`, the gradient is a torch.autograd.Function of this module, registered at the autograd keys, so
that calling the operator by either name is differentiable. Importing this module needs the library to be loaded.
"""

import functools

import torch
from torch._functorch.utils import enable_single_level_autograd_function


def custom_abs(self: torch.Tensor) -> torch.Tensor:
    """custom_abs(Tensor self) -> Tensor"""
    return torch.ops.openreg.custom_abs.default(self)


class CustomSquare(torch.autograd.Function):
    """Gradient of custom_square: what forward saves, and what backward makes of it."""

    @staticmethod
    def forward(ctx, self):
        ctx.save_for_backward(self)
        with torch._C._AutoDispatchBelowAutograd():
            return torch.ops.openreg.custom_square.default(self)

    @staticmethod
    def backward(ctx, grad):
        (self,) = ctx.saved_tensors
        gradients: list[torch.Tensor | None] = [None] * 1
        if ctx.needs_input_grad[0]:
            value = torch.ops.openreg.custom_square_backward.default(grad, self)
            gradients[0] = value.sum_to_size(self.shape).to(self.dtype)
        return tuple(gradients)


def custom_square(self: torch.Tensor) -> torch.Tensor:
    """custom_square(Tensor self) -> Tensor"""
    return torch.ops.openreg.custom_square.default(self)


def custom_alias(self: torch.Tensor) -> torch.Tensor:
    """custom_alias(Tensor(a) self) -> Tensor(a)"""
    return torch.ops.openreg.custom_alias.default(self)


@functools.cache
def _of_one_level(function):
    """The same function, which does not ask for a rule for all levels of torch.func at once."""
    methods = {name: staticmethod(getattr(function, name)) for name in ("forward", "backward")}
    return type(function.__name__, (torch.autograd.function._SingleLevelFunction,), methods)


def _apply(function, *args):
    if not torch._C._are_functorch_transforms_active():
        return function.apply(*args)
    # Within torch.func.grad and the like: this is one transform's gradient, and forward calls what the next one sees.
    with enable_single_level_autograd_function():
        return _of_one_level(function).apply(*args)


def _register() -> torch.library.Library:
    library = torch.library.Library("openreg", "IMPL")
    for key in ("AutogradPrivateUse1", "AutogradCPU"):
        library.impl(
            "custom_square",
            lambda self: _apply(CustomSquare, self),
            key,
        )
    return library


_library = _register()  # registrations last as long as this object
