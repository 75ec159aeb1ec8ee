"""Runs the `run:` steps of the workflows in .github/workflows here, as GitHub Actions would.

    workflows.py list                                the jobs, with their run steps
    workflows.py run ci [JOB] [--matrix stage=format]  runs them; `--set github.sha=abc` gives other expressions a value

Steps with `uses:` are left out: they check out, cache, upload. A job with a matrix runs once per combination that --matrix allows.
Expressions without a value become empty. Needs PyYAML.
"""

import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github/workflows"


def workflow(name: str) -> dict:
    return yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))


def combinations(job: dict, wanted: dict[str, str]) -> list[dict[str, str]]:
    matrix = job.get("strategy", {}).get("matrix", {})
    values = {key: each if isinstance(each, list) else [wanted.get(key, "")] for key, each in matrix.items()}
    rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
    return [row for row in rows if all(str(row.get(key, value)) == value for key, value in wanted.items())]


def filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda match: values.get(match[1], ""), str(text))


def run_steps(job: dict) -> list[dict]:
    return [step for step in job["steps"] if "run" in step]


def run_job(name: str, job: dict, row: dict[str, str], values: dict[str, str]) -> int:
    """Runs the steps in order, each in a bash of its own, until one fails; its exit code."""
    values = values | {f"matrix.{key}": str(value) for key, value in row.items()}
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "output"
        output.touch()
        for step in run_steps(job):
            env = os.environ | {key: filled(value, values) for key, value in step.get("env", {}).items()}
            env |= {"CI": "true", "GITHUB_OUTPUT": str(output), "GITHUB_WORKSPACE": str(ROOT)}
            script = filled(step["run"], values)
            print(
                f"==> {name} {' '.join(map(str, row.values()))}: {step.get('name', script.splitlines()[0])}", flush=True
            )
            code = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=ROOT, env=env, check=False).returncode
            if code:
                return code
            for line in output.read_text(encoding="utf-8").splitlines():
                key, _, value = line.partition("=")
                values[f"steps.{step.get('id')}.outputs.{key}"] = value
    return 0


def pairs(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def main() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list")
    run = verbs.add_parser("run")
    run.add_argument("workflow")
    run.add_argument("job", nargs="?")
    run.add_argument("--matrix", action="append", default=[], metavar="KEY=VALUE")
    run.add_argument("--set", action="append", default=[], metavar="EXPRESSION=VALUE")
    args = parser.parse_args()
    if args.verb == "list":
        for path in sorted(FOLDER.glob("*.yml")):
            for name, job in workflow(path.stem)["jobs"].items():
                for step in run_steps(job):
                    print(f"{path.stem:8} {name:10} {step['run'].strip().splitlines()[0]}")
        return
    failed = []
    for name, job in workflow(args.workflow)["jobs"].items():
        if args.job in (None, name):
            for row in combinations(job, pairs(args.matrix)):
                if run_job(name, job, row, pairs(args.set)):
                    failed.append(" ".join([name, *map(str, row.values())]))
    sys.exit(f"failed: {', '.join(failed)}" if failed else None)


if __name__ == "__main__":
    main()
