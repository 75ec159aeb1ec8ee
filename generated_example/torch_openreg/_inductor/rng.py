# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""Dropout that is computed again in the backward (torch.utils.checkpoint in a compiled function) draws the same numbers.

PyTorch saves the random state and sets it again with two operators, which look a device up in a list of names: no function
registers another. So the backend replaces what these two operators do for this device, and for no other (_patches.py has the other
replacements). OPENREG_COMPILE_RNG=0 leaves PyTorch as it is, and so does a release that has them otherwise; such
a function is then refused by PyTorch's "Backend not supported".
"""

import os
from collections.abc import Callable
from typing import Any

import torch
from torch._C import DispatchKey

from .. import backend


def register() -> None:
    """Once PyTorch has its two operators."""
    from torch._higher_order_ops import utils
    from torch._prims import rng_prims

    if os.environ.get("OPENREG_COMPILE_RNG", "1") == "0":
        return
    operators = [getattr(rng_prims, name, None) for name in ("run_and_save_rng_state", "run_with_rng_state")]
    fakes = getattr(utils, "registered_hop_fake_fns", {})
    if operators[0] not in fakes or any(DispatchKey.BackendSelect not in op.py_kernels for op in operators):
        return
    for op, ours in zip(operators, (_save_and_run, _set_and_run), strict=True):
        op.py_kernels[DispatchKey.BackendSelect] = _choose(op.py_kernels[DispatchKey.BackendSelect], ours)
        getattr(op, "_dispatch_cache", {}).clear()
    fakes[operators[0]] = _choose(fakes[operators[0]], _save_and_run)


def _device(values: Any) -> torch.device | None:
    """The device of an operator's arguments, if it is one of ours."""
    for value in values:
        where = value.device if isinstance(value, torch.Tensor) else value
        if isinstance(where, torch.device) and where.type == "openreg":
            return where
        if isinstance(where, str) and where.partition(":")[0] == "openreg":
            return torch.device(where)
    return None


def _choose(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(*args: Any, **kwargs: Any) -> Any:
        device = _device([*args, *kwargs.values()])
        return theirs(*args, **kwargs) if device is None else ours(device, *args, **kwargs)

    return chosen


def _save_and_run(device: torch.device, op: Any, *args: Any, **kwargs: Any) -> Any:
    # PyTorch has taken the CPU's state for a sample of the size, which generated code checks.
    with torch.utils._python_dispatch._disable_current_modes():
        state, saved = backend.get_rng_state(device), torch.zeros_like(torch.get_rng_state())
        saved[: state.numel()] = state
    return saved, op(*args, **kwargs)


def _set_and_run(device: torch.device, state: torch.Tensor, op: Any, *args: Any, **kwargs: Any) -> Any:
    current = backend.get_rng_state(device)
    backend.set_rng_state(state[: current.numel()].clone(), device)
    try:
        return op(*args, **kwargs)
    finally:
        backend.set_rng_state(current, device)
