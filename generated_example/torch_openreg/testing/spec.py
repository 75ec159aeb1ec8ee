# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""The spec's part for tests: operators with their dtypes, tolerances and skips; excluded upstream tests."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Skip:
    """A check that is left out, for one dtype or (None) for all."""

    check: str
    dtype: str | None
    reason: str


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator of the spec. `forms`: the other overloads of its group; `serves`: those that end in its kernel."""

    name: str
    strategy: str
    forms: Sequence[str] = ()
    serves: Sequence[str] = ()
    dtypes: Sequence[str] = ()  # none: all that PyTorch's samples have
    tolerance: tuple[float, float] | None = None  # relative, absolute
    skips: Sequence[Skip] = ()

    def skipped(self, check: str, dtype: str) -> str | None:
        """The reason for which a check is left out."""
        for skip in self.skips:
            if skip.check == check and skip.dtype in (None, dtype):
                return skip.reason
        return None


SAMPLES = 3
TOLERANCES: dict[str, tuple[float, float]] = {}
# Class, test ("*": all of them) and why.
EXCLUDED: list[tuple[str, str, str]] = []
OPERATORS: list[Operator] = [
    Operator(
        "maximum.out",
        "structured",
        forms=[
            "maximum",
        ],
        serves=[
            "maximum",
        ],
    ),
    Operator(
        "hypot.out",
        "pointwise",
        forms=[
            "hypot",
            "hypot_",
        ],
        serves=[
            "hypot",
            "hypot_",
        ],
        dtypes=[
            "float16",
            "bfloat16",
            "float32",
            "float64",
        ],
    ),
    Operator(
        "abs.out",
        "stub",
        forms=[
            "abs",
            "abs_",
        ],
        serves=[
            "abs",
            "abs_",
        ],
    ),
    Operator(
        "exp.out",
        "in_tree",
        forms=[
            "exp",
            "exp_",
        ],
        serves=[
            "exp",
            "exp_",
        ],
    ),
    Operator(
        "amax.out",
        "reduction",
        forms=[
            "amax",
        ],
        serves=[
            "amax",
        ],
        dtypes=[
            "uint8",
            "int32",
            "int64",
            "float16",
            "bfloat16",
            "float32",
            "float64",
        ],
    ),
    Operator(
        "mm.out",
        "matmul",
        forms=[
            "mm",
        ],
        serves=[
            "mm",
        ],
    ),
    Operator(
        "relu",
        "native",
        forms=[
            "relu.out",
            "relu_",
        ],
        serves=[
            "relu.out",
        ],
    ),
    Operator(
        "relu_",
        "native",
        forms=[
            "relu",
            "relu.out",
        ],
        serves=[
            "relu.out",
        ],
    ),
    Operator(
        "sub.Tensor",
        "cpu_fallback",
        forms=[
            "sub.out",
            "sub_.Tensor",
        ],
    ),
]
