"""The report of an adoption: what the tree takes over, what it would add, what stays its owner's, what is unclear."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..audit.probe import ANSWERS, INAPPLICABLE
from .choose import LEFT_OUT, MINIMAL, PYTHON, THEIRS
from .plan import Plan
from .spec_text import group_lines, grouped, unclear_lines

WIDTH = 110


def report_text(plan: Plan, catalogue: Mapping[str, Any]) -> str:
    return "\n".join(_lines(plan, catalogue)) + "\n"


def _lines(plan: Plan, catalogue: Mapping[str, Any]) -> Iterator[str]:
    facts = plan.facts
    package = f" ({facts['package']})" if facts["package"] else ""
    operators = {row["op"] for row in facts["registrations"] if row["key"] == "PrivateUse1"}
    yield f"{facts['device']}{package}, PyTorch {facts['torch']}: kernels for {len(operators)} operators"
    yield ""
    yield "The tree takes over"
    for strategy in sorted({each.strategy for each in plan.choices} - {LEFT_OUT, MINIMAL, PYTHON, THEIRS}):
        chosen = plan.of(strategy)
        moved = sum(each.code is not None for each in chosen)
        start = f"{strategy:<14}{len(chosen):>4}  "
        if strategy in ("native", "stub"):
            start += f"{moved} with their code, {len(chosen) - moved} start as the CPU's kernel: "
        yield from _listed(start, [each.op for each in chosen])
    if plan.custom:
        yield from _listed(f"{'custom':<14}{len(plan.custom):>4}  ", [each.op for each in plan.custom])
    if plan.amp.rules:
        yield f"  {'autocast':<14}{plan.amp.rules:>4}  rules, as preset {plan.amp.preset!r} and what differs from it"
    if plan.fallback == "cpu":
        yield f"  {'fallback':<20}to the CPU"
    runtime = (
        "your allocator, guard and copy, behind a port"
        if plan.with_port
        else "not found in sources: the port is yours to fill"
    )
    yield f"  {'runtime':<20}{runtime}"
    yield ""
    yield "The tree would add"
    yield from _added(plan, catalogue)
    yield ""
    yield "Stays yours"
    yield from _stays(plan)
    yield ""
    yield f"Unclear ({len(plan.unclear)})" if plan.unclear else "Nothing is unclear."
    for group in grouped(plan.unclear):
        if len(group) > 1:
            head, tail = group_lines(group)
            yield from textwrap.wrap(head, WIDTH, initial_indent="  ", subsequent_indent="      ")
            yield f"      {tail}"
            yield from _listed("    for ", [each.what for each in group], indent=8)
            continue
        head, tail = unclear_lines(plan, group[0])
        yield from textwrap.wrap(head, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
        yield f"    {tail}"
    yield ""


def _added(plan: Plan, catalogue: Mapping[str, Any]) -> Iterator[str]:
    totals = catalogue["totals"]
    counts = ", ".join(f"{totals[each]} {each}" for each in ("native", "delegate", "composite", "fallback", "missing"))
    text = f"operators     today: {counts}. Each tree registers the whole minimal set; `openreg-gen add OP` adds others"
    yield from _wrapped(text, 16)
    for finding in catalogue["findings"]:
        yield from _wrapped(f"fault         {finding['kind']}: {finding['op']}: {finding['text']}", 16)
    rows = plan.facts["interfaces"]
    if not rows:
        yield "  interfaces    not called: `--dry-run` calls them"
        return
    apply = [row for row in rows if row["verdict"] != INAPPLICABLE]
    answers = [row for row in apply if row["verdict"] == ANSWERS]
    yield f"  interfaces    {len(answers)} of {len(apply)} answer today; a tree of profile full answers all"
    for verdict in sorted({row["verdict"] for row in apply} - {ANSWERS}):
        names = [row["name"] for row in apply if row["verdict"] == verdict]
        yield from _listed(f"{verdict} ({len(names)}): ", names, shown=12)


def _stays(plan: Plan) -> Iterator[str]:
    count = len(plan.kernels)
    yield (
        f"  your kernels are owned files: openreg-gen never writes them again ({count} moved)"
        if count
        else "  your kernels' code"
    )
    minimal = plan.of(MINIMAL)
    if minimal:
        yield from _listed("the tree has its own kernels for ", [each.op for each in minimal])
    python = plan.of(PYTHON)
    if python:
        yield from _listed("kernels in Python: ", [each.op for each in python])
    theirs = plan.of(THEIRS)
    if theirs:
        yield from _listed("registered by you: ", [each.op for each in theirs])


def _listed(start: str, names: Sequence[str], shown: int = 60, indent: int = 22) -> Iterator[str]:
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    yield from _wrapped(start + ", ".join(names[:shown]) + rest, indent)


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="  ", subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
