"""The JSON document of an audit, which the command reads: generator/audit/document.h has the same words."""

import datetime
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import packages_distributions, version
from typing import Any

import torch

from .. import device, protocol
from . import dispatcher
from .probe import Outcome, Probe, says_missing

SCHEMA = 1
FORMAT = "openreg-gen audit"


class _Files:
    """Paths in the order of their first use: places refer to them by number, since most of them come many times."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def place(self, place: dispatcher.Place) -> list[int]:
        if not place.file:
            return [-1, 0]
        return [self.numbers.setdefault(place.file, len(self.numbers)), place.line]


def package_of(kind: str, given: str | None) -> str:
    """The package that brought the device, with its version: "torch_mine 0.1"; empty if nobody says."""
    module = device.module(kind)
    # PyTorch takes any object as a device's module; one that is not a module has a class, which is somewhere.
    where = getattr(module, "__name__", None) or type(module).__module__
    name = (given or (where if module is not None else "")).partition(".")[0]
    if not name or name == "torch":
        return ""
    for distribution in packages_distributions().get(name, []):
        return f"{name} {version(distribution)}"
    return name


def of_dispatcher(kind: str, package: str | None) -> dict[str, Any]:
    """The part that is read and not called: registrations, fallbacks, and what serves each operator."""
    operators = dispatcher.all_operators()
    registered = dispatcher.registrations(kind, operators)
    files = _Files()
    serves = dispatcher.served(kind, operators, registered)
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "device": kind,
        "key": dispatcher.keys_of(kind)[0],
        "torch": torch.__version__.partition("+")[0],
        "torch_dir": os.path.dirname(torch.__file__),
        "python": sys.executable,
        "package": package_of(kind, package),
        "provides": sorted(protocol.of(kind).provided),
        "registrations": [
            {
                "op": each.op,
                "key": each.key,
                "at": files.place(each.place),
                "kind": "fallthrough" if each.fallthrough else "boxed" if each.boxed else "typed",
                "active": each.active,
            }
            for each in registered
            if kind != "cpu"  # PyTorch's own kernels: what serves an operator says them all
        ],
        "fallbacks": [
            {"key": each.key, "at": files.place(each.place), "kind": "fallthrough" if each.fallthrough else "boxed"}
            for each in dispatcher.fallbacks(kind)
        ],
        "ops": [[each.op, each.how, *files.place(each.place)] for each in serves],
        "files": list(files.numbers),
    }


def of_probes(kind: str, outcomes: Iterable[tuple[Probe, Outcome]]) -> list[dict[str, str]]:
    """The interfaces, with the device's own name in place of NAME."""
    return [
        {
            "group": probe.group.replace("NAME", kind),
            "name": probe.name.replace("NAME", kind),
            "verdict": outcome.verdict,
            "message": outcome.message,
            "needs": probe.needs,
            "provide": probe.provide.replace("NAME", kind),
        }
        for probe, outcome in outcomes
    ]


def of_dtypes(calls: Iterable[tuple[str, str, str, str]]) -> list[dict[str, Any]]:
    """Per operator the dtypes that it took, and those that it refused, with what it said, and to which shapes.

    A dtype that one call takes and another one refuses is taken: the refusal is about something else.
    """
    takes: dict[str, dict[str, None]] = {}
    refuses: dict[str, dict[str, str]] = {}
    shapes: dict[str, dict[str, None]] = {}
    for op, dtype, error, shape in calls:
        if error:
            refuses.setdefault(op, {}).setdefault(dtype, error)
            shapes.setdefault(op, {})[shape] = None
        else:
            takes.setdefault(op, {})[dtype] = None
    rows = []
    for op in sorted({*takes, *refuses}):
        took = takes.get(op, {})
        refused = {dtype: error for dtype, error in refuses.get(op, {}).items() if dtype not in took}
        row = {"op": op, "takes": " ".join(sorted(took)), "refuses": refused}
        if refused and not took:
            row["shapes"] = list(shapes[op])[:4]
        rows.append(row)
    return rows


_LACKS = re.compile(r"aten::(\w+(?:\.\w+)?)")


def lacking(error: str) -> str:
    """The operator that an error names as not implemented: "as_strided"; empty if it is about something else."""
    found = _LACKS.search(error)
    on_host = "'CPU' backend" in error  # on which a fallback ran it
    return found[1] if found and says_missing(error) and not on_host else ""


def of_waits(
    entries: Iterable[tuple[Sequence[str], str]], calls: Iterable[tuple[str, str, str, str]]
) -> list[dict[str, str]]:
    """Operators that did not run since they call one without a kernel: of OpInfos by their names without overload, as those
    whose samples all failed, and of composites by their own names.
    """
    waits: dict[tuple[str, str], None] = {}
    for names, error in entries:
        if needs := lacking(error):
            waits.update({(name, needs): None for name in names if name != needs.partition(".")[0]})
    for op, _, error, _ in calls:
        if (needs := lacking(error)) and needs != op:
            waits[op, needs] = None
    return [{"op": op, "needs": needs} for op, needs in sorted(waits)]


def text_of(document: dict[str, Any]) -> str:
    """JSON with one row per line: a place in it can be named, and two audits can be compared."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value and not isinstance(value[0], str):
            rows = ",\n  ".join(json.dumps(row) for row in value)
            parts.append(f"{json.dumps(key)}: [\n  {rows}]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{" + ",\n ".join(parts) + "}\n"
