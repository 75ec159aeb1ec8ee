"""Operators without a tensor among their arguments that only a fallback serves: where does a call put its result? Some fallbacks make
it on the device, others on the CPU, and the dispatcher doesn't say which."""

import pathlib
import tempfile
from typing import Any, NamedTuple

import torch

from .probe import first_line

VALUES: dict[str, Any] = {"int": 2, "SymInt": 2, "number": 1, "float": 1.0, "bool": False, "str": "", "Device": None}


class Place(NamedTuple):
    """where: "device", "elsewhere", or "error", with the device or the error."""

    op: str
    where: str
    message: str


def schema_of(op: str) -> Any:
    name, _, overload = op.partition(".")
    return torch._C._get_schema(f"aten::{name}", overload)


def makes_a_tensor(op: str) -> bool:
    """From no tensor, on a device that it is told."""
    schema = schema_of(op)
    kinds = [str(each.type) for each in schema.arguments]
    return (
        not any("Tensor" in kind for kind in kinds)
        and any(each.name == "device" for each in schema.arguments)
        and [str(each.type) for each in schema.returns] == ["Tensor"]
    )


def value_of(argument: Any, kind: str, file: str) -> Any:
    """A plausible value."""
    if argument.name == "device":
        return torch.device(kind)
    if argument.name == "filename":
        return file
    if argument.name in ("dtype", "layout", "pin_memory") or argument.type.kind() == "OptionalType":
        return None
    words = str(argument.type)
    if words.startswith("List["):
        return [2]
    return VALUES[words]


def call(op: str, kind: str) -> Place:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "numbers"
        file.write_bytes(bytes(64))
        try:
            name, _, overload = op.partition(".")
            function = getattr(getattr(torch.ops.aten, name), overload or "default")
            values = {
                each.name: value_of(each, kind, str(file))
                for each in schema_of(op).arguments
                if not each.has_default_value() or each.name == "device"
            }
            made = function(**values)
        except Exception as error:
            return Place(op, "error", first_line(str(error)) or type(error).__name__)
    return Place(op, "device" if made.device.type == kind else "elsewhere", str(made.device))
