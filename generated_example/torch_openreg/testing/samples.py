# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""Arguments for an operator, by name and on the CPU: from PyTorch's OpInfos where they reach it, else from its schema.

An OpInfo's sample is a call of a Python function. It runs on the CPU, and the arguments with which it arrives at the
operator (or at another form of its group) are the sample: so they are exact for the overload, whatever lies between.
"""

import functools
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from . import opinfos
from .forms import Forms, bind, copied, tensors
from .spec import SAMPLES, Operator

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
    "complex64",
    "complex128",
)
SHAPES = ((3, 4), (), (0, 3), (1,), (2, 3, 5))
OTHERS = 4  # OpInfos that reach an operator without being about it
SCANNED = 48  # samples of an OpInfo that are looked at
LARGEST = 1 << 16  # elements


@dataclass(frozen=True)
class Sample:
    inputs: dict[str, Any]
    source: str  # the OpInfo's full name, or "schema"

    def __str__(self) -> str:
        shapes = (f"{tuple(x.shape)} {str(x.dtype).removeprefix('torch.')}" for x in tensors(self.inputs))
        return f"{self.source}: {', '.join(shapes)}"

    @property
    def small(self) -> bool:
        """Whether a tensor is empty or 0-dim."""
        return any(x.numel() == 0 or x.dim() == 0 for x in tensors(self.inputs))


def everything() -> bool:
    """Whether all samples of all dtypes are asked for: OPENREG_TESTS=all."""
    return os.environ.get("OPENREG_TESTS", "") == "all"


def limit() -> int | None:
    return None if everything() else SAMPLES


def key(inputs: dict[str, Any]) -> str:
    """Equal for samples that differ in the elements of tensors only."""
    shown = tree_map_only(torch.Tensor, lambda x: (tuple(x.shape), x.stride(), x.dtype), inputs)
    return repr(sorted(shown.items()))


def usable(inputs: dict[str, Any], dtype: torch.dtype) -> bool:
    found = list(tensors(inputs))
    if any(isinstance(value, torch.Generator) for value in inputs.values()):
        return False
    if any(x.layout != torch.strided or x.is_quantized or x.device.type != "cpu" for x in found):
        return False
    if sum(x.numel() for x in found) > LARGEST:
        return False
    return not found or any(x.dtype == dtype for x in found) or inputs.get("dtype") == dtype


def infos_of(forms: Forms) -> list[Any]:
    """The OpInfos that give samples: those whose subject the operator is, and some of those that reach it."""
    about, others = opinfos.split(forms)
    return [*about, *(others if everything() else others[: max(0, OTHERS - len(about))])]


def from_opinfos(forms: Forms, dtype: torch.dtype) -> Iterator[Sample]:
    wanted = {argument.name for argument in forms.own._schema.arguments if not argument.is_out}
    seen = set()
    for info in infos_of(forms):
        if dtype not in info.dtypes:
            continue
        arrived: list[dict[str, Any]] = []

        def see(func: torch._ops.OpOverload, args: tuple, kwargs: dict, arrived=arrived) -> None:
            if func in forms.group and len(arrived) < SCANNED:
                inputs = bind(func, args, kwargs)
                if usable(inputs, dtype):
                    arrived.append(copied(inputs, "cpu"))

        with opinfos.quiet():
            samples = itertools.islice(opinfos.sample_inputs(info, dtype), None if everything() else SCANNED)
        while True:
            # Not within one `quiet`: a generator that is left half-way would never put the random state back.
            with opinfos.quiet():
                sample = next(samples, None)
                if sample is None:
                    break
                opinfos.run_sample(info, sample, see)
            for inputs in arrived:
                if key(inputs) not in seen and wanted <= inputs.keys():
                    seen.add(key(inputs))
                    yield Sample(inputs, info.full_name)
            arrived.clear()


def tensor(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    value = torch.rand(shape, generator=generator, dtype=torch.float64) * 4 - 2
    if dtype == torch.bool:
        return value > 0
    if not dtype.is_floating_point and not dtype.is_complex:
        value = value.abs() * 10 if dtype == torch.uint8 else value * 10
    return value.to(dtype)


def from_schema(forms: Forms, dtype: torch.dtype) -> Iterator[Sample]:
    """Only required arguments. The CPU refuses what does not fit the operator, which is then not a sample."""
    numbers = {"int": 1, "SymInt": 1, "float": 0.5, "bool": True, "number": 2, "Scalar": 2}
    known = {"dim": 0, "keepdim": False}
    for shape in SHAPES:
        inputs: dict[str, Any] = {}
        for index, argument in enumerate(forms.own._schema.arguments):
            of = str(argument.type)
            if argument.is_out:
                continue
            if argument.has_default_value():
                inputs[argument.name] = argument.default_value
            elif of == "Tensor":
                inputs[argument.name] = tensor(shape, dtype, index)
            elif of == "List[Tensor]":
                inputs[argument.name] = [tensor(shape, dtype, index + i) for i in range(2)]
            elif of in ("List[int]", "List[SymInt]"):
                inputs[argument.name] = [0]
            elif of in numbers:
                inputs[argument.name] = known.get(argument.name, numbers[of])
            else:
                inputs[argument.name] = None
        yield Sample(inputs, "schema")


def samples(forms: Forms, dtype: torch.dtype) -> Iterator[Sample]:
    """Those of the OpInfos, then those of the schema: the latter alone have a shape of each kind."""
    yield from from_opinfos(forms, dtype)
    yield from from_schema(forms, dtype)


@functools.cache
def dtypes(operator: Operator) -> tuple[str, ...]:
    """The dtypes an operator is tested with: the spec's, else those of the OpInfos about it, else all."""
    if operator.dtypes:
        return tuple(operator.dtypes)
    about, others = opinfos.split(Forms(operator))
    given = {dtype for info in about or others for dtype in info.dtypes}
    return tuple(name for name in DTYPES if not given or getattr(torch, name) in given)
