"""A run as text, as JUnit XML, and as one page of HTML that needs no network."""

import pathlib
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterable

from ..page import render
from . import runs
from .exclusions import Exclusion
from .runs import Comparison, Outcome, Run
from .triage import CATEGORIES, CRASH, TIME_OUT

PAGE = pathlib.Path(__file__).with_name("page.html")
# Characters that XML can't hold, not even escaped.
NOT_XML = {code: None for code in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000))}
MEANING = {
    runs.PASSED: "pass",
    runs.FAILED: "fail",
    runs.FLAKY: "are flaky",
    runs.EXCLUDED: "are excluded",
    runs.SKIPPED: "are skipped",
    runs.NOT_RUN: "were not run",
}
SINGULAR = {"fail": "fails", "pass": "passes", "are": "is", "were": "was"}


def tests(count: int) -> str:
    return f"{count:,} {'test' if count == 1 else 'tests'}"


def verdict(run: Run) -> str:
    """The answer, in a sentence."""
    states = run.states()
    total = sum(states.values())
    files = len({outcome.file for outcome in run.outcomes})
    if not total:
        return f"No test ran: {run.head['device']} has none of this selection."
    parts = []
    for state, meaning in MEANING.items():
        verb, _, rest = meaning.partition(" ")
        if states[state]:
            parts.append(f"{states[state]:,} {SINGULAR[verb] if states[state] == 1 else verb} {rest}".rstrip())
    where = f"{tests(total)} in {files} {'file' if files == 1 else 'files'} on {run.head['device']}, PyTorch {run.head['torch']}"
    return f"{where}: {', '.join(parts)}."


def text(run: Run, compared: Comparison | None, against: Comparison | None, stale: list[Exclusion], shown: int) -> str:
    """Totals by category, each with its first test, and what changed."""
    by_category: dict[str, list[Outcome]] = {}
    for outcome in run.failures():
        by_category.setdefault(outcome.category, []).append(outcome)
    lines = [verdict(run)]
    if by_category:
        lines += ["", f"{'category':18} {'tests':>6}  the first of them"]
        for category in sorted(by_category, key=list(CATEGORIES).index):
            first = by_category[category][0]
            lines.append(f"{category:18} {len(by_category[category]):6}  {first.id}")
            lines.append(f"{'':27}{first.detail[:160]}")
    for comparison, name in ((compared, "the last run"), (against, "the other run")):
        if comparison is not None:
            lines += ["", *_changes(comparison, name, shown)]
    if stale:
        lines.append("")
        lines += [
            f"unexpected pass: {row.name} is excluded ({row.reason}), and passes: delete it, {row.place}"
            for row in stale
        ]
    return "\n".join([*lines, ""])


def _changes(comparison: Comparison, name: str, shown: int) -> Iterable[str]:
    before = comparison.before
    lists = {"new": comparison.new, "fixed": comparison.fixed, "flaky": comparison.flaky}
    counts = ", ".join(f"{len(found)} {word}" for word, found in lists.items())
    yield f"Compared with {name} ({before.title}, PyTorch {before.head['torch']}; {tests(comparison.both)} in both): {counts}"
    for word, found in lists.items():
        for outcome in found[:shown]:
            why = f"  {outcome.category}: {outcome.detail[:120]}" if outcome.detail and word != "fixed" else ""
            yield f"  {word:6} {outcome.id}{why}"
        if len(found) > shown:
            yield f"  {word:6} and {len(found) - shown} more, all of them on the page"


def junit(run: Run) -> str:
    """JUnit XML: one suite per file. A crash or a time-out is an error, any other failure a failure, an excluded test is skipped."""
    top = xml.Element("testsuites", name=f"PyTorch on {run.head['device']}")
    by_file: dict[str, list[Outcome]] = {}
    for outcome in run.outcomes:
        by_file.setdefault(outcome.file, []).append(outcome)
    for file, outcomes in by_file.items():
        suite = xml.SubElement(top, "testsuite", name=file)
        counts: Counter[str] = Counter(tests=len(outcomes), failures=0, errors=0, skipped=0)
        for outcome in outcomes:
            name = f"{file.removesuffix('.py').replace('/', '.')}.{outcome.group}".rstrip(".")
            case = xml.SubElement(suite, "testcase", classname=name, name=outcome.name, time=f"{outcome.seconds:.3f}")
            if outcome.state == runs.FAILED:
                kind = "error" if outcome.category in (CRASH, TIME_OUT, "import") else "failure"
                counts["errors" if kind == "error" else "failures"] += 1
                message = outcome.detail.translate(NOT_XML)
                xml.SubElement(case, kind, type=outcome.category, message=message).text = message
            elif outcome.state not in (runs.PASSED, runs.FLAKY):
                counts["skipped"] += 1
                xml.SubElement(
                    case, "skipped", message=(outcome.reason or outcome.detail or outcome.state).translate(NOT_XML)
                )
        suite.attrib.update({key: str(count) for key, count in counts.items()})
        suite.set("time", f"{sum(outcome.seconds for outcome in outcomes):.3f}")
    xml.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(top, encoding="unicode") + "\n"


def page(history: list[Run], compared: Comparison | None, against: Comparison | None, stale: list[Exclusion]) -> str:
    """The page: how failures went down over the runs, by category and by file, what changed, and each failure of the last run."""
    run = history[-1]
    data = {
        "verdict": verdict(run),
        "title": f"{run.title}, in {run.head['seconds']:.0f} s",
        "categories": CATEGORIES,
        "runs": [
            {
                "number": each.head["number"],
                "date": each.head["date"],
                "torch": each.head["torch"],
                "counts": each.counts(),
            }
            for each in history
        ],
        "changes": [
            [
                name,
                f"{comparison.before.title}, PyTorch {comparison.before.head['torch']}",
                word,
                [outcome.id for outcome in found],
            ]
            for name, comparison in (("the last run", compared), ("the other run", against))
            if comparison is not None
            for word, found in (("new", comparison.new), ("fixed", comparison.fixed), ("flaky", comparison.flaky))
        ],
        "stale": [[row.name, row.reason, row.place] for row in stale],
        "rows": [
            [
                outcome.file,
                outcome.group,
                outcome.name,
                outcome.origin,
                outcome.state,
                outcome.category,
                outcome.detail,
                outcome.reason,
                outcome.did,
            ]
            for outcome in run.outcomes
            if outcome.state not in (runs.PASSED, runs.SKIPPED)
        ],
        "skips": Counter(outcome.detail for outcome in run.outcomes if outcome.state == runs.SKIPPED).most_common(50),
    }
    return render(PAGE, f"PyTorch's tests on {run.head['device']}", data)
