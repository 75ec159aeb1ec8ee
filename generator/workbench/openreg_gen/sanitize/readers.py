"""What reaches memory of the CPU without an operator."""

from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from . import accesses
from .accesses import Use

if TYPE_CHECKING:
    from .mode import Sanitizer

_POINTERS = frozenset(
    (torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.data_ptr, torch.Tensor.__dlpack__, torch.utils.dlpack.to_dlpack)
)
_READERS = frozenset(
    (
        *(torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.tolist),
        *(torch.Tensor.__deepcopy__, torch.Tensor.__reduce_ex__),
    )
)
_MAKERS = frozenset((torch.tensor, torch.as_tensor, torch.asarray))


class Readers(TorchFunctionMode):
    """Sees functions of PyTorch that read tensors of the CPU, or give their address away."""

    def __init__(self, sanitizer: "Sanitizer") -> None:
        super().__init__()
        self._sanitizer = sanitizer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if torch.compiler.is_compiling():  # Dynamo traces this, too
            return func(*args, **(kwargs or {}))
        if func in _READERS or func in _POINTERS:
            self._reads(func, args[0], func in _READERS, func in _POINTERS)
        result = func(*args, **(kwargs or {}))
        if func in _MAKERS and args:
            for each in tree_leaves(args[0]):
                if isinstance(each, torch.Tensor) and not _shares_memory(each, result):
                    self._reads(func, each, True, False)
        return result

    def _reads(self, func: Any, tensor: Any, reads: bool, points: bool) -> None:
        if isinstance(tensor, torch.Tensor) and tensor.is_cpu:
            self._sanitizer.python_reaches(Use("self", tensor, False), _name(func), reads, points)


def _name(func: Any) -> str:
    name = str(func.__name__)
    return f"Tensor.{name}" if hasattr(torch.Tensor, name) else f"torch.{name}"


def _shares_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    found, others = accesses.storage_of(one), accesses.storage_of(other)
    return found is not None and others is not None and found[1] == others[1]
