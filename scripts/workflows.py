"""Runs the `run:` steps of GitHub workflows here, as GitHub Actions would: those of this repository, or of a tree with component `ci`.

    workflows.py list [--tree DIR]                     the jobs, with their run steps
    workflows.py run ci [JOB] [--matrix stage=format]  runs them; `--set github.sha=abc` gives other expressions a value
    workflows.py run pull_request --tree DIR --matrix torch=2.13

A job with a matrix runs once per combination that --matrix allows. Expressions without a value become empty; a job's outputs are values
for the jobs after it. Steps that need more than this machine has are in NOT_HERE, and are named when they are left out. Needs PyYAML.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github/workflows"

# Actions, and beginnings of commands, that need GitHub or what else is not here.
NOT_HERE = {
    "actions/checkout": "the files are here",
    "actions/setup-python": "Python is here; PYTHON names another one for steps.sh",
    "actions/cache": "the compiler cache is here",
    "actions/upload-artifact": "uploads to GitHub",
    "actions/download-artifact": "what was made before is here",
    "actions/upload-pages-artifact": "uploads to GitHub",
    "actions/deploy-pages": "uploads to GitHub",
    "pypa/gh-action-pypi-publish": "uploads to PyPI",
    "docker://rhysd/actionlint": "needs docker",
    "pytorch/test-infra/.github/actions/cross-repo-ci-relay-callback": "reports to PyTorch's relay, with a token of GitHub",
    "bash ci/steps.sh environment source": "clones PyTorch from GitHub and builds it, for hours",
}


def folder_of(tree: pathlib.Path) -> pathlib.Path:
    return tree / ".github/workflows"


def workflow(name: str, tree: pathlib.Path = ROOT) -> dict:
    return yaml.safe_load((folder_of(tree) / f"{name}.yml").read_text(encoding="utf-8"))


def combinations(job: dict, wanted: dict[str, str]) -> list[dict[str, str]]:
    matrix = job.get("strategy", {}).get("matrix", {})
    values = {key: each if isinstance(each, list) else [wanted.get(key, "")] for key, each in matrix.items()}
    rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
    return [row for row in rows if all(str(row.get(key, value)) == value for key, value in wanted.items())]


def filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda match: values.get(match[1], ""), str(text))


def run_steps(job: dict) -> list[dict]:
    return [step for step in job["steps"] if "run" in step]


def not_here(step: dict) -> str:
    """The part of NOT_HERE that a step is; "" if it can run."""
    said = step.get("uses", step.get("run", ""))
    found = next((known for known in NOT_HERE if said.startswith(known)), "")
    if "uses" in step and not found:
        sys.exit(f"{said}: not known; say in NOT_HERE of {pathlib.Path(__file__).name} why it isn't run here")
    return found


def runs(condition: object, failed: bool, values: dict[str, str]) -> bool:
    """What `if:` says: of functions, names, texts, `!`, `&&`, `||` and comparisons. Without a status function, success is needed too."""
    text = re.sub(r"^\$\{\{|\}\}$", "", str(condition)).strip()
    status = {"always": True, "failure": failed, "cancelled": False, "success": not failed}
    asks = re.search(rf"\b({'|'.join(status)})\(\)", text) is not None
    text = re.sub(r"\b(\w+)\(\)", lambda match: str(status[match[1]]), text)
    text = re.sub(r"\b[a-z]\w*(\.\w+)+", lambda match: repr(values.get(match[0], "")), text)
    text = re.sub(r"!(?!=)", " not ", text).replace("&&", " and ").replace("||", " or ")
    return bool(eval(text, {"__builtins__": {}})) and (asks or not failed)


def run_job(name: str, job: dict, row: dict[str, str], outside: dict[str, str], tree: pathlib.Path, above: dict) -> int:
    """Runs the steps in order, each in a bash of its own, until one fails, then those that ask for that; the first exit code.
    Adds the job's result and outputs to the values."""
    values = outside | {f"matrix.{key}": str(value) for key, value in row.items()}
    steps: dict[str, dict] = {}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "output"
        for step in job["steps"]:
            title = f"{name} {' '.join(map(str, row.values()))}: {step.get('name') or step.get('uses') or step['run'].splitlines()[0]}"
            if known := not_here(step):
                print(f"--> {title}: left out, {NOT_HERE[known]}", flush=True)
                steps[step.get("id", "")] = {"outcome": "success"}
                values[f"steps.{step.get('id')}.outcome"] = "success"
                continue
            outcome = "skipped"
            if runs(step.get("if", "success()"), bool(failed), values):
                values["toJSON(steps)"] = json.dumps({key: each for key, each in steps.items() if key})
                settings = above | job.get("env", {}) | step.get("env", {})
                env = os.environ | {key: filled(value, values) for key, value in settings.items()}
                env |= {"CI": "true", "GITHUB_OUTPUT": str(output), "GITHUB_WORKSPACE": str(tree)}
                output.write_text("", encoding="utf-8")
                print(f"==> {title}", flush=True)
                command = ["bash", "-eo", "pipefail", "-c", filled(step["run"], values)]
                code = subprocess.run(command, cwd=tree, env=env, check=False).returncode
                failed = failed or code
                outcome = "failure" if code else "success"
                for line in output.read_text(encoding="utf-8").splitlines():
                    key, _, value = line.partition("=")
                    values[f"steps.{step.get('id')}.outputs.{key}"] = value
            steps[step.get("id", "")] = {"outcome": outcome}
            values[f"steps.{step.get('id')}.outcome"] = outcome
    values["toJSON(steps)"] = json.dumps({key: each for key, each in steps.items() if key})
    for key, text in job.get("outputs", {}).items():
        outside[f"needs.{name}.outputs.{key}"] = filled(text, values)
    outside[f"needs.{name}.result"] = "failure" if failed else "success"
    return failed


def pairs(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def main() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list")
    run = verbs.add_parser("run")
    run.add_argument("workflow")
    run.add_argument("job", nargs="?")
    run.add_argument("--matrix", action="append", default=[], metavar="KEY=VALUE")
    run.add_argument("--set", action="append", default=[], metavar="EXPRESSION=VALUE")
    for each in (listing, run):
        each.add_argument(
            "--tree", type=pathlib.Path, default=ROOT, help="a tree with component ci; default: this repository"
        )
    args = parser.parse_args()
    tree = args.tree.resolve()
    if args.verb == "list":
        for path in sorted(folder_of(tree).glob("*.yml")):
            for name, job in workflow(path.stem, tree)["jobs"].items():
                for step in run_steps(job):
                    print(f"{path.stem:12} {name:10} {step['run'].strip().splitlines()[0]}")
        return
    failed: list[str] = []
    whole = workflow(args.workflow, tree)
    values = pairs(args.set)
    for name, job in whole["jobs"].items():
        needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        bad = any(each.split()[0] in needs for each in failed)
        if not runs(job.get("if", "success()"), bad, values):
            why = "a job that it needs failed" if bad and "if" not in job else f"not if {job['if']}"
            print(f"--> {name}: left out, {why}", flush=True)
            values[f"needs.{name}.result"] = "skipped"
        elif args.job in (None, name):
            for row in combinations(job, pairs(args.matrix)):
                if run_job(name, job, row, values, tree, whole.get("env", {})):
                    failed.append(" ".join([name, *map(str, row.values())]))
    sys.exit(f"failed: {', '.join(failed)}" if failed else None)


if __name__ == "__main__":
    main()
