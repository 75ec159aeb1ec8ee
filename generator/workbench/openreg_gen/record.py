"""Run a script and record the operators that it needs from a backend.

    openreg-gen record --device NAME [-o FILE] script.py [arguments]

    from openreg_gen.record import record
    with record("mybackend", "ops.json") as recording: ...

FILE, ops.json if not given, lists each operator with its calls, how many fell back to the CPU, and what that cost. It is
what `ops: ["@model:FILE"]` in a spec and `openreg-gen add --from FILE` take. Composite operators are not listed: what they
are composed of is, as it reaches the backend. Neither is the minimal set, which every backend has. With `--device cpu`
the list is what a backend would be asked for, as far as the CPU takes the same ways.
"""

import contextlib
import functools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from . import command, device, protocol
from .calls import Counts, counted

FORMAT = "openreg-gen ops"
VERSION = 1

# Every backend registers these, so no spec has to ask for them: generator/spec/minimal_ops.cpp.
MINIMAL = frozenset(
    (
        "_copy_from",
        "_copy_from_and_resize",
        "_fused_sdp_choice",
        "_has_compatible_shallow_copy_type",
        "_local_scalar_dense",
        "_native_batch_norm_legit",
        "_reshape_alias",
        "_resize_output_",
        "_thnn_fused_gru_cell",
        "_thnn_fused_gru_cell_backward",
        "_thnn_fused_lstm_cell",
        "_thnn_fused_lstm_cell_backward_impl",
        "as_strided",
        "batch_norm_update_stats",
        "conj_physical_",
        "convolution_backward_overrideable",
        "convolution_overrideable",
        "empty.memory_format",
        "empty_strided",
        "fill_.Scalar",
        "fill_.Tensor",
        "is_set_to",
        "native_batch_norm",
        "native_dropout",
        "record_stream",
        "resize_",
        "set_",
        "set_.source_Storage",
        "set_.source_Storage_storage_offset",
        "set_.source_Tensor",
        "unfold",
        "view",
        "view_as_complex",
        "view_as_real",
        "zero_",
    )
)
COMPOSITE = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


@dataclass(frozen=True)
class RecordedOp:
    """One operator, named without "aten::". `fallback` of its `calls` ran on the CPU, for `seconds`, and moved `bytes`."""

    op: str
    calls: int
    fallback: int = 0
    bytes: int = 0
    seconds: float = 0.0


