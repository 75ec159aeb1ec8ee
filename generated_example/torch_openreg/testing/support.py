# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""What works: `python -m torch_openreg.testing.support` writes a table of operator x dtype x check.

Each operator of the spec, or those that the patterns name; each dtype that it is tested with; each check of checks.py.
Statuses: pass, fail, skip (by the spec, with its reason), fallback (right, but computed by the CPU), n/a.
"""

import argparse
import contextlib
import fnmatch
import json
import multiprocessing
import os
import pathlib
import sys
from collections import Counter
from typing import Any

import torch
import torch_openreg

from . import checks, samples
from .spec import OPERATORS

NAME = "openreg"
STATUSES = (checks.PASS, checks.FAIL, checks.SKIP, checks.FALLBACK, checks.NONE)
SIGNS = {"pass": "✓", "fail": "✗", "skip": "skip", "fallback": "cpu", "n/a": "·"}


def row(operator: Any, dtype: str, device: torch.device) -> dict[str, Any]:
    outcomes = {check: checks.run(operator, check, dtype, device) for check in checks.CHECKS}
    return {
        "op": operator.name,
        "strategy": operator.strategy,
        "dtype": dtype,
        "checks": {check: outcome.status for check, outcome in outcomes.items()},
        "details": {check: outcome.detail for check, outcome in outcomes.items() if outcome.detail},
    }


def rows_apart(operator: Any, dtypes: list[str], device: torch.device) -> list[dict[str, Any]]:
    """The rows of one operator, from a process of its own: a kernel may take the process or the device with it."""
    if torch.get_device_module(NAME).is_initialized():  # the device doesn't outlive a fork
        return [row(operator, dtype, device) for dtype in dtypes]
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if not child:
        try:
            for dtype in dtypes:
                sender.send(row(operator, dtype, device))
        finally:
            os._exit(0)
    sender.close()
    rows = []
    with contextlib.suppress(EOFError):
        while True:
            rows.append(receiver.recv())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for dtype in dtypes[len(rows) :]:
        died = dict.fromkeys(checks.CHECKS, checks.FAIL)
        detail = dict.fromkeys(checks.CHECKS, f"the process ended with status {status}")
        rows.append(
            {"op": operator.name, "strategy": operator.strategy, "dtype": dtype, "checks": died, "details": detail}
        )
    return rows


def table(patterns: list[str], dtypes: list[str], device: torch.device) -> dict[str, Any]:
    chosen = [op for op in OPERATORS if not patterns or any(fnmatch.fnmatch(op.name, p) for p in patterns)]
    rows = []
    for index, operator in enumerate(chosen):
        if sys.stderr.isatty():
            print(f"\r{index + 1}/{len(chosen)} {operator.name:40}", end="", file=sys.stderr)
        listed = [dtype for dtype in samples.dtypes(operator) if not dtypes or dtype in dtypes]
        rows += rows_apart(operator, listed, device)
    totals = {check: Counter(r["checks"][check] for r in rows) for check in checks.CHECKS}
    return {
        "format": "openreg-gen support",
        "version": 1,
        "backend": NAME,
        "package": torch_openreg.__version__,
        "torch": torch.__version__,
        "samples": samples.limit(),
        "totals": {check: {status: count[status] for status in STATUSES} for check, count in totals.items()},
        "rows": rows,
    }


def merged(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], list[str]]]:
    """Rows of one operator that say the same, with their dtypes."""
    found: list[tuple[dict[str, Any], list[str]]] = []
    for r in rows:
        for first, dtypes in found:
            if (first["op"], first["checks"]) == (r["op"], r["checks"]):
                dtypes.append(r["dtype"])
                break
        else:
            found.append((r, [r["dtype"]]))
    return found


def cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def markdown(data: dict[str, Any]) -> str:
    names = list(checks.CHECKS)
    counted = "all" if data["samples"] is None else data["samples"]
    operators = len({r["op"] for r in data["rows"]})
    lines = [
        f"# Operators of {NAME}",
        "",
        f"{operators} operators, {len(data['rows'])} rows of operator and dtype; torch {data['torch']}, "
        f"samples of each check: {counted}.",
        "✓ right, ✗ wrong, cpu: right, but computed by the CPU; skip: left out by the spec; ·: nothing to check.",
        "",
        "| check | " + " | ".join(STATUSES) + " |",
        "|---|" + "---:|" * len(STATUSES),
    ]
    lines += [f"| {n} | " + " | ".join(str(data["totals"][n][s]) for s in STATUSES) + " |" for n in names]
    lines += ["", "| operator | strategy | dtypes | " + " | ".join(names) + " |", "|---|---|---|" + ":-:|" * len(names)]
    for first, dtypes in merged(data["rows"]):
        signs = " | ".join(SIGNS[first["checks"][name]] for name in names)
        lines.append(f"| `{first['op']}` | {first['strategy']} | {', '.join(dtypes)} | {signs} |")
    for status, title in ((checks.FAIL, "Failures"), (checks.SKIP, "Skipped checks")):
        reported: dict[tuple[str, str, str], list[str]] = {}
        for r in data["rows"]:
            for check, found in r["checks"].items():
                if found == status:
                    reported.setdefault((r["op"], check, r["details"].get(check, "")), []).append(r["dtype"])
        if reported:
            lines += ["", f"## {title}", "", "| operator | check | dtypes | what |", "|---|---|---|---|"]
        for (op, check, detail), dtypes in reported.items():
            lines.append(f"| `{op}` | {check} | {', '.join(dtypes)} | {cell(detail)[:300]} |")
    return "\n".join([*lines, ""])


def main() -> int:
    prog = "python -m torch_openreg.testing.support"
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="OP", help="operators, as globs: 'add*'")
    parser.add_argument("--dtype", action="append", default=[], choices=samples.DTYPES, help="only this one")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("support.json"), metavar="PATH")
    parser.add_argument("--markdown", type=pathlib.Path, default=pathlib.Path("support.md"), metavar="PATH")
    arguments = parser.parse_args()
    data = table(arguments.patterns, arguments.dtype, torch.device(NAME, 0))
    if not data["rows"]:
        parser.error("no operator of the spec matches")
    arguments.json.write_text(json.dumps(data, indent=1) + "\n")
    arguments.markdown.write_text(markdown(data))
    totals = Counter(status for r in data["rows"] for status in r["checks"].values())
    print(", ".join(f"{status}: {totals[status]}" for status in STATUSES))
    print(f"{arguments.json}, {arguments.markdown}")
    return 1 if totals[checks.FAIL] else 0


if __name__ == "__main__":
    sys.exit(main())
