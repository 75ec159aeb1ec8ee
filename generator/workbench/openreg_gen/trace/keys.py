"""The dispatch keys of a call, in the dispatcher's order, with the kernel that it has at each."""

import re
from collections.abc import Iterable, Sequence

import torch

from .. import python_kernels
from .events import KeyStep

# Keys that are there because of the trace itself.
_OURS = {"Python", "PythonTLSSnapshot", "PythonDispatcher", "PreDispatch"}

_ROW = re.compile(r"(?P<key>\w+): (?P<through>fallthrough )?registered at (?P<file>.*?):(?P<line>\d+) \[(?P<kind>.*)\]")


class Tables:
    """Dispatch tables, each read once: for an operator ("aten::add.out"), the kernel at every key."""

    def __init__(self) -> None:
        self._read: dict[str, dict[str, KeyStep]] = {}

    def of(self, operator: str) -> dict[str, KeyStep]:
        """The operator's table by key; empty if there is no such operator."""
        if operator not in self._read:
            try:
                text = torch._C._dispatch_dump_table(operator)
            except RuntimeError:
                text = ""
            found = (_ROW.fullmatch(line) for line in text.splitlines())
            self._read[operator] = {row["key"]: _step(operator, row) for row in found if row}
        return self._read[operator]

    def path(self, operator: str, keys: Iterable[str]) -> list[KeyStep]:
        """The keys that a call of `operator` meets, up to the kernel that computes.

        keys: the call's keys, highest priority first. Autograd's and autocast's kernels, and those of views and of factory
        functions, hand the call on to the next key; any other kernel is the last step.
        """
        table = self.of(operator)
        steps: list[KeyStep] = []
        for key in keys:
            step = table.get(key, KeyStep(key, "", "", 0, "missing" if key != "BackendSelect" else "skipped"))
            if key != "BackendSelect" or step.fate == "runs":  # it is in every key set, and matters to factories only
                steps.append(step)
            if step.fate == "missing" or (step.fate == "runs" and not _hands_on(step)):
                break
        return steps


def _step(operator: str, row: re.Match[str]) -> KeyStep:
    said = python_kernels.Place(row["file"], int(row["line"]))
    op = "" if row["kind"] == "backend fallback" else operator
    place = python_kernels.place(op, row["key"], said)
    return KeyStep(row["key"], row["kind"], place.file, place.line, "skipped" if row["through"] else "runs")


def _hands_on(step: KeyStep) -> bool:
    if step.kernel == "math kernel":  # composite: calls other operators, even where it stands at autograd's key
        return False
    return step.key.startswith(("Autograd", "Autocast", "ADInplaceOrView", "BackendSelect", "Functionalize"))


def computes(operator: str, steps: Sequence[KeyStep]) -> bool:
    """Whether a kernel of a backend's own served an operator, and not for a view of memory that is there."""
    if not steps or steps[-1].fate != "runs" or steps[-1].kernel not in ("kernel", "backend fallback"):
        return False
    name, _, overload = operator.partition(".")
    try:
        returned = torch._C._get_schema(name, overload).returns
    except RuntimeError:
        return True
    aliases = [each.alias_info for each in returned]
    return not aliases or not all(info is not None and not info.is_write for info in aliases)


def _backends() -> int:
    """The bits of a key set that stand for backends; the others stand for functionalities."""
    return (1 << torch._C._dispatch_num_backends()) - 1


def raw_keys(tensors: Iterable[torch.Tensor]) -> int:
    """The union of the tensors' key sets, as bits."""
    raw = 0
    for tensor in tensors:
        raw |= torch._C._dispatch_keys(tensor).raw_repr()
    return raw


def thread_keys() -> tuple[int, int]:
    """The keys that the calling thread includes and excludes, as bits: autocast that is off, autograd below itself."""
    return torch._C._dispatch_tls_local_include_set().raw_repr(), torch._C._dispatch_tls_local_exclude_set().raw_repr()


def ordered(raw: int, thread: tuple[int, int]) -> list[str]:
    """The names of the keys of a call, highest priority first, without the trace's own."""
    include, exclude = thread
    keys = torch._C.DispatchKeySet.from_raw_repr((raw | include) & ~(exclude & ~_backends()))
    names: list[str] = []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        name = torch._C._dispatch_key_name(key)
        if name in names:  # a key that can't be taken out
            break
        names.append(name)
        keys = keys.remove(key)
    return [name for name in names if name not in _OURS]


def backend_key(devices: Sequence[tuple[str, bool]]) -> str | None:
    """The backend's key for tensors of these devices (type, sparse?); None where there are none.

    A backend comes before the CPU, as in a key set: a tensor of no dimensions may stay on the CPU.
    """
    names = [
        ("Sparse" if sparse else "") + torch._C._dispatch_key_for_device(kind)
        for kind, sparse in devices
        if kind != "meta"
    ]
    return next((name for name in names if not name.endswith("CPU")), names[0] if names else None)
