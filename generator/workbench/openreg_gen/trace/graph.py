"""Autograd's graph of a backward call: which node has which number, and whose gradients the leaves add up."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._C._profiler import _RecordFunctionFast

from .events import TensorInfo
from .tensors import Memory, tensors_in

_MOST = 20_000  # nodes of a graph that are looked at


@dataclass
class GraphNode:
    """A node of autograd's graph. `sequence` is the number of the operator that made it; None for a leaf's node."""

    name: str
    sequence: int | None
    leaf: TensorInfo | None = None
    above: list[int] = field(default_factory=list)  # the nodes that hand it a gradient


@dataclass
class Graph:
    nodes: list[GraphNode] = field(default_factory=list)


def starts_backward(name: str) -> bool:
    """Whether a Python function of this name runs autograd's graph."""
    return name in ("torch.Tensor.backward", "torch.autograd.backward", "torch.autograd.grad")


def _roots(name: str, args: Sequence[Any]) -> list[torch.Tensor]:
    if starts_backward(name):
        return [tensor for tensor in tensors_in(list(args[:1])) if tensor.grad_fn is not None]
    return []


def watch(graph: Graph, name: str, args: Sequence[Any], memory: Memory, mark: str) -> list[Any]:
    """If a function starts a backward pass, add its graph, and mark its nodes when they run.

    Returns the hooks that do so, to be removed after the call; each opens an empty range `mark` + number in the profiler.
    """
    numbers: dict[Any, int] = {}
    hooks = []
    waiting: list[tuple[Any, int | None]] = [(tensor.grad_fn, None) for tensor in _roots(name, args)]
    while waiting and len(graph.nodes) < _MOST:
        node, above = waiting.pop()
        new = node not in numbers
        if new:
            numbers[node] = len(graph.nodes)
            leaf = getattr(node, "variable", None)
            sequence = node._sequence_nr() if leaf is None else None
            graph.nodes.append(GraphNode(node.name(), sequence, None if leaf is None else memory.describe(leaf)))
            hooks.append(node.register_prehook(_marker(f"{mark}{numbers[node]}")))
        if above is not None and above not in graph.nodes[numbers[node]].above:
            graph.nodes[numbers[node]].above.append(above)
        if new:
            waiting += [(below, numbers[node]) for below, _ in reversed(node.next_functions) if below is not None]
    return hooks


def _marker(name: str) -> Any:
    def before(gradients: object) -> None:
        with _RecordFunctionFast(name):
            pass

    return before
