"""Runs the tools on backends that aren't openreg-gen's, and judges each run: scripts/nightly.sh clients.

night.py run [--client NAME] [--tool NAME] [--results FILE]   a run that is false, or worse than the table says, fails
night.py table --results FILE                                 writes the table of docs/guides/foreign-backends.md from a run
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from clients import backends, build, judge, statements  # noqa: E402
from clients.backends import CLIENTS, Client  # noqa: E402

PAGE = build.ROOT / "docs/guides/foreign-backends.md"
BEGIN, END = "<!-- written by tests/workbench/clients/night.py -->", "<!-- end -->"
COMMAND = os.environ.get("OPENREG_GEN", "openreg-gen")
STATEMENTS = "statements"  # of the audit, checked one by one
SHORT = "with --short: the audit called no samples, and the sweep ran one variant"


@dataclass(frozen=True)
class Run:
    """A tool's run on a client: its words, and its time limit in seconds."""

    tool: str
    words: list[str]
    seconds: int
    expected: dict[str, Any]


def runs(client: Client, short: bool = False) -> list[Run]:
    code, op, file = client.traced
    sources = ["--sources", str(client.sources)] if client.sources else []
    quick = ["--dtype", "float32", "--jobs", "2"]
    saved = ["-o", "facts.json", "--html=audit.html", "--timeout", "20", "--json"]
    saved += ["--no-samples"] if short else []
    sample = ["--sample", "--timeout", "60", "--jobs", "2", *(["--variant", "forward"] if short else [])]
    return [
        Run("audit", ["audit", "--device", client.device, "--import", client.module, *saved], 1500, {}),
        Run("sweep", ["sweep", *client.words, *backends.SUBJECTS.split(), *sample], 900, {}),
        Run(
            "try",
            ["try", *client.words, client.kernel, "--quick", *quick, "--json=try.json"],
            600,
            {"kernel": client.kernel},
        ),
        Run(
            "trace",
            ["trace", *client.words, code, "--html=trace.html", "--json=trace.json"],
            300,
            {"op": op, "file": file},
        ),
        Run("record", ["record", *client.words, "model.py"], 300, {"operators": client.operators}),
        Run("compare", ["compare", *client.words, "model.py"], 300, {}),
        Run("compare, a wrong kernel", ["compare", *client.words, "wrong.py"], 300, {}),
        Run("replay", ["replay", "differs.pt", "--pytest", "test_call.py"], 300, {"package": client.module}),
        Run("sanitize", ["sanitize", *client.words, "model.py"], 300, {}),
        Run("upstream", ["upstream", *client.words, "test_client.py"], 300, {"tests": 4, "fail": 1}),
        Run(
            "new --from",
            ["new", client.device, "--from", client.module, *sources, "--dry-run", "--json"],
            600,
            {"kernel": client.kernel},
        ),
    ]


TOOLS = [*(run.tool for run in runs(CLIENTS[0])), STATEMENTS]


def write_files(client: Client, folder: pathlib.Path) -> None:
    """The scripts and tests that the tools run."""
    model = client.model.replace("{device}", client.device)
    (folder / "model.py").write_text(model)
    (folder / "wrong.py").write_text(backends.WRONG_ADD.replace("{device}", client.device) + model)
    (folder / "test_client.py").write_text(backends.TESTS)


def execute(run: Run, client: Client, folder: pathlib.Path) -> judge.Done:
    """Run the command, and end it with all that it started if it takes too long."""
    out, err = folder / "out.txt", folder / "err.txt"
    with open(out, "w") as stdout, open(err, "w") as stderr:
        process = subprocess.Popen(
            [COMMAND, *run.words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=client.environment(),
            start_new_session=True,
        )
        try:
            code = process.wait(run.seconds)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, 9)
            process.wait()
    return judge.Done(code, out.read_text(errors="replace"), err.read_text(errors="replace"), folder)


def check_statements(client: Client, folder: pathlib.Path, audit: judge.Done) -> judge.Verdict:
    """Of the audit that ran before."""
    try:
        found, facts = json.loads(audit.out), json.loads((folder / "facts.json").read_text())
    except (OSError, ValueError):
        return judge.Verdict(judge.FALSE, "the audit did not answer, so there are no statements to check")
    words = [client.device, client.module]
    checked = statements.run(found, facts, client.name, words, client.environment())
    for each in checked:
        print(f"    {'true ' if each.true else 'FALSE'} {each.statement.text}\n          {each.why}")
    wrong = [each.statement.text for each in checked if not each.true]
    if wrong or len(checked) < statements.COUNT:
        return judge.Verdict(judge.FALSE, "; ".join(wrong) or f"only {len(checked)} could be checked")
    return judge.Verdict(judge.WORKS, f"{len(checked)} of {len(checked)} statements of the audit are true")


