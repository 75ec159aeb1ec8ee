# Shared with openreg-gen: yours to edit; `components` in the spec changes what is rendered.
"""What a run of CI found, from what steps.sh left in build/ci.

    report.py counts    how many tests passed, failed and were skipped, as JSON; it becomes the output `counts` of the step
    report.py issue     opens an issue with what broke, or rewrites the one that is open; prints it where there is no `gh`

$STEPS is toJSON(steps) of GitHub.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent / "build" / "ci"
TITLE = "torch_openreg breaks with PyTorch's nightly build"


def results() -> list[tuple[str, str]]:
    """(test, how it ended), of pytest and of ctest. A file that a crash cut off counts as one test that failed."""
    found = []
    for file in sorted(LOGS.glob("*.xml")):
        try:
            cases = list(ElementTree.parse(file).iter("testcase"))
        except ElementTree.ParseError as error:
            found.append((f"{file.name} is not whole: {error}", "failed"))
            continue
        for case in cases:
            kinds = {child.tag for child in case}
            how = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
            found.append((" ".join(f"{case.get('classname')}::{case.get('name')}".split()), how))
    return found


def counts() -> dict[str, int]:
    ends = [how for _, how in results()]
    return {how: ends.count(how) for how in ("passed", "failed", "skipped")}


def lines_of(step: str) -> list[str]:
    log = LOGS / f"{step}.log"
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []


def fenced(lines: list[str]) -> str:
    """A block of Markdown that no line can end: its fence is longer than any run of backticks in it."""
    text = "\n".join(lines)
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}text\n{text}\n{fence}\n"


def excerpt(step: str) -> list[str]:
    """The lines of a log that say what broke: those with errors, or the last ones."""
    lines = lines_of(step) or ["no log"]
    errors = [line for line in lines if "error:" in line or "error[" in line or "BREAK" in line][:50] or lines[-30:]
    if step == "test" and (tests := [test for test, how in results() if how == "failed"][:50]):
        return tests + errors if any(" is not whole" in test for test in tests) else tests
    return errors


def issue() -> str:
    steps = json.loads(os.environ.get("STEPS") or "{}")  # empty if the job ended before its first step
    broken = [name for name, step in steps.items() if step["outcome"] == "failure"]
    torch = lines_of("environment")[-1:]
    tests = ", ".join(f"{number} {how}" for how, number in counts().items() if number)
    text = f"{', '.join(torch) or 'PyTorch'}: {', '.join(broken) or 'nothing'} failed. Tests: {tests or 'none ran'}.\n{os.environ.get('RUN', '')}\n"
    for name in broken:
        text += f"\n## {name}\n\n" + fenced([line[:250] for line in excerpt(name)])
    return text  # below the 65,536 letters that GitHub takes: four steps, with some 50 lines of 250


def gh(*words: str, text: str | None = None) -> str:
    done = subprocess.run(["gh", *words], input=text, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"gh {words[0]} {words[1]} ended with {done.returncode}")  # its own words are on standard error
    return done.stdout


def main() -> None:
    if sys.argv[1:2] == ["counts"]:
        line = json.dumps(counts())
        print(line)
        if output := os.environ.get("GITHUB_OUTPUT"):
            with open(output, "a", encoding="utf-8") as file:
                file.write(f"counts={line}\n")
    elif sys.argv[1:2] == ["issue"]:
        text = issue()
        if shutil.which("gh") is None:
            print(text)
            return
        asked = ("--search", f'"{TITLE}" in:title', "--limit", "100")
        listed = json.loads(gh("issue", "list", "--state", "open", *asked, "--json", "number,title"))
        known = [str(each["number"]) for each in listed if each["title"] == TITLE]
        where = ["edit", known[0]] if known else ["create", "--title", TITLE]
        print(gh("issue", *where, "--body-file", "-", text=text))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
