# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""What a sweep found: a progress bar, totals as text, and one page of HTML that needs no network."""

import html
import json
import pathlib
import sys
import time
from collections import Counter
from collections.abc import Iterable

import torch

from . import NAME, PACKAGE
from .compare import CATEGORIES
from .known import Known
from .results import Finding, Results

PAGE = pathlib.Path(__file__).with_name("page.html")


class Progress:
    """A bar in a terminal; elsewhere a line now and then."""

    def __init__(self, mode: str, total: int) -> None:
        self.mode, self.total, self.done, self.bad = mode, total, 0, 0
        self.begun = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.next_line = 0.1

    def step(self, task: str, bad: int) -> None:
        self.done += 1
        self.bad += bad
        part = self.done / max(self.total, 1)
        seconds = time.monotonic() - self.begun
        left = seconds / part - seconds
        text = f"{self.done}/{self.total} tasks, {self.bad} differ, {seconds:.0f} s, {left:.0f} s left"
        if self.terminal:
            bar = "█" * round(part * 24)
            print(f"\r{self.mode} {bar:░<24} {text}  {task[:40]:40}", end="", file=sys.stderr, flush=True)
        elif part >= self.next_line or self.done == self.total:
            self.next_line += 0.1
            print(f"{self.mode}: {text}", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.terminal and self.done:
            print(file=sys.stderr)


def command(finding: Finding) -> str:
    mode = "" if finding.mode == "default" else f" --mode {finding.mode}"
    return f"python -m {PACKAGE}.testing.sweep{mode} --case '{finding.case}'"


def text(results: Results, findings: list[Finding], stale: Iterable[Known], modes: list[str], shown: int) -> str:
    total = results.counts(modes)
    lines = [f"{sum(total.values())} cases of {len(results.rows)} tasks; modes: {', '.join(modes)}"]
    bad = [finding for finding in findings if finding.known is None]
    by_known = Counter(finding.category for finding in findings if finding.known is not None)
    by_bad = Counter(finding.category for finding in bad)
    lines += ["", f"{'category':12} {'known':>7} {'new':>7}"]
    lines += [f"{c:12} {by_known[c]:7} {by_bad[c]:7}" for c in CATEGORIES if by_known[c] or by_bad[c]]
    lines += [f"{'all':12} {sum(by_known.values()):7} {len(bad):7}", ""]
    for finding in sorted(bad, key=lambda f: (CATEGORIES.index(f.category), f.case))[:shown]:
        lines += [f"{finding.category}: {finding.case}: {finding.detail}", f"    {command(finding)}"]
    if len(bad) > shown:
        lines.append(f"... and {len(bad) - shown} more")
    lines += [f"no longer differs, so take it out: {entry.case} ({entry.category})" for entry in stale]
    return "\n".join(lines)


def page(results: Results, findings: list[Finding], modes: list[str]) -> str:
    rows = [
        [f.mode, f.case, f.category, f.detail, f.known.reason if f.known else "", f.known.cites if f.known else ""]
        for f in findings
    ]
    data = {
        "backend": NAME,
        "package": PACKAGE,
        "torch": torch.__version__,
        "modes": modes,
        "counts": dict(sorted(results.counts(modes).items())),
        "categories": CATEGORIES,
        "rows": rows,
    }
    # Within <script>, only this could end it.
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    template = PAGE.read_text(encoding="utf-8")
    return template.replace("@TITLE@", html.escape(f"Sweep of {NAME}")).replace("@DATA@", packed)
