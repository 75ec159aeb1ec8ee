"""The workflows of GitHub Actions: their steps run scripts that there are, and name the stages that there are."""

import json
import re
import subprocess
import sys

import pytest
from trees import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import choose  # noqa: E402
import workflows  # noqa: E402

NAMES = sorted(path.stem for path in workflows.FOLDER.glob("*.yml"))
STEPS = [
    pytest.param(step, id=f"{name}-{job}-{number}")
    for name in NAMES
    for job, about in workflows.workflow(name)["jobs"].items()
    for number, step in enumerate(workflows.run_steps(about))
]


def test_there_is_a_workflow_for_each_purpose():
    assert NAMES == ["ci", "nightly", "site", "wheels"]


@pytest.mark.parametrize("step", STEPS)
def test_steps_run_scripts_that_there_are(step):
    script = workflows.filled(step["run"], {"matrix.stage": "format"})
    subprocess.run(["bash", "-n", "-c", script], check=True)
    for path in re.findall(r"(?<!\S)(scripts/[\w./-]+)", script):
        assert (ROOT / path).exists(), path
    check = ["shellcheck", "--shell=bash", "--exclude=SC2086", "-"]
    done = subprocess.run(check, input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_expressions_reach_the_shell_by_the_environment_only():
    """A title or a branch of a stranger's must not become code: in `run` only the matrix may be filled in."""
    for param in STEPS:
        for expression in re.findall(r"\$\{\{\s*(.*?)\s*\}\}", param.values[0]["run"]):
            assert expression.startswith("matrix."), expression


def test_jobs_are_the_stages():
    nightly = (ROOT / "scripts/nightly.sh").read_text()
    stages = workflows.workflow("nightly")["jobs"]["stage"]["strategy"]["matrix"]["stage"]
    named = re.findall(r"^#          (\w+(?:, \w+)*)  +\S", nightly, re.M)
    assert sorted(stages) == sorted(", ".join(named).split(", "))
    matrix = workflows.workflow("ci")["jobs"]["stage"]["strategy"]["matrix"]["stage"]
    assert matrix == "${{ fromJSON(needs.choose.outputs.stages) }}" and "format" in choose.STAGES


def test_the_script_runs_a_job_here():
    command = [sys.executable, ROOT / "scripts/workflows.py", "run", "ci", "choose"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "command format" in done.stdout


def test_the_container_has_what_the_scripts_install():
    container = (ROOT / ".devcontainer/Dockerfile").read_text()
    scripts = (ROOT / "scripts/lib.sh").read_text()
    torch = re.search(r"^torch_version=(\S+)", scripts, re.M)[1]
    assert re.findall(r"torch==(\S+)", container) == [torch]
    packages = re.search(r"--no-install-recommends (.*?) \\\n", container)[1].split()
    assert packages and all(re.search(rf"(?<!\S){re.escape(package)}(?!\S)", scripts) for package in packages)
    space = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert f"AS {space['build']['target']}\n" in container
    assert (ROOT / space["postCreateCommand"].split()[0]).exists()


def test_workflows_follow_their_schema():
    files = [str(path) for path in workflows.FOLDER.glob("*.yml")]
    check = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_job_says_what_its_token_may_do(name):
    """And one with an identity has no files that a pull request could have written, and no cache."""
    whole = workflows.workflow(name)
    assert whole["permissions"] == {}
    for job, about in whole["jobs"].items():
        actions = [step["uses"].split("@")[0] for step in about["steps"] if "uses" in step]
        if about["permissions"] != {"contents": "read"}:
            assert not {"actions/checkout", "actions/cache"} & set(actions), job