@dataclass
class Recording:
    """The counts of a recording; empty until it ended. `costs` says whether the backend counts what falls back."""

    ops: list[RecordedOp] = field(default_factory=list)
    costs: bool = True

    def to_json(self) -> str:
        """The text of a file of recorded operators."""
        head = {"format": FORMAT, "version": VERSION, "torch": torch.__version__.partition("+")[0]}
        return json.dumps(head | {"ops": [asdict(op) for op in self.ops]}, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write that file; what is there is replaced. Raises OSError."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def __str__(self) -> str:
        total = f"{len(self.ops)} operators, {sum(op.calls for op in self.ops)} calls"
        if not self.costs:
            return f"{total}; the backend does not say which of them fell back to the CPU"
        fell_back = [op for op in self.ops if op.fallback]
        seconds = sum(op.seconds for op in self.ops)
        lines = [f"{total}; {len(fell_back)} fell back to the CPU, for {seconds:.3f} s"]
        for op in sorted(fell_back, key=lambda op: (-op.seconds, op.op)):
            lines.append(f"  {op.op}: {op.fallback} of {op.calls} calls, {op.bytes} bytes, {op.seconds * 1e3:.3f} ms")
        return "\n".join(lines)


def has_kernel(op: str, key: str) -> bool:
    """Whether an operator ("aten::add.out") has a kernel of its own for a dispatch key."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(op, key))


def schema_of(op: str) -> Any | None:
    """The torch.FunctionSchema of "aten::add.out"; None if there is no such operator."""
    name, _, overload = op.partition(".")
    try:
        return torch._C._get_schema(name, overload)
    except RuntimeError:
        return None


def is_served(op: str, key: str) -> bool:
    """Whether the backend is asked for an operator: it has a kernel, or PyTorch has no other way to compute it."""
    return has_kernel(op, key) or not any(has_kernel(op, composite) for composite in COMPOSITE)


def listed(op: str, key: str) -> str:
    """The operator that a spec lists for `op`.

    For a structured operator's functional and in-place forms that is the out= form, which has the same arguments before
    its outputs.
    """
    wanted = schema_of(op)
    if wanted is None or not has_kernel(op, key) or not has_kernel(op, COMPOSITE[-1]):
        return op
    namespace, _, base = wanted.name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), base.removesuffix("_"), None)
    arguments = [(argument.name, str(argument.real_type)) for argument in wanted.arguments]
    for overload in () if packet is None else packet.overloads():
        other = f"{namespace}::{base.removesuffix('_')}" + ("" if overload == "default" else f".{overload}")
        form = schema_of(other)
        if form is None or not has_kernel(other, key):
            continue
        given = form.arguments
        same = [(argument.name, str(argument.real_type)) for argument in given[: len(arguments)]] == arguments
        if same and len(given) > len(arguments) and given[len(arguments)].is_out:
            return other
    return op


_Costs = dict[str, protocol.Fallback]


def _costs(workbench: protocol.Workbench) -> _Costs:
    return {row.op: row for row in workbench.fallbacks() if row.cause == "fallback"}


def _finished(counts: Counts, kind: str, before: _Costs, after: _Costs) -> list[RecordedOp]:
    key = "CPU" if kind == "cpu" else "PrivateUse1"
    name_of = functools.cache(lambda op: listed(op, key) if schema_of(op) and is_served(op, key) else None)
    calls: Counter[str] = Counter()
    for (op, kinds), number in counts.items():
        if kind in kinds and op.startswith("aten::") and (name := name_of(op)):
            calls[name.removeprefix("aten::")] += number
    ops = []
    for name in sorted(calls.keys() - MINIMAL):
        none = protocol.Fallback(f"aten::{name}", 0, 0, 0.0)
        old, new = before.get(none.op, none), after.get(none.op, none)
        if new.calls < old.calls:  # the backend's counts were reset meanwhile
            old = none
        seconds = round(new.seconds - old.seconds, 9)
        ops.append(RecordedOp(name, calls[name], new.calls - old.calls, new.bytes - old.bytes, seconds))
    return ops


@contextmanager
def record(kind: str, path: str | Path | None = None) -> Iterator[Recording]:
    """Count what a backend is asked for in the block, on all threads; write it to `path`, if given.

    kind: the device's type. The file is written when the block ends, also by an exception. Recordings may overlap.
    Raises protocol.ProtocolError if the backend's `_workbench` is wrong, OSError if the file can't be written.
    """
    workbench = protocol.of(kind)
    recording = Recording(costs="fallbacks" in workbench.provided)
    before = _costs(workbench)
    counts: Counts = Counter()
    try:
        with counted() as counts:
            yield recording
    finally:
        recording.ops = _finished(counts, kind, before, _costs(workbench))
        if path is not None:
            recording.save(path)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.Parser(
        prog=command.program("record"),
        description="Run a script and record the operators that it needs from a backend.",
        epilog="openreg-gen add --from FILE takes the file.",
    )
    device.add_arguments(parser)
    parser.add_argument("-o", "--output", default="ops.json", metavar="FILE", help="default: ops.json")
    command.add_script(parser)
    options = parser.parse_args(arguments)
    command.check_script(options.script)
    output = Path(options.output).absolute()  # the script may change the folder
    if not output.parent.is_dir():
        command.fail(f"no such folder: {output.parent}")
    kind = device.open_device(options.device, options.package)
    # The summary is printed once the recording has ended, also by sys.exit(), and only if it has begun.
    with contextlib.ExitStack() as stack, record(kind, output) as recording:
        stack.callback(lambda: print(f"{recording}\nwritten to {output}", file=sys.stderr))
        command.run_script(options.script, options.arguments)
    return command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
