"""Component `ci`: the workflows of a tree are ones that GitHub takes, agree with themselves and with ci/steps.sh, and report.py says
what a run found. scripts/workflows.py runs their steps: `scripts/nightly.sh workflows`."""

import json
import os
import re
import subprocess
import sys

import pytest
from trees import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import workflows  # noqa: E402

NAMES = ["nightly", "pull_request", "relay", "wheels"]
TREES = {
    "minimal": ["--profile", "minimal"],
    "full": ["--profile", "full"],
    "external": ["--profile", "minimal", "--device", "external"],
    "opencl": ["--device", "opencl"],
}
FUNCTIONS = {"always", "cancelled", "failure", "success", "toJSON"}
# An action without versions: its page says `main`.
WITHOUT_VERSION = "pytorch/test-infra/.github/actions/cross-repo-ci-relay-callback@main"


@pytest.fixture(scope="module", params=TREES)
def tree(request, openreg_gen, tmp_path_factory):
    where = tmp_path_factory.mktemp(request.param) / "tree"
    openreg_gen("new", "mybackend", *TREES[request.param], "--out", where)
    if request.param != "full":
        openreg_gen("add", "component", "ci", "-C", where)
    return where


def strings(value):
    """Each text of a workflow."""
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def faults(whole, name):
    """What GitHub would find when it runs, and not before: names that nothing has."""
    found = []
    for job, about in whole["jobs"].items():
        matrix = about.get("strategy", {}).get("matrix", {})
        needs = about.get("needs", [])
        found += [
            f"{job}: needs {each}"
            for each in ([needs] if isinstance(needs, str) else needs)
            if each not in whole["jobs"]
        ]
        before = set()
        for step in about["steps"]:
            texts = [*strings(step), *(["${{ " + str(step["if"]) + " }}"] if "if" in step else [])]
            for expression in re.findall(r"\$\{\{(.*?)\}\}", " ".join(texts)):
                for path in re.findall(r"\b[a-z_]+(?:\.[\w-]+)+", re.sub(r"'[^']*'", "", expression)):
                    first, *rest = path.split(".")
                    known = {"matrix": matrix, "steps": before, "github": None, "vars": None, "job": None}
                    if first not in known or (known[first] is not None and rest[0] not in known[first]):
                        found.append(f"{job}: {path}")
                for function in re.findall(r"\b(\w+)\(", expression):
                    if function not in FUNCTIONS:
                        found.append(f"{job}: {function}()")
            if "uses" in step and not re.search(r"@v\d+$", step["uses"]) and step["uses"] != WITHOUT_VERSION:
                found.append(f"{job}: {step['uses']} has no version")
            if "id" in step:
                before.add(step["id"])
            for expression in re.findall(r"\$\{\{\s*(.*?)\s*\}\}", step.get("run", "")):
                if not expression.startswith("matrix."):
                    found.append(f"{job}: {expression} in a shell")
    if "permissions" not in whole:
        found.append(f"{name}: no permissions")
    return found


def test_workflows_are_consistent(tree):
    assert sorted(path.stem for path in workflows.folder_of(tree).glob("*.yml")) == NAMES
    for name in NAMES:
        assert faults(workflows.workflow(name, tree), name) == []
    files = [str(path) for path in workflows.folder_of(tree).glob("*.yml")]
    check = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("needs: wheel", "needs: weel"),
        ("environment ${{ matrix.torch }}", "environment ${{ matrix.torhc }}"),
        ("actions/checkout@v4", "actions/checkout"),
        ("wheel-${{ matrix.python }}-", "wheel-${{ steps.made.outputs.name }}-"),
        ("run: bash ci/steps.sh bare", "run: bash ci/steps.sh ${{ github.head_ref }}"),
    ],
)
def test_inconsistent_ones_are_found(tree, old, new):
    text = (workflows.folder_of(tree) / "wheels.yml").read_text()
    assert old in text
    assert faults(workflows.yaml.safe_load(text.replace(old, new)), "wheels") != []


