"""Run a script and record the operators that it needs from a backend.

    openreg-gen record [--device NAME] [-o FILE] [--shapes] [--merge] script.py [-- arguments]

    from openreg_gen.record import record
    with record("mybackend", "ops.json") as recording: ...

FILE, ops.json if not given, lists each operator with its calls, how many fell back to the CPU, and what that cost. It is
what `ops: ["@model:FILE"]` in a spec and `openreg-gen add --model FILE` take. Composite operators are not listed: what they
are composed of is, as it reaches the backend. Neither is the minimal set, which every backend has; with `--shapes`, those of it
that compute are. With `--device cpu` the list is what a backend would be asked for, as far as the CPU takes the same ways.

`--shapes` also lists the arguments of each operator without their data (openreg_gen.shapes): what `openreg-gen try` runs it on.
`--merge` adds to what FILE has.
"""

import contextlib
import functools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from . import absent, arguments, command, device, protocol, shapes
from .calls import Counts, counted, names_of

FORMAT = "openreg-gen ops"
VERSION = 1
LARGEST = 1 << 19  # bytes of a file: fewer arguments of each operator are kept in a larger one

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
# Of these, a model's arguments are worth knowing: a backend writes their kernels itself.
COMPUTING = frozenset(
    name for name in MINIMAL if name.startswith(("_thnn", "convolution", "native_", "_native", "batch_norm"))
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
    shapes: Counter[str] = field(default_factory=Counter)  # arguments as JSON text, with the number of such calls

    def _numbers(self, costs: bool) -> dict[str, Any]:
        names = ("op", "calls", "fallback", "bytes", "seconds") if costs else ("op", "calls")
        return {name: getattr(self, name) for name in names}

    def _lines(self, most: int, costs: bool) -> str:
        """The operator in the file: one line, and one for each of its arguments that are kept."""
        numbers = self._numbers(costs)
        if not self.shapes:
            return json.dumps(numbers)
        kept = shapes.most_frequent(self.shapes, most)
        rows = [f'   {{"calls": {calls}, "args": {arguments}}}' for arguments, calls in kept.items()]
        return json.dumps(numbers)[:-1] + ', "shapes": [\n' + ",\n".join(rows) + "\n  ]}"


class RecordingError(ValueError):
    """A file that can't be merged."""


@dataclass
class Recording:
    """The counts of a recording; empty until it ended. `costs` says whether the backend counts what falls back."""

    ops: list[RecordedOp] = field(default_factory=list)
    costs: bool = True
    not_shown: str = ""
    seen: int = 0  # calls on the device in this run, with those of operators that every backend has

    def to_json(self) -> str:
        """The text of a file of recorded operators. Equal recordings have equal texts."""
        head = {"format": FORMAT, "version": VERSION, "torch": torch.__version__.partition("+")[0]}
        if not any(op.shapes for op in self.ops):
            return json.dumps(head | {"ops": [op._numbers(self.costs) for op in self.ops]}, indent=1) + "\n"
        most = shapes.MOST
        while True:
            rows = ",\n".join(f"  {op._lines(most, self.costs)}" for op in self.ops)
            text = json.dumps(head, indent=1)[:-2] + f',\n "ops": [\n{rows}\n ]\n}}\n'
            if len(text) <= LARGEST or most == 1:
                return text
            most //= 2

    def merged(self, other: "Recording") -> "Recording":
        """Both recordings as one."""
        found: dict[str, RecordedOp] = {}
        for op in (*self.ops, *other.ops):
            old = found.get(op.op, RecordedOp(op.op, 0))
            found[op.op] = RecordedOp(
                op.op,
                old.calls + op.calls,
                old.fallback + op.fallback,
                old.bytes + op.bytes,
                round(old.seconds + op.seconds, 9),
                old.shapes + op.shapes,
            )
        return Recording([found[name] for name in sorted(found)], self.costs and other.costs)

    def save(self, path: str | Path) -> None:
        """Write that file; what is there is replaced. Raises OSError."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def __str__(self) -> str:
        total = f"{len(self.ops)} operators, {sum(op.calls for op in self.ops)} calls"
        if different := sum(len(op.shapes) for op in self.ops):
            total += f", {different} different arguments"
        if not self.costs:
            return "\n".join(filter(None, [total, self.not_shown]))
        fell_back = [op for op in self.ops if op.fallback]
        seconds = sum(op.seconds for op in self.ops)
        lines = [f"{total}; {len(fell_back)} fell back to the CPU, for {seconds:.3f} s"]
        for op in sorted(fell_back, key=lambda op: (-op.seconds, op.op)):
            lines.append(f"  {op.op}: {op.fallback} of {op.calls} calls, {op.bytes} bytes, {op.seconds * 1e3:.3f} ms")
        return "\n".join(lines)


def load(path: str | Path) -> Recording:
    """The recording in a file that `save` wrote. Raises RecordingError if it holds something else, or can't be read."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if (data["format"], data["version"]) != (FORMAT, VERSION):
            raise ValueError(f"it is not a file of {FORMAT!r}, version {VERSION}")
        ops = []
        for row in data["ops"]:
            counted_shapes = Counter(
                {json.dumps(shape["args"]): int(shape["calls"]) for shape in row.get("shapes", ())}
            )
            numbers = {name: row[name] for name in ("calls", "fallback", "bytes", "seconds") if name in row}
            ops.append(RecordedOp(row["op"], shapes=counted_shapes, **numbers))
        return Recording(ops, costs=not ops or any("fallback" in row for row in data["ops"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise RecordingError(f"{path} is not a recording: {text}") from error


def has_kernel(op: str, key: str) -> bool:
    """Whether an operator ("aten::add.out") has a kernel of its own for a dispatch key."""
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(op, key))
    except RuntimeError:  # one of TorchScript's alone, such as aten::sub.int
        return False


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


def out_forms(op: str) -> Iterator[str]:
    """The out= forms of an operator: those with the same arguments before their outputs."""
    wanted = schema_of(op)
    if wanted is None:
        return
    namespace, _, base = wanted.name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), base.removesuffix("_"), None)
    arguments = [(argument.name, str(argument.real_type)) for argument in wanted.arguments]
    for overload in () if packet is None else packet.overloads():
        other = f"{namespace}::{base.removesuffix('_')}" + ("" if overload == "default" else f".{overload}")
        form = schema_of(other)
        given = [] if form is None else form.arguments
        same = [(argument.name, str(argument.real_type)) for argument in given[: len(arguments)]] == arguments
        if same and len(given) > len(arguments) and given[len(arguments)].is_out:
            yield other


def listed(op: str, key: str) -> str:
    """The operator that a spec lists for `op`.

    For a structured operator's functional and in-place forms that is the out= form, which has the same arguments before
    its outputs.
    """
    if not has_kernel(op, key) or not has_kernel(op, COMPOSITE[-1]):
        return op
    return next((form for form in out_forms(op) if has_kernel(form, key)), op)


_Costs = dict[str, protocol.Fallback]


def _costs(workbench: protocol.Workbench) -> _Costs:
    return {row.op: row for row in workbench.fallbacks() if row.cause == "fallback"}


def _finished(counts: Counts, kind: str, before: _Costs, after: _Costs) -> tuple[list[RecordedOp], int]:
    """The operators, and the number of all calls on the device."""
    key = "CPU" if kind == "cpu" else "PrivateUse1"
    name_of = functools.cache(lambda op: listed(op, key) if schema_of(op) and is_served(op, key) else None)
    calls: Counter[str] = Counter()
    arguments: dict[str, Counter[str]] = {}
    names = names_of(kind)
    for (op, kinds, inputs), number in counts.items():
        if names.intersection(kinds) and op.startswith("aten::") and (name := name_of(op)):
            name = name.removeprefix("aten::")
            calls[name] += number
            if inputs and (found := shapes.from_trace(inputs, schema_of(op))):
                arguments.setdefault(name, Counter())[found] += number
    ops = []
    for name in sorted(calls.keys() - (MINIMAL - COMPUTING if arguments else MINIMAL)):
        none = protocol.Fallback(f"aten::{name}", 0, 0, 0.0)
        old, new = before.get(none.op, none), after.get(none.op, none)
        if new.calls < old.calls:  # the backend's counts were reset meanwhile
            old = none
        seconds = round(new.seconds - old.seconds, 9)
        costs = new.calls - old.calls, new.bytes - old.bytes, seconds
        ops.append(RecordedOp(name, calls[name], *costs, arguments.get(name, Counter())))
    return ops, sum(calls.values())


@contextmanager
def record(
    kind: str, path: str | Path | None = None, shapes: bool = False, before: Recording | None = None
) -> Iterator[Recording]:
    """Count what a backend is asked for in the block, on all threads; write it to `path`, if given.

    kind: the device's type. shapes: also keep the arguments of each operator, without their data. before: a recording that this
    one is added to. The file is written when the block ends, also by an exception, but a file that is there stays if no
    operator ran. Recordings may overlap.
    Raises protocol.ProtocolError if the backend's `_workbench` is wrong, OSError if the file can't be written.
    """
    workbench = protocol.of(kind)
    recording = Recording(costs="fallbacks" in workbench.provided)
    recording.not_shown = absent.line(absent.absent(kind, workbench, {"fallbacks": "which calls fell back to the CPU"}))
    costs = _costs(workbench)
    counts: Counts = Counter()
    try:
        with counted(shapes) as counts:
            yield recording
    finally:
        recording.ops, recording.seen = _finished(counts, kind, costs, _costs(workbench))
        if before is not None:
            recording.ops = before.merged(recording).ops
        # What was recorded before is worth more than nothing.
        if path is not None and (recording.seen or not Path(path).exists()):
            recording.save(path)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments.parse("record", words)
    command.check_script(options.script)
    output, json_file = Path(str(command.check_file(options.out))), command.check_file(options.json)
    try:
        old = load(output) if options.merge and output.exists() else None
    except RecordingError as error:
        command.fail(str(error), "name another file with -o, or leave out --merge to replace it")
    kind = device.open_device(options.device, options.package)
    # The summary is printed once the recording has ended, also by sys.exit(), and only if it has begun.
    with contextlib.ExitStack() as stack, record(kind, output, options.shapes, old) as recording:
        stack.callback(lambda: recording.seen and print(f"{recording}\nwritten to {output}", file=sys.stderr))
        stack.enter_context(command.ending_well())
        stack.enter_context(command.output_apart(json_file))
        command.run_script(options.script, options.arguments)
    if not recording.seen:
        hint = f"does it move its model and its data to device {kind!r}?"
        command.fail(f"{options.script} called no operator on {kind}: nothing was recorded", hint, command.Exit.NO)
    command.put(json_file, output.read_text(encoding="utf-8").rstrip())
    return command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
