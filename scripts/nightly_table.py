"""tests/nightly.md, in which scripts/nightly.sh keeps the outcome of each of its stages.

nightly_table.py record STAGE [JUNIT ...] --outcome passed --seconds 90 --log FILE    replaces the stage's row
nightly_table.py age                                                                  how old each row is
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import xml.etree.ElementTree
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests/nightly.md"
STAGES = (
    "slow",
    "soak",
    "sanitized",
    "races",
    "kinds",
    "owned",
    "libraries",
    "external",
    "vulkan",
    "compiler",
    "book",
    "components",
    "release",
    "workflows",
    "arm",
    "debian",
    "opencl",
    "clients",
    "try",
    "sweep",
)
HEAD = """\
# What scripts/nightly.sh found

Written by `scripts/nightly.sh`, which replaces the rows of the stages that it runs; `.ci/run` prints how old they are. A `+` behind
a commit: with changes that were not committed yet. The figures are counts of tests, and of the sweep's cases.

| stage | date | commit | minutes | outcome | figures |
|---|---|---|---|---|---|
"""


class Row(NamedTuple):
    stage: str
    date: str
    commit: str
    minutes: str
    outcome: str
    figures: str


def parse(text: str) -> dict[str, Row]:
    rows = (re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines() if line.startswith("| "))
    return {cells[0]: Row(*(cells + [""] * 6)[:6]) for cells in rows if cells[0] in STAGES and cells[1] != "-"}


def text_of(rows: dict[str, Row]) -> str:
    """Every stage has a row, also one that never ran."""
    listed = [rows.get(stage, Row(stage, "-", "-", "-", "never run", "-")) for stage in STAGES]
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in listed)


def tests_in(files: list[pathlib.Path]) -> str:
    """The sum of JUnit files of pytest, CTest and GoogleTest."""
    total = failed = skipped = 0
    for file in files:
        try:
            suites = list(xml.etree.ElementTree.parse(file).iter("testsuite"))
        except xml.etree.ElementTree.ParseError:
            continue  # of a run that was cut off
        for suite in suites:
            total += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
    words = [f"{total} tests"] + [
        f"{count} {word}" for count, word in ((failed, "failed"), (skipped, "skipped")) if count
    ]
    return ", ".join(words) if total else ""


def sweeps_in(log: str) -> list[str]:
    """One clause per run of the sweep."""
    found = []
    for cases, modes, rest in re.findall(
        r"^(\d+) cases of \d+ tasks; modes: (.*)((?:\n.*)*?\nall .*)$", log, re.MULTILINE
    ):
        known, new = re.search(r"\nall +(\d+) +(\d+)$", rest).groups()
        found.append(f"{int(cases):,} cases ({modes}), {int(known):,} known, {int(new):,} new")
    return found


def figures(log: str, junit: list[pathlib.Path]) -> str:
    said = re.findall(r"^figures: (.*)$", log, re.MULTILINE)
    return "; ".join(filter(None, [tests_in(junit), *sweeps_in(log), *said])) or "-"


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout.strip()


def record(stage: str, outcome: str, seconds: int, log: str, junit: list[pathlib.Path]) -> None:
    edited = git("status", "--porcelain", "--", ".", f":!{TABLE.relative_to(ROOT)}")
    commit = git("rev-parse", "--short=10", "HEAD") + ("+" if edited else "")
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    minutes = f"{seconds / 60:.0f}" if seconds >= 60 else "1"
    rows = parse(TABLE.read_text()) if TABLE.is_file() else {}
    rows[stage] = Row(stage, date, commit, minutes, outcome, figures(log, junit))
    TABLE.write_text(text_of(rows))


def age(row: Row, today: datetime.date, commits: int | None) -> str:
    """commits: how many there are since; None: the row's is not in this history."""
    days = (today - datetime.date.fromisoformat(row.date)).days
    since = "a commit that is not in this checkout" if commits is None else f"{commits} commits ago"
    return f"{row.stage:10} {row.outcome:7} {days} days, {since} ({row.commit}): {row.figures}"


def print_ages() -> None:
    rows = parse(TABLE.read_text()) if TABLE.is_file() else {}
    for stage in STAGES:
        if stage not in rows:
            print(f"{stage:10} never run")
            continue
        try:
            commits = int(git("rev-list", "--count", f"{rows[stage].commit.rstrip('+')}..HEAD"))
        except (subprocess.CalledProcessError, FileNotFoundError):
            commits = None
        print(age(rows[stage], datetime.datetime.now(datetime.timezone.utc).date(), commits))


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("age")
    row = verbs.add_parser("record")
    row.add_argument("stage", choices=STAGES)
    row.add_argument("junit", type=pathlib.Path, nargs="*")  # behind options, argparse would not take them
    row.add_argument("--outcome", required=True)
    row.add_argument("--seconds", type=int, required=True)
    row.add_argument("--log", type=pathlib.Path, required=True)
    given = parser.parse_args(words)
    if given.verb == "age":
        print_ages()
        return
    junit = [path for path in given.junit if path.is_file()]  # where a stage has none, the shell passes its pattern
    record(given.stage, given.outcome, given.seconds, given.log.read_text(errors="replace"), junit)


if __name__ == "__main__":
    main()
