"""Findings by cause: one row for all cases that differ in the same way, whatever the operator.

Two findings have one cause if state, category and text are the same, numbers apart, and their variants are of one kind; known ones if
the reason is the same. Rows are sorted as a maintainer reads them: crashes, then what every program meets, then unusual arguments.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from .categories import CATEGORIES
from .known import covers
from .results import STATES, Finding

# Kinds of variants, the most usual ones first. Variants that no kind lists are of the last one.
KINDS: dict[str, tuple[str, ...]] = {
    "forward": (
        "forward",
        "method",
        "operator",
        "inplace",
        "inplace_operator",
        "alias",
        "out",
        "samples",
        "eval",
        "generate*",
    ),
    "training": (
        *("backward", "second_order", "train", "autocast", "plain", "foreach", "fused", "differentiable"),
        *("capturable", "capturable_foreach"),
    ),
    "errors": ("errors",),
    "layouts": (
        *("noncontiguous", "transposed", "*channels_last", "zero_size", "offset", "dim_from_end", "inplace_strided"),
        *("out_empty", "out_strided", "out_resized"),
    ),
    "devices": ("*device_1", "current_1", "two_devices", "copied_results"),
    "torch.compile": ("*fakes*",),
    "unusual arguments": ("*",),
}
_NUMBER = re.compile(r"(?<![A-Za-z_])-?(0x[0-9a-f]+|\d[\d.]*(e[-+]?\d+)?j?|inf\b|nan\b)|(?<=[a-z:])\d+")
_LIST = re.compile(r"#(?:,? ?[-+]? ?#)*,?")


class Cause(NamedTuple):
    state: str
    category: str
    kind: str
    findings: tuple[Finding, ...]

    @property
    def subjects(self) -> Counter[str]:
        return Counter(finding.subject for finding in self.findings)


def kind_of(finding: Finding) -> str:
    if finding.subject == "once":
        return "forward"
    return next(kind for kind, globs in KINDS.items() if any(covers(glob, finding.variant) for glob in globs))


def same_text(detail: str) -> str:
    """A text without its numbers, of which lists of any length are one."""
    return _LIST.sub("#", _NUMBER.sub("#", detail))


def causes(findings: Iterable[Finding]) -> list[Cause]:
    rows: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        kind = kind_of(finding)
        if finding.known is not None:
            key: tuple[str, ...] = ("known", finding.category, finding.known.reason)
        else:
            key = (finding.state, finding.category, kind, same_text(finding.detail))
        rows.setdefault(key, []).append(finding)
    kinds = list(KINDS)

    def order(row: Cause) -> tuple[int, bool, int, int, int, str]:
        dies = row.category in ("crash", "hang")
        place = kinds.index(row.kind)
        return (
            STATES.index(row.state),
            not dies,
            place,
            CATEGORIES.index(row.category),
            -len(row.findings),
            row.findings[0].case,
        )

    found = []
    for key, each in rows.items():
        kind = min(map(kind_of, each), key=kinds.index)
        found.append(Cause(key[0], key[1], kind, tuple(sorted(each, key=lambda f: (kinds.index(kind_of(f)), f.case)))))
    return sorted(found, key=order)
