"""Which module of the script's model calls an operator, forward and backward, and in which step.

Note [Modules of backward]
Autograd numbers the nodes of its graph per thread. An operator that records a node is called right after the node got its
number, so the forward pass notes the module under that number. In backward, PyTorch says which node runs. Numbers of
several threads may be the same; then the node's name decides. A node of AccumulateGrad has no number, but its parameter.
"""

import sys
import threading
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ..trace.places import is_users
from .findings import Where

_MOST = 500_000  # nodes of a thread that are remembered


class _Running(NamedTuple):
    """A module whose forward runs. `node` is the node of autograd that called it, in a recomputation."""

    module: torch.nn.Module
    path: str
    node: Any


class _Thread(threading.local):
    def __init__(self) -> None:
        self.running: list[_Running] = []
        self.optimizer = ""
        self.numbers: dict[int, tuple[str, str]] | None = None


class Modules:
    """Follows the calls of modules and optimizers while it is open, on all threads."""

    def __init__(self) -> None:
        self._thread = _Thread()
        self._lock = threading.Lock()
        self._numbers: list[dict[int, tuple[str, str]]] = []  # one per thread: operator and module by a node's number
        self._roots: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()
        self._known: weakref.WeakKeyDictionary[torch.nn.Module, tuple[Any, str]] = weakref.WeakKeyDictionary()
        self._parameters: dict[int, tuple[Any, str]] = {}
        self._hooks: list[Any] = []
        self._trains = False
        self._finished = 0  # calls of optimizers; without training, of outermost modules

    def open(self) -> None:
        self._hooks = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
            register_optimizer_step_pre_hook(self._enter_optimizer),
            register_optimizer_step_post_hook(self._leave_optimizer),
        ]

    def close(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def where(self, op: str) -> Where:
        """The place that calls an operator now; to be asked at each call, since it notes nodes of autograd."""
        node = torch._C._current_autograd_node()
        running = self._thread.running
        if running and running[-1].node is node:
            module, phase = running[-1].path, "forward" if node is None else "recomputed"
        elif node is not None:
            module, phase = self._of_node(node), "backward"
        elif self._thread.optimizer:
            module, phase = self._thread.optimizer, "optimizer"
        else:
            module, phase = "", "forward"
        self._note(op, module)
        return Where(module, phase, self._finished)

    def _note(self, op: str, module: str) -> None:
        numbers = self._thread.numbers
        if numbers is None:
            numbers = self._thread.numbers = {}
            with self._lock:
                self._numbers.append(numbers)
        # An operator that records no node finds the number of an earlier one, which stays.
        numbers.setdefault(torch.autograd._get_sequence_nr() - 1, (op, module))  # type: ignore[attr-defined]
        if len(numbers) > _MOST:
            for number in list(numbers)[: _MOST // 2]:
                del numbers[number]

    def _of_node(self, node: Any) -> str:
        variable = getattr(node, "variable", None)
        if variable is not None:
            return self._of_parameter(variable)
        number = node._sequence_nr()
        found = [numbers[number] for numbers in list(self._numbers) if number in numbers]
        if len(found) > 1:
            name = node.name().partition("Backward")[0].lower()
            found = [each for each in found if _plain(each[0]) == name] or found
        return found[0][1] if found else ""

    def _of_parameter(self, variable: torch.Tensor) -> str:
        known = self._parameters.get(id(variable))
        if known is None or known[0]() is not variable:
            names = (
                f"{path}.{name}"
                for root, path in list(self._roots.items())
                for name, parameter in root.named_parameters()
                if parameter is variable
            )
            known = self._parameters[id(variable)] = (weakref.ref(variable), next(names, ""))
        return known[1]

    def _enter(self, module: torch.nn.Module, args: Any) -> None:
        running = self._thread.running
        if not running and torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters()):
            self._train()
        node = torch._C._current_autograd_node()
        running.append(_Running(module, self._path(module), node))

    def _leave(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        running = self._thread.running
        while running and running.pop().module is not module:
            pass
        if not running and not self._trains:
            self._finished += 1

    def _enter_optimizer(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._thread.optimizer = type(optimizer).__name__

    def _leave_optimizer(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._thread.optimizer = ""
        self._train()
        self._finished += 1

    def _train(self) -> None:
        """From now on, steps are those of optimizers."""
        if not self._trains:
            self._trains, self._finished = True, 0

    def _path(self, module: torch.nn.Module) -> str:
        root, inner = self._known.get(module, (None, ""))
        root = None if root is None else root()
        if root is None or not _is_at(root, inner, module):
            root, inner = self._find(module)
            self._known[module] = weakref.ref(root), inner
        return f"{self._roots[root]}.{inner}" if inner else self._roots[root]

    def _find(self, module: torch.nn.Module) -> tuple[torch.nn.Module, str]:
        """The outermost module that is known to hold this one, and the path in it."""
        outer = [each.module for each in self._thread.running[:1]]
        for root in (*outer, *list(self._roots)):
            inner = _inside(root, module)
            if inner is not None and root in self._roots:
                return root, inner
        for name, root in _variables():
            inner = _inside(root, module)
            if inner is not None:
                self._roots[root] = name
                return root, inner
        self._roots[module] = type(module).__name__
        return module, ""


def _plain(op: str) -> str:
    """ "aten.native_layer_norm.default" as autograd begins its node's name, in small letters."""
    return op.split(".")[1].rstrip("_").replace("_", "")


def _inside(root: torch.nn.Module, module: torch.nn.Module) -> str | None:
    return next((name for name, each in root.named_modules() if each is module), None)


def _is_at(root: torch.nn.Module, path: str, module: torch.nn.Module) -> bool:
    try:
        return root.get_submodule(path) is module
    except AttributeError:
        return False


def _variables() -> Iterator[tuple[str, torch.nn.Module]]:
    """Variables of the user's code that is running and hold a module, the innermost function's first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            for name, value in list(frame.f_locals.items()):
                if isinstance(value, torch.nn.Module):
                    yield (type(value).__name__ if name == "self" else name), value
                elif name == "self" and hasattr(value, "__dict__"):
                    inner = vars(value).items()
                    yield from ((each, module) for each, module in inner if isinstance(module, torch.nn.Module))
        frame = frame.f_back
