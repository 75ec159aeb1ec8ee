# Shared with openreg-gen: yours to edit; `components` in the spec changes what is rendered.
"""What a run of CI found, from what steps.sh left in build/ci.

    report.py counts    how many tests passed, failed and were skipped, as JSON; it becomes the output `counts` of the step
    report.py issue     opens an issue with what broke, or rewrites the one that is open; prints it where there is no `gh`

$STEPS is toJSON(steps) of GitHub.
"""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent / "build" / "ci"
TITLE = "torch_openreg breaks with PyTorch's nightly build"


def results() -> list[tuple[str, str]]:
    """(test, how it ended), of pytest and of ctest."""
    found = []
    for file in sorted(LOGS.glob("*.xml")):
        for case in ElementTree.parse(file).iter("testcase"):
            kinds = {child.tag for child in case}
            how = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
            found.append((f"{case.get('classname')}::{case.get('name')}", how))
    return found


def counts() -> dict[str, int]:
    ends = [how for _, how in results()]
    return {how: ends.count(how) for how in ("passed", "failed", "skipped")}


def excerpt(step: str) -> list[str]:
    """The lines of a log that say what broke: those with errors, or the last ones."""
    if step == "test" and (tests := [test for test, how in results() if how == "failed"]):
        return tests[:50]
    log = LOGS / f"{step}.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else ["no log"]
    errors = [line for line in lines if "error:" in line or "error[" in line or "BREAK" in line]
    return errors[:50] or lines[-30:]


def issue() -> str:
    steps = json.loads(os.environ.get("STEPS", "{}"))
    broken = [name for name, step in steps.items() if step["outcome"] == "failure"]
    torch = [line for log in LOGS.glob("environment.log") for line in log.read_text(encoding="utf-8").splitlines()][-1:]
    tests = ", ".join(f"{number} {how}" for how, number in counts().items() if number)
    text = f"{', '.join(torch) or 'PyTorch'}: {', '.join(broken) or 'nothing'} failed. Tests: {tests or 'none ran'}.\n{os.environ.get('RUN', '')}\n"
    for name in broken:
        text += f"\n## {name}\n\n```text\n" + "\n".join(excerpt(name)) + "\n```\n"
    return text[:60000]  # GitHub takes 65,536 letters


def gh(*words: str, text: str | None = None) -> str:
    return subprocess.run(["gh", *words], input=text, capture_output=True, text=True, check=True).stdout


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
        listed = json.loads(gh("issue", "list", "--state", "open", "--limit", "200", "--json", "number,title"))
        known = [str(each["number"]) for each in listed if each["title"] == TITLE]
        where = ["edit", known[0]] if known else ["create", "--title", TITLE]
        print(gh("issue", *where, "--body-file", "-", text=text))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
