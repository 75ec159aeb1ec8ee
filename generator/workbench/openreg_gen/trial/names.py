"""Names of operators as users give them: "add.out", "aten::abs", "nn.functional.gelu".

`python -m openreg_gen.trial.names OP` says whether there is one, without a device; so that nobody waits for a build first.
"""

import sys
from collections.abc import Sequence

import torch

from .. import command
from ..testing import opinfos


def overloads_of(op: str) -> list[str]:
    """["abs", "abs.out"] of "abs"; none of a name of PyTorch's samples, such as "nn.functional.gelu". Fails if it is neither."""
    name = op.removeprefix("aten::")
    if name in opinfos.database():
        return []
    first, _, overload = name.partition(".")
    packet = getattr(torch.ops.aten, first, None)
    if packet is None:
        command.fail(f"{op}: PyTorch has no such operator", "`openreg-gen ops WORD` searches PyTorch's operators")
    known = [f"{first}.{each}".removesuffix(".default") for each in packet.overloads()]
    if overload and name not in known:
        command.fail(f"{op}: PyTorch has no such operator", f"there are {', '.join(known)}")
    return known


def main(words: Sequence[str] | None = None) -> int:
    (op,) = sys.argv[1:] if words is None else words
    if not opinfos.missing():  # else `try` says what is missing
        overloads_of(op)
    return command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
