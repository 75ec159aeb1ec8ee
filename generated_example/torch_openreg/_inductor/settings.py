# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `compile` in the spec changes it, then `openreg-gen generate`.
"""The tree's key in Inductor's caches, the graph before it is lowered, and settings during code generation."""

import functools
import hashlib
import threading
import warnings
from pathlib import Path
from typing import Any

import torch
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphModulePass

# Inductor's defaults for devices other than the CPU are for Triton's kernels. Asked for a kernel's language it names that of
# CUDA devices (the scope below says another), and it rewrites loops for fusion in a form that its C++ kernels don't have.
_WHILE_CODE_IS_MADE = {
    "loop_reindexing_after_fusion": False,
    "loop_index_inversion_in_fusion": False,
}


class _Scope(threading.local):
    """From the making of a wrapper to its text. If an error leaves it open, the thread's next compilation closes it."""

    patch: Any = None

    def open(self, language: str) -> None:
        self.close()
        values = _WHILE_CODE_IS_MADE | {"cuda_backend": language}
        self.patch = config.patch({key: value for key, value in values.items() if hasattr(config, key)})
        self.patch.__enter__()

    def close(self) -> None:
        patch, self.patch = self.patch, None
        if patch is not None:
            patch.__exit__(None, None, None)


scope = _Scope()


@functools.cache
def tree_hash() -> str:
    """A hash of everything that affects tracing and code generation, so that no other build of the tree uses cached code.

    That is the libraries, too: a graph of a device that has its own kernel for attention is none for one that lacks it.
    """
    digest = hashlib.sha256(b"openreg 0.1.0")
    package = Path(__file__).resolve().parents[1]
    for path in [*sorted((package / "_inductor").glob("*.py")), *sorted((package / "lib").iterdir())]:
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


class Settings(CustomGraphModulePass):
    """Inductor calls it for each graph, and puts its uuid into the keys of its caches."""

    def __call__(self, gm: torch.fx.GraphModule) -> None:
        scope.close()
        if not move_numbers(gm):
            return
        if config.triton.cudagraphs:
            warnings.warn(
                "openreg captures no graphs by itself: torch.compile leaves out what mode='reduce-overhead' and "
                "'max-autotune' would add, and compiles as without them; torch.openreg.graph captures compiled code, too",
                stacklevel=2,
            )

    def uuid(self) -> str:
        return tree_hash()


def _value(argument: Any) -> torch.Tensor | None:
    value = argument.meta.get("val") if isinstance(argument, torch.fx.Node) else None
    return value if isinstance(value, torch.Tensor) else None


def move_numbers(gm: torch.fx.GraphModule) -> bool:
    """Copy 0-dim CPU tensors to the device if Inductor would run an operator on the CPU because of them.

    Of operands on a GPU and the CPU it takes the GPU's device, but it knows GPUs by a list of names. Of others, the first operand
    counts. Returns whether the graph has operators of the device at all.
    """
    found = changed = False
    for node in list(gm.graph.nodes):
        result = _value(node)
        if node.op != "call_function" or result is None or result.device.type != "openreg":
            continue
        found = True
        operands = [(n, value) for n in node.all_input_nodes if (value := _value(n)) is not None]
        on_cpu = [n for n, value in operands if value.device.type == "cpu" and value.dim() == 0]
        if not on_cpu or len(on_cpu) == len(operands) or operands[0][1].device.type != "cpu":
            continue
        first = on_cpu[0]
        if first is not operands[0][0]:
            continue
        with gm.graph.inserting_before(node):
            moved = gm.graph.call_function(torch.ops.prims.device_put.default, (first, result.device))
        moved.meta["val"] = _value(first).to(result.device)
        node.replace_input_with(first, moved)
        changed = True
    if changed:
        gm.recompile()
    return found
