# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
"""The allocator's memory and history: snapshots and traces.

A snapshot has the keys of torch.cuda.memory._snapshot(), so torch.cuda._memory_viz and pytorch.org/memory_viz show it.
"""

import pickle
import sys
from typing import Any

from .. import _C
from ._lazy import _lazy_init


def memory_snapshot(
    mempool_id: tuple[int, int] | None = None,
    include_traces: bool = True,
) -> list[dict[str, Any]]:
    """The allocator's segments and the blocks in them, of all devices.

    Args:
        mempool_id: only those of this pool.
        include_traces: kept for torch.cuda's sake; segments have no traces.
    """
    _lazy_init()
    return _C._memory_snapshot(mempool_id or (0, 0), include_traces)["segments"]


def _record_memory_history(
    enabled: str | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    device: Any = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: list[str] | None = None,
) -> None:
    """Record what is allocated and freed from now on, with stack traces; _snapshot() returns it.

    Args:
        enabled: None stops; "state" keeps the stacks of what is allocated; "all" also keeps a history.
        context: which stacks to take: None, "state" (of live blocks), "alloc" (also of past allocations), "all".
        stacks: "python", or "all" for C++ frames too.
        max_entries: the length of the history, a device; the oldest entries go first.
        device: not used, as in torch.cuda: history is recorded on all devices.
        clear_history: forget what was recorded before.
        compile_context: not used: torch.compile passes its context to torch.cuda alone.
        global_record_annotations: not used, for the same reason.
        skip_actions: entries not to keep, such as "free_requested".

    Raises:
        NotImplementedError: the allocator records no history (the caching one does).
        ValueError: an argument has none of the values above.
    """
    _lazy_init()
    if enabled is False:  # torch.cuda's old form
        enabled = None
    elif enabled is True:
        enabled = "all"
    _C._record_memory_history(enabled, context, stacks, max_entries, clear_history, skip_actions or [])


def _snapshot(device: Any = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """Segments and history, as torch.cuda.memory._snapshot() describes them.

    Args:
        device: not used, as in torch.cuda: all devices are in a snapshot.
        augment_with_fx_traces: add to the frames of FX-generated code where it came from.
    """
    _lazy_init()
    snapshot = _C._memory_snapshot((0, 0), True)
    if augment_with_fx_traces:
        from torch.cuda.memory import _augment_memory_snapshot_stack_traces

        snapshot = _augment_memory_snapshot_stack_traces(snapshot)
    return snapshot


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Write _snapshot() to a file that pytorch.org/memory_viz opens."""
    snapshot = _snapshot(augment_with_fx_traces=augment_with_fx_traces)
    with open(filename, "wb") as file:
        pickle.dump(snapshot, file)


def _save_segment_usage(filename: str = "output.svg", snapshot: dict[str, Any] | None = None) -> None:
    """Write a flame graph of segments; the first time, PyTorch fetches the script that draws it."""
    from torch.cuda._memory_viz import segments

    _write(filename, segments(_snapshot() if snapshot is None else snapshot))


def _save_memory_usage(filename: str = "output.svg", snapshot: dict[str, Any] | None = None) -> None:
    """Write a flame graph of live memory; the first time, PyTorch fetches the script that draws it."""
    from torch.cuda._memory_viz import memory

    _write(filename, memory(_snapshot() if snapshot is None else snapshot))


def _write(filename: str, text: str) -> None:
    with open(filename, "w") as file:
        file.write(text)


def _allocation_traceback(data_ptr: int) -> list[dict[str, Any]] | None:
    """Where the storage at `data_ptr` was allocated, if history was recorded then."""
    return _C._allocation_traceback(data_ptr)


def _set_memory_metadata(metadata: str) -> None:
    """Text for all history entries that this thread causes from now on; "" for none."""
    _C._set_memory_metadata(metadata)


def _get_memory_metadata() -> str:
    """The value of _set_memory_metadata()."""
    return _C._get_memory_metadata()
