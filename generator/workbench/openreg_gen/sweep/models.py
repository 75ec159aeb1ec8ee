"""Calls of modules and optimizers: PyTorch's module_db and optim_db."""

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_map

from ..testing import opinfos
from .compare import TOLERANCES, Call
from .copies import tensors
from .variants import channels, seeds

LOOSE = (6e-2, 6e-2)  # what bfloat16 makes of a few layers


def forward_and_backward(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = module(*args, **kwargs)
    outputs = [x for x in tensors(value) if x.requires_grad]
    leaves = [x for x in tensors((module, args, kwargs)) if x.requires_grad]
    grads = torch.autograd.grad(outputs, leaves, seeds(outputs), allow_unused=True) if outputs and leaves else None
    return value, grads, dict(module.named_buffers())


def with_autocast(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    device = next((x.device for x in tensors((module, args, kwargs))), torch.device("cpu"))
    with torch.autocast(device.type, torch.bfloat16):
        value = module(*args, **kwargs)
    # Which operators round is the device's own list: that it works, and is about right, is what is compared.
    outputs = [x for x in tensors(value) if x.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, seeds(outputs))
    return value


def module_calls(info: Any, dtype: torch.dtype) -> Iterator[tuple[str, str, Call]]:
    """Variant, index and call."""
    for training in (True, False):
        listed = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
        for index, made in enumerate(listed):
            constructor = made.constructor_input
            try:
                module = info.module_cls(*constructor.args, **constructor.kwargs)
                module.to(dtype).train(training)
            except Exception:  # a sample whose module can't be made here is none
                continue
            args = tuple(made.forward_input.args) if made.forward_input else ()
            kwargs = dict(made.forward_input.kwargs) if made.forward_input else {}
            mode = "train" if training else "eval"
            yield mode, str(index), Call(forward_and_backward, (module, args, kwargs), {})
            if training and dtype == torch.float32:
                call = Call(with_autocast, (module, args, kwargs), {}, reference=without_autocast)
                yield "autocast", str(index), call._replace(tolerance=LOOSE, dtypes=False)
            if any(x.dim() in (4, 5) for x in tensors((args, kwargs))):
                turned = tree_map(lambda x: channels(x) if isinstance(x, torch.Tensor) else x, (args, kwargs))
                yield f"{mode}_channels_last", str(index), Call(forward_and_backward, (module, *turned), {})


def without_autocast(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = module(*args, **kwargs)
    outputs = [x for x in tensors(value) if x.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, seeds(outputs))
    return value


# --- optimizers

STEPS = 3


def implementations(info: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "plain", {"foreach": False} if "foreach" in info.supported_impls else {}
    for name in info.supported_impls:
        yield name, {name: True}
    if info.has_capturable_arg:
        yield "capturable", {"capturable": True, "foreach": False}
        yield "capturable_foreach", {"capturable": True, "foreach": True}


def stepped(info: Any, options: dict[str, Any], sparse: bool, parameters: list[torch.Tensor]) -> Any:
    """Parameters and state after some steps with gradients that are the same everywhere."""
    leaves = [p.clone().requires_grad_() for p in parameters]
    used = [p.clone() for p in leaves] if options.get("differentiable") else leaves
    if options.get("differentiable"):
        with torch.no_grad():
            used = [p.detach().clone() for p in leaves]
    optimizer = info.optim_cls(used, **options)

    def closure() -> torch.Tensor:
        # The loss and its own gradient: where these do not belong together, a line search goes astray on the last bits.
        for p in used:
            p.grad = 2 * p.detach()
        return functools.reduce(torch.add, [(p.detach() * p.detach()).sum() for p in used])

    for step in range(STEPS):
        for p in used:
            grad = (p.detach() * 0.5 + 0.1 * (step + 1)).clone()
            p.grad = grad.to_sparse() if sparse else grad
        optimizer.step(*((closure,) if info.step_requires_closure else ()))
    state = [{k: v for k, v in sorted(s.items()) if k != "step"} for s in optimizer.state_dict()["state"].values()]
    return used, [[v for v in s.values() if isinstance(v, torch.Tensor)] for s in state if isinstance(s, dict)]


def optimizer_calls(info: Any, dtype: torch.dtype) -> Iterator[tuple[str, str, Call]]:
    generator = torch.Generator().manual_seed(3)
    shapes = [(4, 3), (5, 2), (4, 4)] if info.optim_cls.__name__ == "Muon" else [(4, 3), (5,), (), (2, 3, 4)]
    parameters = [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]
    sparse = info.only_supports_sparse_grads
    parameters = [p for p in parameters if p.dim() > 0] if sparse else parameters
    inputs = list(info.optim_inputs_func(device="cpu"))
    for (variant, options), (index, made) in itertools.product(implementations(info), enumerate(inputs)):
        merged = {**made.kwargs, **options}
        if any(isinstance(v, torch.Tensor) for v in merged.values()) and variant not in ("fused", "capturable"):
            continue

        def function(parameters: list[torch.Tensor], merged: dict[str, Any] = merged) -> Any:
            return stepped(info, merged, sparse, parameters)

        def reference(parameters: list[torch.Tensor], merged: dict[str, Any] = merged) -> Any:
            # Capturing is of devices alone: on the CPU the same steps are made without it.
            eager = {**merged, "capturable": False} if "capturable" in merged else merged
            return stepped(info, eager, sparse, parameters)

        # It orthogonalizes in bfloat16.
        tolerance = TOLERANCES[torch.bfloat16] if info.optim_cls.__name__ == "Muon" else None
        if "capturable" in merged:
            tolerance = TOLERANCES[torch.float32]  # that of the count of steps, which is a tensor then
        yield variant, str(index), Call(function, (parameters,), {}, reference=reference, tolerance=tolerance)


def modules() -> dict[str, Any]:
    """Each ModuleInfo by its name, such as nn.Linear; empty where PyTorch's test modules can't be imported."""
    if not opinfos.database():
        return {}
    from torch.testing._internal.common_modules import module_db

    return {info.name: info for info in module_db}


def optimizers() -> dict[str, Any]:
    if not opinfos.database():
        return {}
    from torch.testing._internal.common_optimizers import optim_db

    found: list[Any] = optim_db
    return {f"optim.{info.optim_cls.__name__}": info for info in found}
