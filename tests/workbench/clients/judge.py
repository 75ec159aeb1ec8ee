"""What a tool's run on a client backend is worth: it works, with the figure that proves it; it refuses and says why; or it is false.

Pure: it reads what the program printed and wrote. night.py runs the programs.
"""

import json
import pathlib
import re
from dataclasses import dataclass
from typing import Any

WORKS, REFUSES, FALSE = "works", "refuses", "FALSE"


@dataclass(frozen=True)
class Done:
    """A program that ended, and the folder in which it wrote. code: None if it had to be ended."""

    code: int | None
    out: str
    err: str
    folder: pathlib.Path


@dataclass(frozen=True)
class Verdict:
    word: str
    text: str  # figures, what is missing, or what is false


class FalseRun(Exception):
    """A run that is false; the text says why."""


def judge(tool: str, done: Done, **expected: Any) -> Verdict:
    """The verdict on a run of a tool. expected: what that tool's function below takes."""
    try:
        if done.code is None:
            raise FalseRun("no end in time")
        if "Traceback (most recent call last)" in done.err + done.out and tool not in RUNS_TESTS:
            raise FalseRun(f"a traceback: {last_line(done.err) or last_line(done.out)}")
        if done.code not in (0, 1, 2, 3):
            raise FalseRun(f"exit code {done.code}: {last_line(done.err)}")
        refusal = re.search(r"^error: (.+)$", done.err, re.M)
        if refusal and done.code != 0:
            return Verdict(REFUSES, refusal[1])
        return Verdict(WORKS, JUDGES[tool](done, **expected))
    except FalseRun as found:
        return Verdict(FALSE, str(found))
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
    ) as error:  # JSON that is none, or lacks a part
        return Verdict(FALSE, f"its output can't be read: {type(error).__name__}: {error}")


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "nothing was printed"


def number(pattern: str, text: str, what: str) -> int:
    """The number that a line says, which has to be more than 0."""
    found = re.search(pattern, text, re.M)
    if found is None:
        raise FalseRun(f"it doesn't say how many {what}")
    count = int(found[1].replace(",", ""))
    if count == 0:
        raise FalseRun(f"0 {what}, and no error")
    return count


def ended(done: Done, *codes: int) -> None:
    if done.code not in codes:
        raise FalseRun(f"exit code {done.code}, not {' or '.join(map(str, codes))}: {last_line(done.err)}")


def audit(done: Done) -> str:
    ended(done, 0)
    found = json.loads(done.out)
    answers = sum(row["verdict"] == "answers" for row in found["interfaces"])
    asked = sum(row["verdict"] != "does not apply" for row in found["interfaces"])
    if not found["registered"] or not answers:
        raise FalseRun(f"{found['registered']} operators with kernels, {answers} interfaces that answer")
    if not (done.folder / "audit.html").read_text().startswith("<!"):
        raise FalseRun("its page is not HTML")
    return f"{found['registered']} operators with kernels; {answers} of {asked} interfaces answer"


def sweep(done: Done) -> str:
    cases = number(r"^([\d,]+) cases of \d+ tasks", done.out, "cases")
    rows = [json.loads(line) for line in (done.folder / "sweep.jsonl").read_text().splitlines()]
    found = [each for row in rows for each in row.get("found", ())]
    ours = [f"{case}: {text}" for case, _, text in found if "openreg_gen" in text or 'File "' in text]
    if ours:
        raise FalseRun(f"an error of the sweep's own in {ours[0][:200]}")
    different = int(re.findall(r"^all +(\d+) +(\d+)$", done.out, re.M)[-1][1])
    if different >= cases:
        raise FalseRun(f"each of {cases} cases differs")
    ended(done, 1 if different else 0)
    return f"{cases:,} cases, {different:,} differ"


def trial(done: Done, kernel: str) -> str:
    (result,) = json.loads((done.folder / "try.json").read_text())["runs"].values()
    if not result["cases"]:
        raise FalseRun("0 cases, and no error")
    rows = {op.removeprefix("aten::"): row for op, row in result["reached"].items()}
    mine = {op: row for op, row in rows.items() if row["by"] == "kernel" and row["calls"]}
    if not any(op.partition(".")[0] == kernel.partition(".")[0] for op in mine) or not result["proved"]:
        raise FalseRun(f"{kernel} has a kernel, but it names {', '.join(rows) or 'none'}")
    if result["right"] != (not result["wrong"]):
        raise FalseRun(f"right: {result['right']}, with {len(result['wrong'])} wrong cases")
    ended(done, 0 if result["right"] else 1)
    calls = sum(row["calls"] for row in mine.values())
    return f"{kernel}: {result['cases']} cases, {len(result['wrong'])} wrong; {calls} calls by its kernel"