def test_steps_are_those_of_the_scripts(tree):
    script = (tree / "ci/steps.sh").read_text()
    verbs = set(re.findall(r"^step_(\w+)\(\)", script, re.M))
    used = set()
    for name in NAMES:
        for job in workflows.workflow(name, tree)["jobs"].values():
            for step in workflows.run_steps(job):
                words = step["run"].split()
                assert (tree / words[1]).is_file() and words[0] in ("bash", "python3"), step["run"]
                used.update(words[2:3] if words[1] == "ci/steps.sh" else ())
            for step in job["steps"]:
                workflows.not_here(step)  # each action is one of which the script says why it isn't run here
    assert used == verbs
    check = ["shellcheck", str(tree / "ci/steps.sh")]
    done = subprocess.run(check, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    done = subprocess.run(["bash", "ci/steps.sh"], cwd=tree, text=True, capture_output=True, check=False)
    assert done.returncode == 2 and all(verb in done.stderr for verb in verbs)


def test_the_matrix_has_the_releases_of_the_spec(openreg_gen, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        'backend: {name: mybackend}\nprofile: minimal\ncomponents: {ci: true}\ntorch: {min: "2.13", max: "2.14"}\n'
    )
    openreg_gen("new", "mybackend", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    for name, job in (("pull_request", "test"), ("wheels", "wheel"), ("wheels", "bare")):
        matrix = workflows.workflow(name, tmp_path / "tree")["jobs"][job]["strategy"]["matrix"]
        assert matrix["torch"] == ["2.13", "2.14"]


def test_the_relay_is_told_twice_and_each_leg_by_its_name(tree):
    whole = workflows.workflow("relay", tree)
    assert whole[True] == {"repository_dispatch": {"types": ["pull_request", "push"]}}  # YAML reads `on` as true
    assert whole["permissions"]["id-token"] == "write"
    (job,) = whole["jobs"].values()
    first, last = (step["with"] for step in job["steps"] if step.get("uses") == WITHOUT_VERSION)
    assert (first["status"], last["status"]) == ("in_progress", "completed")
    assert job["steps"][0]["uses"] == job["steps"][-1]["uses"] == WITHOUT_VERSION
    assert all(f"matrix.{key}" in each["job-name"] for key in job["strategy"]["matrix"] for each in (first, last))


JUNIT = """<testsuites><testsuite tests="4">
<testcase classname="tests.test_a" name="test_one"/><testcase classname="tests.test_a" name="test_two"><skipped/></testcase>
<testcase classname="tests.test_a" name="test_three"><failure>assert 1 == 2</failure></testcase>
<testcase classname="tests.test_a" name="test_four"><error>gone</error></testcase></testsuite></testsuites>"""
GH = """#!/bin/sh
echo "$@" >>"$GH_SAID"
case $2 in list) echo "$GH_ISSUES" ;; *) cat >>"$GH_SAID" ;; esac
"""


@pytest.fixture
def report(tree, tmp_path):
    """report.py of the tree, after a night in which drift and tests failed."""
    logs = tree / "build/ci"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "environment.log").write_text("PyTorch 2.17.0.dev20261126\n")
    (logs / "drift.log").write_text(
        "mybackend.yaml: from PyTorch 2.15.0\n  BREAK line 5: 'cholesky' (native): removed\n"
    )
    (logs / "pytest.xml").write_text(JUNIT)
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    outcomes = dict(environment="success", drift="failure", build="success", test="failure")
    said = tmp_path / "said"

    def run(*words, issues="[]"):
        env = os.environ | {
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "STEPS": json.dumps({name: {"outcome": each} for name, each in outcomes.items()}),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GH_SAID": str(said),
            "GH_ISSUES": issues,
        }
        command = [sys.executable, tree / "ci/report.py", *words]
        done = subprocess.run(command, env=env, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, said.read_text() if said.exists() else "", tmp_path / "output"

    return run


def test_counts(report):
    printed, _, output = report("counts")
    assert json.loads(printed) == {"passed": 1, "failed": 2, "skipped": 1}
    assert output.read_text() == f"counts={printed}"


def test_an_issue_is_opened_and_then_rewritten(report):
    _, said, _ = report("issue")
    assert "issue create --title torch_mybackend breaks with PyTorch's nightly build --body-file -" in said
    assert "PyTorch 2.17.0.dev20261126: drift, test failed. Tests: 1 passed, 2 failed, 1 skipped." in said
    assert "BREAK line 5: 'cholesky' (native): removed" in said
    assert "tests.test_a::test_three" in said and "tests.test_a::test_four" in said and "test_one" not in said
    other = {"number": 6, "title": "another"}
    same = {"number": 7, "title": "torch_mybackend breaks with PyTorch's nightly build"}
    _, said, _ = report("issue", issues=json.dumps([other, same]))
    assert "issue edit 7 --body-file -" in said


STEPS = """
on: push
jobs:
  one:
    runs-on: here
    steps:
      - {id: a, run: "echo a; false"}
      - {run: "echo b"}
      - {run: "echo c; echo word=said >>$GITHUB_OUTPUT", id: c, if: "${{ !cancelled() && steps.a.outcome == 'failure' }}"}
      - {run: "echo d", if: "${{ !cancelled() && steps.a.outcome == 'success' }}"}
      - {run: 'echo "$WORD" "$STEPS"', if: failure(), env: {WORD: "${{ steps.c.outputs.word }}", STEPS: "${{ toJSON(steps) }}"}}
      - {uses: actions/cache@v4}
  two:
    needs: one
    runs-on: here
    steps: [{run: echo e}]
"""


def test_the_script_runs_steps_as_github_does(tmp_path):
    workflows.folder_of(tmp_path).mkdir(parents=True)
    (workflows.folder_of(tmp_path) / "it.yml").write_text(STEPS)
    command = [sys.executable, ROOT / "scripts/workflows.py", "run", "it", "--tree", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    printed = [line for line in done.stdout.splitlines() if not line.startswith("==>")]
    assert printed == [
        "a",
        "c",
        'said {"a": {"outcome": "failure"}, "c": {"outcome": "success"}}',
        "--> one : actions/cache@v4: left out, the compiler cache is here",
        "--> two: left out, a job that it needs failed",
    ]
    assert done.stderr == "failed: one\n"
