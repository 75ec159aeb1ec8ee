"""The arguments of recorded calls, without the data: how a file of recorded operators writes them, and tensors made from them.

An argument is JSON: a tensor {"tensor": "float32", "shape": [8, 3]}, with "strides" where they aren't those of contiguous
memory and "offset" where its storage begins earlier; {"dtype": "float16"}, {"layout": "strided"}, {"memory_format":
"channels_last"}, {"device": ""}; {"float": "inf"} for a float that JSON doesn't have; else a number, text, null, or a list of
these. They stand in the order of the operator's schema; out= arguments are left out.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

MOST = 32  # different arguments of an operator that are kept; the most frequent ones

# As c10::ScalarType counts them, and as C++ prints them.
_SCALAR_TYPES = {
    **dict(enumerate(("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))),
    **{8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16"},
    **{23: "float8_e5m2", 24: "float8_e4m3fn", 27: "uint16", 28: "uint32", 29: "uint64"},
}
_CPP_TYPES = {
    **{"float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16", "bool": "bool"},
    **{"unsigned char": "uint8", "signed char": "int8", "short": "int16", "short int": "int16", "int": "int32"},
    **{"long": "int64", "long int": "int64", "unsigned short": "uint16", "short unsigned int": "uint16"},
    **{"unsigned int": "uint32", "unsigned long": "uint64", "long unsigned int": "uint64"},
    **{"c10::complex<float>": "complex64", "c10::complex<double>": "complex128"},
    **{
        "c10::complex<c10::Half>": "complex32",
        "c10::Float8_e5m2": "float8_e5m2",
        "c10::Float8_e4m3fn": "float8_e4m3fn",
    },
}
_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


class UnknownArgumentError(ValueError):
    """An argument that can't be written down, such as a sparse tensor."""


def dense_strides(shape: Sequence[int]) -> list[int]:
    strides, step = [0] * len(shape), 1
    for place in reversed(range(len(shape))):
        strides[place] = step
        step *= max(shape[place], 1)
    return strides


def _tensor(value: Any, shape: Any, cpp_type: str, strides: Any) -> Any:
    if value == "<None>":
        return None
    name = _CPP_TYPES.get(cpp_type.removeprefix("Tensor(").removesuffix(")"))
    if not isinstance(value, dict) or name is None or not isinstance(shape, list) or len(strides) != len(shape):
        raise UnknownArgumentError(cpp_type)
    found: dict[str, Any] = {"tensor": name, "shape": shape}
    if strides != dense_strides(shape) and math.prod(shape) > 0:
        found["strides"] = strides
    if value["offset"]:
        found["offset"] = value["offset"]
    return found


def _plain(value: Any, cpp_type: str, wanted: str) -> Any:
    if value == "<None>" and cpp_type == "None" or "Generator" in wanted:
        return None
    if "ScalarType" in wanted:
        return {"dtype": _SCALAR_TYPES[value]}
    if "MemoryFormat" in wanted:
        return {"memory_format": _FORMATS[value]}
    if "Layout" in wanted and value == 0:
        return {"layout": "strided"}
    if "Device" in wanted:
        return {"device": ""}
    if cpp_type == "Double" and isinstance(value, str):
        return {"float": value.replace("Infinity", "inf").lower()}
    if cpp_type in ("Int", "Double", "Bool", "String") and isinstance(value, (int, float, bool, str)):
        return value
    raise UnknownArgumentError(cpp_type)


def _argument(value: Any, shape: Any, cpp_type: str, strides: Any, wanted: str) -> Any:
    if cpp_type.startswith("Tensor("):
        return _tensor(value, shape, cpp_type, strides)
    if not cpp_type.startswith("GenericList["):
        return _plain(value, cpp_type, wanted)
    types = cpp_type.removeprefix("GenericList[").removesuffix("]").split(",") if value else []
    if len(types) != len(value) or len(shape) != len(value) or len(strides) != len(value):
        raise UnknownArgumentError(cpp_type)
    each = zip(value, shape, types, strides, strict=True)
    return [_argument(a, b, c, d, wanted) for a, b, c, d in each]


def from_trace(inputs: str, schema: Any) -> str | None:
    """The arguments of a node of an execution trace (openreg_gen.observed) as JSON text; None if they can't be written down."""
    try:
        row = json.loads(inputs)
        columns = (row["values"], row["shapes"], row["types"], row["strides"], schema.arguments)
        arguments = [
            _argument(value, shape, cpp_type, strides, str(argument.real_type))
            for value, shape, cpp_type, strides, argument in zip(*columns, strict=True)
            if not argument.is_out
        ]
        return json.dumps(arguments)
    except (ValueError, KeyError, IndexError, TypeError):
        return None


_REAL = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+")


def most_frequent(shapes: Counter[str], most: int = MOST) -> Counter[str]:
    """The `most` arguments that occur most often, in the order of their text. Where there are more, those that differ in real
    numbers alone, as an optimizer's do from step to step, count as one."""
    if len(shapes) > most:
        alike: dict[str, list[str]] = {}
        for arguments in sorted(shapes):
            alike.setdefault(_REAL.sub("0.0", arguments), []).append(arguments)
        shapes = Counter({min(each): sum(shapes[one] for one in each) for each in alike.values()})
    kept = sorted(shapes, key=lambda arguments: (-shapes[arguments], arguments))[:most]
    return Counter({arguments: shapes[arguments] for arguments in sorted(kept)})


# --- and back


def made(arguments: Iterable[Any], fill: Callable[[torch.dtype, list[int]], torch.Tensor]) -> list[Any]:
    """Arguments as a call takes them. `fill` makes the data of a tensor, from a dtype and a shape."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "tensor" in value:
            return _laid_out(value, fill)
        if "float" in value:
            return float(value["float"])
        if "device" in value:
            return torch.device("cpu")
        return getattr(torch, next(iter(value.values())))  # a dtype, layout or memory format

    return [one(value) for value in arguments]


def _laid_out(value: dict[str, Any], fill: Callable[[torch.dtype, list[int]], torch.Tensor]) -> torch.Tensor:
    shape: list[int] = value["shape"]
    strides, offset = value.get("strides") or dense_strides(shape), value.get("offset", 0)
    data = fill(getattr(torch, value["tensor"]), shape)
    if strides == dense_strides(shape) and not offset:
        return data
    # Of a view into a large tensor only the place in a line of memory matters.
    offset %= 64
    span = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if data.numel() else 0
    memory = fill(data.dtype, [offset + span])
    laid_out = memory.as_strided(shape, strides, offset)
    if 0 not in (stride for size, stride in zip(shape, strides, strict=True) if size > 1):
        laid_out.copy_(data)
    return laid_out