def trace(done: Done, op: str, file: str) -> str:
    ended(done, 0)
    place = re.search(rf"aten::{re.escape(op)}(?:\.\w+)?(?: .*)?\n(?:.*\n)*?.*PrivateUse1  kernel  (\S+)", done.out)
    if place is None:
        raise FalseRun(f"no kernel of {op} in the tree")
    if not place[1].rpartition(":")[0].endswith(file) or "/torch/" in place[1]:
        raise FalseRun(f"the kernel of {op} is said to be at {place[1]}")
    json.loads((done.folder / "trace.json").read_text())
    if not (done.folder / "trace.html").read_text().startswith("<!"):
        raise FalseRun("its page is not HTML")
    path, _, line = place[1].rpartition(":")
    return f"{op} at {pathlib.PurePath(path).name}:{line}"


def record(done: Done, operators: tuple[str, ...]) -> str:
    ended(done, 0)
    calls = {row["op"]: row["calls"] for row in json.loads((done.folder / "ops.json").read_text())["ops"]}
    names = {op.partition(".")[0] for op in calls}
    if missing := [op for op in operators if op not in calls and op not in names]:
        raise FalseRun(f"{', '.join(missing)} not recorded; only {', '.join(calls) or 'nothing'}")
    return f"{len(calls)} operators, {sum(calls.values())} calls"


def compare(done: Done) -> str:
    calls = number(r"^([\d,]+) calls of \d+ operators compared", done.err, "calls compared")
    differ = re.search(r"; (\d+) differ", done.err)
    if differ is None or int(differ[1]):
        raise FalseRun(f"a right script differs: {last_line(done.err)}")
    ended(done, 0)
    return f"{calls} calls compared, 0 differ"


def planted(done: Done) -> str:
    """compare on a script with a wrong kernel of add."""
    number(r"; (\d+) differ", done.err, "differences, though a kernel is wrong")
    ended(done, 1)
    if not re.search(r"^first difference: .*\n +aten\.add\.", done.err, re.M):
        raise FalseRun("the first difference is not the wrong kernel's")
    if not (done.folder / "differs.pt").is_file():
        raise FalseRun("no differs.pt")
    return "a wrong kernel is found"


def replay(done: Done, package: str) -> str:
    """Of the call that differed, without the wrong kernel."""
    ended(done, 0)
    if "it no longer differs" not in done.out:
        raise FalseRun(f"the client's own kernel is right; it says: {last_line(done.out)}")
    if f", {package} " not in done.out:
        raise FalseRun(f"it doesn't name the backend {package}: {done.out[:200]}")
    if "import torch" not in (done.folder / "test_call.py").read_text():
        raise FalseRun("its test does not import torch")
    return "the call is right without the wrong kernel"


def sanitize(done: Done) -> str:
    ended(done, 0, 1)
    return f"{number(r'([0-9,]+) calls', done.err, 'calls')} calls"


def upstream(done: Done, tests: int, fail: int) -> str:
    ran = number(r"^Ran (\d+) tests", done.err + done.out, "tests")
    failed = re.search(r"^FAILED \(failures=(\d+)\)", done.err + done.out, re.M)
    if (ran, int(failed[1]) if failed else 0) != (tests, fail):
        raise FalseRun(f"{ran} tests, {failed[1] if failed else 0} failed; there are {tests}, of which {fail} fails")
    ended(done, 1)
    return f"{ran} tests, the {fail} that is wrong fails"


def adopt(done: Done, kernel: str) -> str:
    ended(done, 0)
    found = json.loads(done.out)["adoption"]
    names = {row["op"].partition(".")[0] for row in found["operators"]}
    if kernel.partition(".")[0] not in names:
        raise FalseRun(f"{kernel} is not among its {len(names)} operators")
    if places := [row for row in found["operators"] if "/torch/library.py" in (row.get("file") or "")]:
        raise FalseRun(f"{places[0]['op']} is said to be in PyTorch's own {places[0]['file']}")
    if not found["spec"].strip():
        raise FalseRun("an empty spec")
    return f"{len(found['operators'])} operators, {len(found['unclear'])} unclear"


RUNS_TESTS = ("upstream",)  # unittest prints tracebacks of the tests that fail
JUDGES = {
    "audit": audit,
    "sweep": sweep,
    "try": trial,
    "trace": trace,
    "compare": compare,
    "compare, a wrong kernel": planted,
    "record": record,
    "replay": replay,
    "sanitize": sanitize,
    "upstream": upstream,
    "new --from": adopt,
}
