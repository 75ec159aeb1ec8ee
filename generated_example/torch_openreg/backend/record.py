# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""torch.openreg.record(): the operators that a model asks of the backend, which fell back, and what that cost.

Composite operators are not listed: what they are composed of is, as it reaches the backend. Neither is the minimal set,
which every backend has. The file is what `ops: ["@model:FILE"]` in a spec and `openreg-gen add --from FILE` take.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch

from .. import _C

FORMAT = "openreg-gen ops"
VERSION = 1

# Registered by every backend: no spec has to ask for them.
_MINIMAL = frozenset(
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
    """What a recording counted; empty until it ended."""

    ops: list[RecordedOp] = field(default_factory=list)

    def to_json(self) -> str:
        """The text of a file of recorded operators."""
        ops = [vars(op) for op in self.ops]
        head = {"format": FORMAT, "version": VERSION, "torch": torch.__version__.partition("+")[0]}
        return json.dumps(head | {"ops": ops}, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write that file; what is there is replaced."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def __str__(self) -> str:
        fell_back = [op for op in self.ops if op.fallback]
        calls = sum(op.calls for op in self.ops)
        lost = sum(op.seconds for op in self.ops)
        lines = [f"{len(self.ops)} operators, {calls} calls; {len(fell_back)} fell back to the CPU, for {lost:.3f} s"]
        for op in sorted(fell_back, key=lambda op: (-op.seconds, op.op)):
            lines.append(f"  {op.op}: {op.fallback} of {op.calls} calls, {op.bytes} bytes, {op.seconds * 1e3:.3f} ms")
        return "\n".join(lines)


_Costs = dict[str, tuple[int, int, float]]


def _costs() -> _Costs:
    costs = {}
    for op, _, calls, up, down, seconds, _, _, cause in _C._fallback_counts():
        if cause == "fallback":
            costs[op] = (calls, up + down, seconds)
    return costs


def _finished(counts: list[tuple[str, int]], before: _Costs, after: _Costs) -> list[RecordedOp]:
    ops = []
    for name, calls in counts:
        namespace, _, op = name.partition("::")
        if namespace != "aten" or op in _MINIMAL:
            continue
        old = before.get(name, (0, 0, 0.0))
        new = after.get(name, (0, 0, 0.0))
        if new[0] < old[0]:  # reset_fallback_report() was called meanwhile
            old = (0, 0, 0.0)
        ops.append(RecordedOp(op, calls, new[0] - old[0], new[1] - old[1], round(new[2] - old[2], 9)))
    return sorted(ops, key=lambda op: op.op)


_lock = threading.Lock()


@contextmanager
def record(path: str | Path | None = None) -> Iterator[Recording]:
    """Count what the backend is asked for in the block, on all threads; write it to `path`, if given.

    The file is written when the block ends, also by an exception. Recordings may be nested, but not interleaved.
    """
    recording = Recording()
    with _lock:
        before = _costs()
        _C._start_recording()
    try:
        yield recording
    finally:
        with _lock:
            recording.ops = _finished(_C._stop_recording(), before, _costs())
        if path is not None:
            recording.save(path)
