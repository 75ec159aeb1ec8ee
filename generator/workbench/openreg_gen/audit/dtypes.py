"""The dtypes that operators take: the first sample of PyTorch's own for each, on the CPU and then on the device."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from ..testing.opinfos import database, name_of
from .probe import first_line

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)


class Call(NamedTuple):
    """One call of an operator on the device, which the CPU answered. error: what the device raised; empty if it answered."""

    op: str
    dtype: str
    error: str


def subjects() -> list[str]:
    """The entries whose samples run, by name. Foreach operators call the operators that they are named after."""
    return [name for name in database() if not name.startswith("_foreach")]


def dtype_of(args: Any) -> str:
    """The dtype of a call's first tensor; empty if it has none."""
    found = next((value for value in tree_flatten(args)[0] if isinstance(value, torch.Tensor)), None)
    return "" if found is None else str(found.dtype).removeprefix("torch.")


class _Calls(TorchDispatchMode):
    """Notes each call of an ATen operator, and the error that it ends with."""

    def __init__(self, see: Callable[[Call], None]) -> None:
        super().__init__()
        self.see = see

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        op, dtype = name_of(func), dtype_of((args, kwargs))
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self._see(func, op, dtype, first_line(str(error)) or type(error).__name__)
            raise
        self._see(func, op, dtype, "")
        return result

    def _see(self, func: Any, op: str, dtype: str, error: str) -> None:
        if func.namespace == "aten" and dtype:
            self.see(Call(op, dtype, error))


class Samples:
    """Runs samples on one device. A job's name is an OpInfo's."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.infos = database()

    def run(self, name: str) -> list[Call]:
        """The calls of the entry's first sample of each dtype that the CPU takes; a call that comes twice is there once."""
        info, calls = self.infos[name], dict[Call, None]()
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._run(info, dtype, calls)
        return list(calls)

    def _run(self, info: Any, dtype: torch.dtype, calls: dict[Call, None]) -> None:
        try:
            torch.manual_seed(0)
            sample = next(iter(info.sample_inputs("cpu", dtype, requires_grad=False)), None)
            if sample is None:
                return
            on_cpu = self._call(info, sample, lambda call: None)
        except Exception:  # some samples need what this machine does not have
            return
        if not on_cpu:
            return
        try:
            moved = sample.transform(lambda value: self._move(value))
        except Exception:
            return
        self._call(info, moved, lambda call: calls.update({call: None}))

    def _move(self, value: Any) -> Any:
        if value == "cpu":
            return self.kind
        if isinstance(value, torch.device):
            return torch.device(self.kind)
        return tree_map_only(torch.Tensor, lambda tensor: tensor.to(self.kind), value)

    def _call(self, info: Any, sample: Any, see: Callable[[Call], None]) -> bool:
        """Whether the sample runs."""
        try:
            with _Calls(see):
                info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            return False
        return True
