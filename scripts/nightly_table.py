"""tests/nightly.md, in which scripts/nightly.sh keeps the outcome of each of its stages.

nightly_table.py record STAGE [JUNIT ...] --outcome passed --seconds 90 --log FILE    replaces the stage's row
nightly_table.py age                                                                  how old each row is
nightly_table.py check                                                                fails for rows that say nothing of today's code
nightly_table.py stages                                                               their names

A row says nothing of today's code if its stage failed or never ran, or if what it tests has changed in more than 60 commits since:
they are counted, so a row that is good today doesn't spoil overnight. A change that renews one such row passes the check, so that
they can be renewed one by one.
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests/nightly.md"
# What each stage tests, as git's pathspecs, in the order in which they run.
SUBJECTS = {
    "slow": "generator templates specs tests/*.py tests/workbench",
    "soak": "generated_example/third_party generated_example/csrc/runtime generated_example/tests/cpp",
    "sanitized": "generator :!generator/workbench",
    "sanitized_trees": "templates/csrc templates/memory templates/package templates/third_party templates/ci tests/sanitizers",
    "sanitized_opencl": "templates/csrc templates/third_party templates/ci",
    "races": "generated_example generator/workbench/openreg_gen/sanitize",
    "failing": "generated_example/csrc generated_example/torch_openreg generated_example/third_party tests/failing",
    "schedules": "generated_example/csrc/runtime generated_example/third_party generated_example/tests tests/schedule",
    "kinds": "templates generator/model generator/strategy",
    "owned": "templates/csrc specs/full.yaml tests/owned_ops",
    "libraries": "generated_example tests/libraries",
    "second": "templates generator/spec",
    "external": "templates tests/external/card_port.cpp",
    "vulkan": "templates tests/external/vulkan",
    "compiler": "templates tests/external/openvino tests/external/graph_compiler",
    "compiler_sweep": "templates/csrc tests/external/openvino generator/workbench/openreg_gen/sweep",
    "book": "docs/book scripts/book.py",
    "exercises": "templates/lessons generator/workbench/openreg_gen/learn tests/exercises scripts/exercises.py",
    "components_1": "templates generator/spec",
    "components_2": "templates generator/spec",
    "release_2_14": "generated_example generator/releases",
    "release_2_15": "generated_example generator/releases",
    "release_trees": "templates generator/releases",
    "workflows": "templates/ci templates/AGENTS.md.j2",
    "arm": "generator/system templates scripts/arm.sh",
    "debian": "generator templates scripts/debian.sh",
    "opencl": "templates tests/owned_ops tests/drivers",
    "opencl_sweep": "templates/csrc generator/workbench/openreg_gen/sweep",
    "clients": "generator/workbench tests/workbench/clients",
    "try_standard": "templates/csrc generator/workbench/openreg_gen/trial",
    "try_full": "templates/csrc generator/workbench/openreg_gen/trial",
    "try_opencl": "templates/csrc generator/workbench/openreg_gen/trial",
    "sweep_openreg": "generated_example/csrc generator/workbench/openreg_gen/sweep",
    "sweep_full": "templates/csrc generator/workbench/openreg_gen/sweep",
}
STAGES = tuple(SUBJECTS)
MOST_COMMITS = 60  # of a stage's subject since its row
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
    return f"{row.stage:14} {row.outcome:7} {days} days, {since} ({row.commit}): {row.figures}"


def has_history() -> bool:
    """Whether commits can be counted: not without git, nor in a shallow checkout."""
    try:
        return git("rev-parse", "--is-shallow-repository") == "false"
    except (subprocess.CalledProcessError, FileNotFoundError):
        return False


def commits_since(row: Row, subject: str = ".") -> int | None:
    """Those that touch the subject; None: the row's is not in this history."""
    commit = row.commit.rstrip("+")
    try:
        git("merge-base", "--is-ancestor", commit, "HEAD")
        return int(git("rev-list", "--count", f"{commit}..HEAD", "--", *subject.split()))
    except (subprocess.CalledProcessError, FileNotFoundError):
        return None


def problem(stage: str, row: Row | None) -> str:
    """Why a row says nothing of today's code; empty if it does."""
    if row is None:
        return "never run"
    if row.outcome != "passed":
        return row.outcome
    commits = commits_since(row, SUBJECTS[stage])
    if commits is None:
        return f"its commit {row.commit} is not in this history"
    return f"{commits} commits changed what it tests" if commits > MOST_COMMITS else ""


def table_before() -> dict[str, Row]:
    """The table before the change; where it is not known which that is, as many commits ago as a row may be old."""
    import choose

    base = choose.base_of_change()[0]
    try:
        if base is None or git("rev-parse", base) == git("rev-parse", "HEAD"):
            base = f"HEAD~{MOST_COMMITS}"
        return parse(git("show", f"{base}:{TABLE.relative_to(ROOT)}"))
    except (subprocess.CalledProcessError, FileNotFoundError):
        return {}


def check() -> int:
    if not has_history():
        print("rows are not checked: this checkout has no history in which commits can be counted")
        return 0
    rows = parse(TABLE.read_text()) if TABLE.is_file() else {}
    bad = {stage: why for stage in STAGES if (why := problem(stage, rows.get(stage)))}
    if not bad:
        return 0
    before = table_before()
    renewed = [
        stage
        for stage in STAGES
        if stage not in bad and rows[stage] != before.get(stage) and problem(stage, before.get(stage))
    ]
    for stage, why in bad.items():
        print(f"{stage:14} {why}; renew it: scripts/nightly.sh {stage}")
    if renewed:
        print(f"{len(bad)} rows say nothing of today's code; this change renews: {', '.join(renewed)}")
        return 0
    print(
        f"error: {len(bad)} rows of tests/nightly.md say nothing of today's code, and this change renews none of them"
    )
    return 1


def print_ages() -> None:
    rows = parse(TABLE.read_text()) if TABLE.is_file() else {}
    for stage in STAGES:
        if stage not in rows:
            print(f"{stage:14} never run")
            continue
        print(age(rows[stage], datetime.datetime.now(datetime.timezone.utc).date(), commits_since(rows[stage])))


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("age", "check", "stages"):
        verbs.add_parser(name)
    row = verbs.add_parser("record")
    row.add_argument("stage", choices=STAGES)
    row.add_argument("junit", type=pathlib.Path, nargs="*")  # behind options, argparse would not take them
    row.add_argument("--outcome", required=True)
    row.add_argument("--seconds", type=int, required=True)
    row.add_argument("--log", type=pathlib.Path, required=True)
    given = parser.parse_args(words)
    if given.verb == "age":
        print_ages()
        return 0
    if given.verb == "check":
        return check()
    if given.verb == "stages":
        print("\n".join(STAGES))
        return 0
    junit = [path for path in given.junit if path.is_file()]  # where a stage has none, the shell passes its pattern
    record(given.stage, given.outcome, given.seconds, given.log.read_text(errors="replace"), junit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
