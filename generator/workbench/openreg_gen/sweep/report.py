"""The findings of a sweep: totals as text, and one page of HTML that needs no network."""

import pathlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..absent import Absent
from ..command import program
from ..page import render
from ..served import FALLBACK
from . import reached
from .baseline import Baseline
from .categories import CATEGORIES
from .causes import Cause, causes
from .context import Context, case_command
from .known import KnownDifference
from .results import SCHEMA, Finding, Results, fallback_of

SUBJECTS = 6  # that a row names
FIXED = 10
PAGE = pathlib.Path(__file__).with_name("page.html")


def differ(count: int) -> str:
    return f"{count:,} differs" if count == 1 else f"{count:,} differ"


def verdict(context: Context, total: int, new: int, known: int, same: int | None = None) -> str:
    """The answer, in a sentence. `same`: how many differ as in the baseline; None without one."""
    # A case that crashed was never counted as run, so the sum may be less than what differs.
    total = max(total, new + known + (same or 0))
    where = f"{total:,} {'case' if total == 1 else 'cases'} on {context.device}"
    if not total:
        return f"No case ran: {context.device} has none of this selection."
    if same is not None and new + same:
        rest = f"; {differ(known)} for a known reason" if known else ""
        first = f"{differ(new)} from the CPU and didn't in the baseline" if new else "no case newly differs"
        return f"Of {where}, {first}; {differ(same)} as in the baseline{rest}."
    if new:
        rest = f"; {differ(known)} for a known reason" if known else ""
        return f"Of {where}, {differ(new)} from the CPU for no known reason{rest}."
    if known:
        return f"Nothing new differs: of {where}, {differ(known)} for a known reason."
    return (
        f"Nothing differs: {'the' if total == 1 else 'all'} {where} {'does' if total == 1 else 'do'} what the CPU does."
    )


def named(cause: Cause) -> str:
    """The cases of a row: its operators, those with the most cases first."""
    if len(cause.findings) == 1:
        return cause.findings[0].case
    listed = cause.subjects.most_common()
    names = ", ".join(f"{name} {count:,}" if count > 1 else name for name, count in listed[:SUBJECTS])
    more = f" and {len(listed) - SUBJECTS} more" if len(listed) > SUBJECTS else ""
    operators = f"{len(listed)} operators: " if len(listed) > 1 else ""
    return f"{len(cause.findings):,} cases of {operators}{names}{more}"


def text(
    context: Context,
    results: Results,
    findings: list[Finding],
    stale: Iterable[KnownDifference],
    modes: list[str],
    shown: int,
    baseline: Baseline | None = None,
) -> str:
    """Totals, the first new differences by cause, and what to type to see one again."""
    total = sum(results.counts(modes).values())
    counts = Counter((finding.state, finding.category) for finding in findings)
    states = ["known", *(["same"] if baseline else []), "new"]
    totals = {state: sum(n for (each, _), n in counts.items() if each == state) for state in states}
    lines = [verdict(context, total, totals["new"], totals["known"], totals.get("same"))]
    lines += filter(None, [fallback_of(context.device, results.computed_by(modes))])
    lines += [f"{total} cases of {len(results.rows)} tasks; modes: {', '.join(modes)}"]
    lines += ["", f"{'category':12}" + "".join(f" {state:>7}" for state in states)]
    for c in CATEGORIES:
        if any(counts[state, c] for state in states):
            lines.append(f"{c:12}" + "".join(f" {counts[state, c]:7}" for state in states))
    lines += [f"{'all':12}" + "".join(f" {totals[state]:7}" for state in states), ""]
    rows = [cause for cause in causes(findings) if cause.state == "new"]
    for cause in rows[:shown]:
        first = cause.findings[0]
        lines.append(f"{cause.category}: {named(cause)}: {first.detail}")
        lines.append(f"    {case_command(context, first.mode, first.case)}")
    if len(rows) > shown:
        rest = sum(len(cause.findings) for cause in rows[shown:])
        lines.append(f"... and {len(rows) - shown} more rows of {rest} cases, all of them on the page")
    if baseline is not None:
        fixed = baseline.fixed(findings, results, modes)
        lines.append(f"Since {baseline.path}: {totals['new']} new, {len(fixed)} fixed, {totals['same']} the same.")
        lines += [f"fixed: {case}" + ("" if mode == "default" else f" in mode {mode}") for mode, case in fixed[:FIXED]]
        if len(fixed) > FIXED:
            lines.append(f"... and {len(fixed) - FIXED} more, all of them on the page")
    lines += [f"no longer differs; remove its entry: {entry.case} ({entry.category})" for entry in stale]
    return "\n".join(lines)


def document(
    context: Context,
    results: Results,
    findings: list[Finding],
    modes: list[str],
    baseline: Baseline | None = None,
    kernels: tuple[list[str], set[str]] | None = None,
    absent: Sequence[Absent] = (),
) -> dict[str, Any]:
    """What --json prints and the page shows: what differs, by cause, and how much is equal. `kernels`: the backend's, and those that ran."""
    states = Counter(finding.state for finding in findings)
    same = states["same"] if baseline is not None else None
    counts, subjects = results.counts(modes), results.subjects(modes)
    rows = causes(findings)
    computed_by = results.computed_by(modes)
    fallback = fallback_of(context.device, computed_by)
    said = verdict(context, sum(counts.values()), states["new"], states["known"], same)
    return {
        "schema": SCHEMA,
        "backend": context.device,
        "command": f"{program('sweep')} --device {context.device}"
        + (f" --import {context.package}" if context.package else ""),
        "torch": torch.__version__,
        "modes": modes,
        "verdict": f"{said} {fallback}." if fallback else said,
        "fallback": fallback,
        "by_fallback": sorted(subject for subject, whom in computed_by.items() if whom == FALLBACK),
        "absent": [each.json() for each in absent],
        "baseline": "" if baseline is None else str(baseline.path),
        "fixed": [] if baseline is None else baseline.fixed(findings, results, modes),
        "kernels": "" if kernels is None else reached.line(*kernels, shown=None),
        "counts": dict(sorted(counts.items())),
        "subjects": dict(sorted(subjects.items())),
        "categories": CATEGORIES,
        "kinds": [cause.kind for cause in rows],
        "rows": [
            [
                *(f.mode, f.case, f.category, f.detail),
                *((f.known.reason, f.known.cites) if f.known else ("", "")),
                *(f.state, number),
            ]
            for number, cause in enumerate(rows)
            for f in cause.findings
        ],
    }


def page(context: Context, document: dict[str, Any]) -> str:
    return render(PAGE, f"{context.device} compared with the CPU", document)
