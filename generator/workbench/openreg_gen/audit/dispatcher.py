"""Reads the dispatcher: a backend's kernels with file and line, its fallbacks, and what serves each operator of ATen."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch

from .. import python_kernels
from ..python_kernels import Place as Place

# The keys at which a backend registers kernels. PyTorch prints these names whatever the backend is called.
FUNCTIONALITIES = ("", "Autograd", "Autocast", "Sparse", "SparseCsr", "Quantized", "NestedTensor")


class Registration(NamedTuple):
    """A kernel that was registered for an operator: "aten::add.out" at "PrivateUse1".

    boxed: it takes a stack and any operator, as at::native::cpu_fallback does. Functions in Python are not.
    active: False if a later registration took its place.
    """

    op: str
    key: str
    place: Place
    boxed: bool
    fallthrough: bool
    active: bool


class Fallback(NamedTuple):
    """The kernel of a key itself, for operators without one: a function, or a fallthrough to the next key."""

    key: str
    place: Place
    fallthrough: bool


class DispatchResult(NamedTuple):
    """What runs for an operator at a key.

    how: "kernel", "boxed" (a kernel that takes any operator), "default" (CompositeExplicitAutograd), "math"
    (CompositeImplicitAutograd), "fallback", "fallthrough" or "none".
    """

    op: str
    how: str
    place: Place


_REGISTERED = re.compile(
    r"^(?P<key>\w+)(?:\[alias\])?(?P<inactive> \(inactive\))?: (?P<through>fallthrough )?registered at (?P<place>.*?)"
    r" :: (?P<signature>.*?) \[ (?P<kinds>[a-z ]*)\]$"
)
_SERVES = re.compile(r"^(?P<key>\w+): (?P<through>fallthrough )?registered at (?P<place>.*) \[(?P<kind>[a-z ]+)\]$")
_KINDS = {
    "kernel": "kernel",
    "default backend kernel": "default",
    "math kernel": "math",
    "backend fallback": "fallback",
}


def keys_of(kind: str) -> tuple[str, ...]:
    """The dispatch keys of a device type: ("PrivateUse1", "AutogradPrivateUse1", ...)."""
    backend = "CPU" if kind == "cpu" else "PrivateUse1"
    return tuple(functionality + backend for functionality in FUNCTIONALITIES)


def place_of(text: str) -> Place:
    """ "/src/Kernels.cpp:12" as a place; PyTorch adds no line where the compiler gave none."""
    file, colon, line = text.strip().rpartition(":")
    return Place(file, int(line)) if colon and line.isdigit() else Place(text.strip(), 0)


def parse_registrations(op: str, dump: str, keys: Iterable[str]) -> Iterator[Registration]:
    """The kernels of one operator at some keys, from what torch._C._dispatch_dump() prints."""
    wanted = frozenset(keys)
    for line in dump.splitlines():
        found = _REGISTERED.match(line)
        if found is None or found["key"] not in wanted:
            continue
        yield Registration(
            op,
            found["key"],
            python_kernels.place(op, found["key"], place_of(found["place"])),
            boxed=found["signature"] == "(none)" and not found["place"].partition(":")[0].endswith(".py"),
            fallthrough=found["through"] is not None,
            active=found["inactive"] is None,
        )


def parse_served(table: str, key: str, op: str = "") -> tuple[str, Place]:
    """What runs for an operator at a key, from what torch._C._dispatch_dump_table() prints; ("none", ...) if nothing does."""
    for line in table.splitlines():
        if not line.startswith(key + ":"):
            continue
        found = _SERVES.match(line)
        if found is None:
            return "none", Place("", 0)
        how = "fallthrough" if found["through"] else _KINDS.get(found["kind"], found["kind"])
        return how, python_kernels.place(op if how == "kernel" else "", key, place_of(found["place"]))
    return "none", Place("", 0)


def all_operators() -> list[str]:
    """Names of operators with a schema, of every namespace: "aten::add.out"."""
    return sorted(name for name in torch._C._dispatch_get_all_op_names() if "schema: " in torch._C._dispatch_dump(name))


def registrations(kind: str, operators: Iterable[str]) -> list[Registration]:
    """All kernels at the keys of a device type."""
    keys = keys_of(kind)
    return [each for op in operators for each in parse_registrations(op, torch._C._dispatch_dump(op), keys)]


def served(kind: str, operators: Iterable[str], registered: Iterable[Registration]) -> list[DispatchResult]:
    """What serves each of ATen's operators at the device type's own key."""
    key = keys_of(kind)[0]
    boxed = {each.op for each in registered if each.key == key and each.active and each.boxed}
    rows = []
    for op in operators:
        if not op.startswith("aten::"):
            continue
        how, place = parse_served(torch._C._dispatch_dump_table(op), key, op)
        rows.append(
            DispatchResult(op.removeprefix("aten::"), "boxed" if how == "kernel" and op in boxed else how, place)
        )
    return rows


def fallbacks(kind: str) -> list[Fallback]:
    """Kernels of the keys themselves, found in the table of an operator for which nobody registers kernels."""
    library = torch.library.Library("openreg_gen_audit", "FRAGMENT")
    library.define("nothing() -> ()")
    try:
        table = torch._C._dispatch_dump_table("openreg_gen_audit::nothing")
    finally:
        library._destroy()
    found = []
    for key in keys_of(kind):
        how, place = parse_served(table, key)
        if how in ("fallback", "fallthrough"):
            found.append(Fallback(key, place, how == "fallthrough"))
    return found
