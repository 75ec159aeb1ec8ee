"""A mock of a graph compiler, for tests: it knows add, sub and mul of float32 tensors of one size.

MOCK_FAULT in the environment makes it fail: "error", "hang", or "wrong", which compiles add as sub.
"""

import os
import time
from collections.abc import Callable, Sequence

import torch

from ._graph import Refusal

WORDS = {torch.ops.aten.add.Tensor: "add", torch.ops.aten.sub.Tensor: "sub", torch.ops.aten.mul.Tensor: "mul"}


def version() -> str:
    return f"mock 1 {os.environ.get('MOCK_FAULT', '')}"


def decompositions() -> dict[object, Callable]:
    return torch._decomp.core_aten_decompositions()


def supports(node: torch.fx.Node) -> bool:
    return node.target in WORDS


def compile(graph: torch.fx.GraphModule, inputs: Sequence[torch.Tensor]) -> bytes:
    fault = os.environ.get("MOCK_FAULT", "")
    if fault == "error":
        raise ValueError("the mock fails, as it was asked to")
    if fault == "hang":
        time.sleep(3600)
    if any(each.dtype != torch.float32 for each in inputs):
        raise Refusal("dtype", "an input that is not of float32")
    places = {node: i for i, node in enumerate(graph.graph.find_nodes(op="placeholder"))}
    lines = []
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target == torch.ops.aten.clone.default:
            places[node] = places[node.args[0]]
            continue
        if node.target not in WORDS or node.kwargs or not all(isinstance(each, torch.fx.Node) for each in node.args):
            raise Refusal("operator", str(node.target))
        if node.meta["val"].dtype != torch.float32:
            raise Refusal("dtype", str(node.meta["val"].dtype))
        sizes = {tuple(each.meta["val"].shape) for each in node.args} - {()}
        if len(sizes) != 1:
            raise Refusal("shape", "operands of several sizes")
        word = "sub" if fault == "wrong" and WORDS[node.target] == "add" else WORDS[node.target]
        places[node] = len(places)
        lines.append(f"{word} {places[node]} {places[node.args[0]]} {places[node.args[1]]}")
    return "\n".join(lines).encode()
