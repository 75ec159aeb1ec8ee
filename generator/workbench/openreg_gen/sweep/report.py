"""The findings of a sweep: totals as text, and one page of HTML that needs no network."""

import pathlib
from collections import Counter
from collections.abc import Iterable

import torch

from ..command import program
from ..page import render
from .categories import CATEGORIES
from .context import Context, case_command
from .known import KnownDifference
from .results import SCHEMA, Finding, Results

PAGE = pathlib.Path(__file__).with_name("page.html")


def differ(count: int) -> str:
    return f"{count:,} differs" if count == 1 else f"{count:,} differ"


def verdict(context: Context, total: int, new: int, known: int) -> str:
    """The answer, in a sentence."""
    # A case that crashed was never counted as run, so the sum may be less than what differs.
    total = max(total, new + known)
    where = f"{total:,} {'case' if total == 1 else 'cases'} on {context.device}"
    if not total:
        return f"No case ran: {context.device} has none of this selection."
    if new:
        rest = f"; {differ(known)} for a known reason" if known else ""
        return f"Of {where}, {differ(new)} from the CPU for no known reason{rest}."
    if known:
        return f"Nothing new differs: of {where}, {differ(known)} for a known reason."
    return (
        f"Nothing differs: {'the' if total == 1 else 'all'} {where} {'does' if total == 1 else 'do'} what the CPU does."
    )


def text(
    context: Context,
    results: Results,
    findings: list[Finding],
    stale: Iterable[KnownDifference],
    modes: list[str],
    shown: int,
) -> str:
    """Totals, the first new differences, and what to type to see one again."""
    total = sum(results.counts(modes).values())
    new = [finding for finding in findings if finding.known is None]
    by_known = Counter(finding.category for finding in findings if finding.known is not None)
    by_new = Counter(finding.category for finding in new)
    lines = [verdict(context, total, len(new), len(findings) - len(new))]
    lines += [f"{total} cases of {len(results.rows)} tasks; modes: {', '.join(modes)}"]
    lines += ["", f"{'category':12} {'known':>7} {'new':>7}"]
    lines += [f"{c:12} {by_known[c]:7} {by_new[c]:7}" for c in CATEGORIES if by_known[c] or by_new[c]]
    lines += [f"{'all':12} {sum(by_known.values()):7} {len(new):7}", ""]
    for finding in sorted(new, key=lambda f: (CATEGORIES.index(f.category), f.case))[:shown]:
        lines.append(f"{finding.category}: {finding.case}: {finding.detail}")
        lines.append(f"    {case_command(context, finding.mode, finding.case)}")
    if len(new) > shown:
        lines.append(f"... and {len(new) - shown} more, all of them on the page")
    lines += [f"no longer differs; remove its entry: {entry.case} ({entry.category})" for entry in stale]
    return "\n".join(lines)


def page(context: Context, results: Results, findings: list[Finding], modes: list[str]) -> str:
    """The page: what differs, grouped by what is the same about it, and how much is equal."""
    new = sum(finding.known is None for finding in findings)
    counts, subjects = results.counts(modes), results.subjects(modes)
    data = {
        "schema": SCHEMA,
        "backend": context.device,
        "command": f"{program('sweep')} --device {context.device}"
        + (f" --import {context.package}" if context.package else ""),
        "torch": torch.__version__,
        "modes": modes,
        "verdict": verdict(context, sum(counts.values()), new, len(findings) - new),
        "counts": dict(sorted(counts.items())),
        "subjects": dict(sorted(subjects.items())),
        "categories": CATEGORIES,
        "rows": [
            [f.mode, f.case, f.category, f.detail, f.known.reason if f.known else "", f.known.cites if f.known else ""]
            for f in findings
        ],
    }
    return render(PAGE, f"{context.device} compared with the CPU", data)
