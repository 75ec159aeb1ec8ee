"""A wrong kernel, for tests: `--import planted_fault`, with the operator and a part of its description in PLANTED_FAULT.

PLANTED_FAULT="addmm mat1=float32[256, 128]" makes the first element of the result of those calls of aten::addmm wrong, by
a tenth of the largest.
"""

import os
import re

import torch
from openreg_gen.compare.rules import described
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = torch._C._get_privateuse1_backend_name()
OP, _, PART = os.environ["PLANTED_FAULT"].partition(" ")
NAME, _, OVERLOAD = OP.partition(".")
FUNC = getattr(getattr(torch.ops.aten, NAME), OVERLOAD or "default")


def moved(tree, device):
    return tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, tree)


def wrong(*args, **kwargs):
    host_args, host_kwargs = moved((args, kwargs), "cpu")
    results = FUNC(*host_args, **host_kwargs)
    if PART in re.sub(r" on \w+(:\d+)?", "", ", ".join(described(FUNC, (args, kwargs)))):
        first = next(x for x in tree_flatten(results)[0] if isinstance(x, torch.Tensor) and x.is_floating_point())
        first[(0,) * first.dim()] += 0.1 * first.abs().max()
    return moved(results, DEVICE)


LIBRARY = torch.library.Library("aten", "IMPL")
LIBRARY.impl(OP, wrong, "PrivateUse1", allow_override=True)