def examine(client: Client, tools: Sequence[str], short: bool) -> dict[str, judge.Verdict]:
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(client, folder)
        audit = judge.Done(0, "", "", folder)
        for run in runs(client, short):
            if run.tool not in tools:
                continue
            begin = time.monotonic()
            done = execute(run, client, folder)
            found[run.tool] = judge.judge(run.tool, done, **run.expected)
            report(client, run.tool, found[run.tool], time.monotonic() - begin)
            if found[run.tool].word == judge.FALSE:
                print("\n".join(f"    {line}" for line in (done.out + done.err).splitlines()[-15:]), flush=True)
            if run.tool == "audit":
                audit = done
        if STATEMENTS in tools:
            begin = time.monotonic()
            found[STATEMENTS] = check_statements(client, folder, audit)
            report(client, STATEMENTS, found[STATEMENTS], time.monotonic() - begin)
    return found


def report(client: Client, tool: str, verdict: judge.Verdict, seconds: float) -> None:
    print(f"{client.name:12} {tool:24} {verdict.word:8} {seconds:5.0f} s  {verdict.text}", flush=True)


# --- the table


def cell(verdict: judge.Verdict) -> str:
    return f"{verdict.word}: {verdict.text}".replace("|", "\\|").replace("`", "'")


def table(results: dict[str, Any]) -> str:
    names = [client.name for client in CLIENTS]
    verdicts = {
        name: {tool: judge.Verdict(*each) for tool, each in rows.items()} for name, rows in results["found"].items()
    }
    lines = [
        BEGIN,
        f"Run on {results['date']}, at commit {results['commit']}{', ' + SHORT if results['short'] else ''}.",
        "",
        f"| tool | {' | '.join(names)} |",
        f"|---{'|---' * len(names)}|",
    ]
    for tool in TOOLS:
        cells = [cell(verdicts[name][tool]) if tool in verdicts.get(name, {}) else "not run" for name in names]
        lines.append(f"| {tool} | {' | '.join(cells)} |")
    return "\n".join([*lines, END])


def words_of(page: str) -> dict[str, dict[str, str]]:
    """By client and tool, the first word of each cell: "works"."""
    text = page.partition(BEGIN)[2].partition(END)[0]
    rows = [
        [each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    if not rows:
        return {}
    return {
        name: {row[0]: row[number].partition(":")[0] for row in rows[1:]} for number, name in enumerate(rows[0][1:], 1)
    }


def worse(found: dict[str, dict[str, judge.Verdict]], page: str) -> list[str]:
    """Runs that no longer work as the page says."""
    before = words_of(page)
    return [
        f"{name}: {tool} worked, and now {verdict.word}: {verdict.text}"
        for name, rows in found.items()
        for tool, verdict in rows.items()
        if verdict.word == judge.REFUSES and before.get(name, {}).get(tool) == judge.WORKS
    ]


def commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", build.ROOT, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain", "--", "generator") else "")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run", "table"])
    parser.add_argument("--client", action="append", choices=[each.name for each in CLIENTS])
    parser.add_argument("--tool", action="append", choices=TOOLS)
    parser.add_argument("--results", type=pathlib.Path, default=build.BUILD / "clients.json")
    parser.add_argument("--short", action="store_true", help="an audit without samples, and one variant of the sweep")
    given = parser.parse_args(words)
    if given.verb == "table":
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + table(json.loads(given.results.read_text())) + rest.partition(END)[2])
        return 0
    found = {
        client.name: examine(client, given.tool or TOOLS, given.short)
        for client in CLIENTS
        if client.name in (given.client or [client.name])
    }
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    rows = {
        name: {tool: list(asdict(verdict).values()) for tool, verdict in each.items()} for name, each in found.items()
    }
    part = (given.client or given.tool) and given.results.is_file()
    before = json.loads(given.results.read_text()) if part else {"found": {}}
    rows = {**before["found"], **{name: {**before["found"].get(name, {}), **each} for name, each in rows.items()}}
    given.results.write_text(
        json.dumps({"date": date, "commit": commit(), "short": given.short, "found": rows}, indent=1) + "\n"
    )
    every = [verdict for each in found.values() for verdict in each.values()]
    false = sum(verdict.word == judge.FALSE for verdict in every)
    for text in (less := worse(found, PAGE.read_text())):
        print(f"worse: {text}")
    counts = [sum(verdict.word == word for verdict in every) for word in (judge.WORKS, judge.REFUSES, judge.FALSE)]
    print(
        "figures: {} runs of tools on {} clients: {} work, {} refuse, {} false".format(len(every), len(found), *counts)
    )
    return 1 if false or less else 0


if __name__ == "__main__":
    sys.exit(main())
