# Shared with openreg-gen: yours to edit; `compile` in the spec changes what is rendered.
"""torch.compile(model, backend="openreg"): graphs of the device's own operators, without a compiler.

For devices that can't run C++ functions on their memory, and where there is no C++ compiler. What the device has no kernel of is
taken apart into what it has; forward and backward are traced once, and what the backward needs is saved or computed again,
whichever is cheaper. docs/compile.md says what a vendor with a compiler puts in the place of run().
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition

_KEYS = ("PrivateUse1", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def has_kernel(op: torch._ops.OpOverload) -> bool:
    """Whether the device runs `op` directly: with its own kernel, or one composed of its kernels."""
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key) for key in _KEYS)


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Of the operators that the device has no kernel of."""
    return {
        op: made_of
        for op, made_of in core_aten_decompositions().items()
        if isinstance(op, torch._ops.OpOverload) and not has_kernel(op)
    }


def run(graph: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """Runs a graph of the device's operators, in order. A vendor's compiler begins here."""
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return make_boxed_func(graph.forward)


def compile_graph(graph: torch.fx.GraphModule, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """Dynamo's backend of the device's name."""
    if options:
        ours = "torch.compile(backend='openreg')"
        raise ValueError(f"{ours} takes no options, and got {sorted(options)}")
    lower = aot_autograd(
        fw_compiler=run,
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
    )
    return lower(graph, example_inputs)
