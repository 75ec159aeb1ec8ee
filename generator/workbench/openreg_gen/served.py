"""The code that computes an operator for a device: a kernel of the backend, or the CPU fallback."""

import functools

import torch

from .audit import dispatcher
from .record import COMPUTING, MINIMAL, out_forms

FALLBACK, KERNEL, PARTS = "fallback", "kernel", "parts"
# Operators that prepare memory and move values, as "add" or "fill_.Scalar": they compute nothing.
MOVING = (MINIMAL - COMPUTING) | {
    "copy_",
    "clone",
    "_to_copy",
    "contiguous",
    "resolve_conj",
    "resolve_neg",
    "detach",
    "alias",
}
FILLED = {"ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "empty_like", "fill", "zero"}


def served(kind: str, operator: str) -> tuple[str, str]:
    """How the dispatcher serves an operator ("aten::add.out") on a device, as audit.dispatcher says it, and where that was registered."""
    key = dispatcher.keys_of(kind)[0]
    how, place = dispatcher.parse_served(torch._C._dispatch_dump_table(operator), key, operator)
    registered = dispatcher.parse_registrations(operator, torch._C._dispatch_dump(operator), [key])
    if how == "kernel" and any(each.boxed and each.active for each in registered):
        how = "boxed"
    return how, f"{place.file}:{place.line}" if place.line else place.file


@functools.cache
def computed_by(kind: str, operator: str) -> str:
    """FALLBACK, KERNEL, or PARTS of an operator that PyTorch makes of others. One with a default kernel for all backends is computed
    by its out= form, which that kernel calls."""
    try:
        how, _ = served(kind, operator)
    except RuntimeError:  # no operator of the dispatcher's
        return PARTS
    if how == "default":
        by_forms = (computed_by(kind, form) for form in out_forms(operator))
        return next((whom for whom in by_forms if whom != PARTS), PARTS)
    return FALLBACK if how in ("fallback", "boxed") else KERNEL if how == "kernel" else PARTS


def base_of(operator: str) -> str:
    """ "aten::add_.Tensor" -> "add"."""
    return operator.removeprefix("aten::").partition(".")[0].removesuffix("_")


def moves(operator: str) -> bool:
    """Whether an operator ("aten::add.out") only prepares memory or moves values."""
    name = operator.removeprefix("aten::")
    base = name.partition(".")[0]
    return name in MOVING or base in MOVING or base.startswith("new_") or base in FILLED


def fallback_line(kind: str, fell_back: int, operators: int) -> str:
    """How many operators the CPU fallback computed; "" if there is none."""
    if not fell_back:
        return ""
    text = f"{fell_back} of {operators} operators {'was' if fell_back == 1 else 'were'} computed by the CPU fallback"
    if fell_back < operators:
        return text
    return f"{text}: no kernel of {kind} was checked, only its memory and copies"
