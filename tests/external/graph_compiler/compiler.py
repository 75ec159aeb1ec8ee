"""A mock of a graph compiler, for tests: it knows add, sub and mul of float32 tensors of one size, and div of int64.

MOCK_FAULT in the environment makes it fail: "error", "hang" (until it has another value), or "wrong", which compiles add as sub.
"""

import os
import time
from collections.abc import Callable, Sequence

import torch

from ._graph import Refusal

aten = torch.ops.aten
WORDS = {aten.add.Tensor: "add", aten.sub.Tensor: "sub", aten.mul.Tensor: "mul", aten.div.Tensor: "div"}


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
    while os.environ.get("MOCK_FAULT") == "hang":
        time.sleep(0.01)
    takes = {each.dtype for each in inputs}
    if takes not in ({torch.float32}, {torch.int64}):
        raise Refusal("dtype", "an input that is not of float32")
    places = {node: i for i, node in enumerate(graph.graph.find_nodes(op="placeholder"))}
    lines, gives = [], None
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target == torch.ops.aten.clone.default:
            places[node] = places[node.args[0]]
            continue
        if node.target not in WORDS or node.kwargs or not all(isinstance(each, torch.fx.Node) for each in node.args):
            raise Refusal("operator", str(node.target))
        gives = node.meta["val"].dtype
        floats = takes == {torch.float32}
        if floats == (node.target == aten.div.Tensor) or (floats and gives != torch.float32):
            raise Refusal("dtype", str(gives))
        sizes = {tuple(each.meta["val"].shape) for each in node.args} - {()}
        if len(sizes) != 1:
            raise Refusal("shape", "operands of several sizes")
        word = "sub" if fault == "wrong" and WORDS[node.target] == "add" else WORDS[node.target]
        places[node] = len(places)
        lines.append(f"{word} {places[node]} {places[node.args[0]]} {places[node.args[1]]}")
    return "\n".join([f"{takes.pop()} {gives}", *lines]).encode()
