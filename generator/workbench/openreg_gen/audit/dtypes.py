"""The dtypes that operators take: PyTorch's own samples, on the CPU and then on the device, the first for each dtype. If the
device refuses it, some of the next, since the first is often of no dimension, which is its own matter."""

import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from ..testing.opinfos import database, name_of
from .probe import first_line

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool)


MOST = 4  # samples per dtype that are tried


class Call(NamedTuple):
    """One call of an operator on the device, which the CPU answered. error: what the device raised; empty if it answered.
    shape: of the call's first tensor: "(2, 3)".
    """

    op: str
    dtype: str
    error: str
    shape: str


class Entry(NamedTuple):
    """An OpInfo's calls, and the error with which all of its samples ended that the device was given; else it is empty.
    names: PyTorch's operators that the entry is about, without overloads.
    """

    calls: list[Call]
    names: list[str]
    error: str


def subjects() -> list[str]:
    """The entries whose samples run, by name. Foreach operators call the operators that they are named after."""
    return [name for name in database() if not name.startswith("_foreach")]


def first_tensor(args: Any) -> torch.Tensor | None:
    return next((value for value in tree_flatten(args)[0] if isinstance(value, torch.Tensor)), None)


class _Calls(TorchDispatchMode):
    """Notes each call of an ATen operator, and the error that it ends with."""

    def __init__(self, see: Callable[[Call], None]) -> None:
        super().__init__()
        self.see = see

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensor = first_tensor((args, kwargs))
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self._see(func, tensor, first_line(str(error)) or type(error).__name__)
            raise
        self._see(func, tensor, "")
        return result

    def _see(self, func: Any, tensor: torch.Tensor | None, error: str) -> None:
        if func.namespace == "aten" and tensor is not None:
            dtype = str(tensor.dtype).removeprefix("torch.")
            self.see(Call(name_of(func), dtype, error, str(tuple(tensor.shape)) if error else ""))


class Samples:
    """Runs samples on one device. A job's name is an OpInfo's."""

    def __init__(self, kind: str, begin: Callable[[str], None] = lambda part: None) -> None:
        self.kind = kind
        self.begin = begin
        self.infos = database()

    def run(self, name: str) -> Entry:
        """The calls of the entry's samples, for each dtype that the CPU takes; a call that comes twice is there once."""
        info, calls = self.infos[name], dict[Call, None]()
        errors: list[str] = []
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            self.begin(str(dtype).removeprefix("torch."))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                errors += self._run(info, dtype, calls)
        failed = bool(errors) and all(errors)
        return Entry(list(calls), sorted(aten_names(info)) if failed else [], errors[0] if failed else "")

    def _run(self, info: Any, dtype: torch.dtype, calls: dict[Call, None]) -> list[str]:
        """How each sample ended that the device was given: with what error; empty if it ran, and then it is the last."""
        ends: list[str] = []
        try:
            torch.manual_seed(0)
            for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), 2 * MOST):
                if self._call(info, sample, lambda call: None):
                    continue  # some samples need what this machine does not have
                try:
                    moved = sample.transform(lambda value: self._move(value))
                except Exception as error:
                    ends.append(text_of(error))
                else:
                    ends.append(self._call(info, moved, lambda call: calls.update({call: None})))
                if not ends[-1] or len(ends) == MOST:
                    break
        except Exception:  # an entry that makes no samples here
            pass
        return ends

    def _move(self, value: Any) -> Any:
        if value == "cpu":
            return self.kind
        if isinstance(value, torch.device):
            return torch.device(self.kind)
        return tree_map_only(torch.Tensor, lambda tensor: tensor.to(self.kind), value)

    def _call(self, info: Any, sample: Any, see: Callable[[Call], None]) -> str:
        """The error of a sample; empty if it runs."""
        try:
            with _Calls(see):
                info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            return text_of(error)
        return ""


def text_of(error: Exception) -> str:
    return first_line(str(error)) or type(error).__name__


def aten_names(info: Any) -> set[str]:
    """ "matmul" and "__rmatmul__", "linalg_inv": the entry's operators; as it is, a name that is none, such as "sparse.mm"."""
    found = set()
    for given in filter(None, (info.name, getattr(info, "aten_name", None))):
        name = str(given).removeprefix("nn.functional.")
        operator = name.replace(".", "_")
        found.add(operator if hasattr(torch.ops.aten, operator) else name)
    return found
