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
CALLBACK = "pytorch/test-infra/.github/actions/cross-repo-ci-relay-callback@"
# Jobs that build or run code of strangers: of a pull request, or of PyTorch at any commit.
FOREIGN = {("pull_request", "test"), ("relay", "test"), ("nightly", "nightly")}


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
        every = {step["id"] for step in about["steps"] if "id" in step}
        before = set()
        for step in [*about["steps"], {key: each for key, each in about.items() if key != "steps"}]:
            ids = before if "uses" in step or "run" in step else every  # the job's own lines see all steps
            texts = [*strings(step), *(["${{ " + str(step["if"]) + " }}"] if "if" in step else [])]
            for expression in re.findall(r"\$\{\{(.*?)\}\}", " ".join(texts)):
                for path in re.findall(r"\b[a-z_]+(?:\.[\w-]+)+", re.sub(r"'[^']*'", "", expression)):
                    first, *rest = path.split(".")
                    known = {"matrix": matrix, "steps": ids, "github": None, "vars": None, "needs": whole["jobs"]}
                    if first not in known or (known[first] is not None and rest[0] not in known[first]):
                        found.append(f"{job}: {path}")
                for function in re.findall(r"\b(\w+)\(", expression):
                    if function not in FUNCTIONS:
                        found.append(f"{job}: {function}()")
            if "uses" in step and not re.search(r"@[0-9a-f]{40}$", step["uses"]):
                found.append(f"{job}: {step['uses']} is not pinned by its commit")
            if "id" in step:
                before.add(step["id"])
            for expression in re.findall(r"\$\{\{\s*(.*?)\s*\}\}", step.get("run", "")):
                if not expression.startswith("matrix."):
                    found.append(f"{job}: {expression} in a shell")
        # A job of a workflow says what its token may do, and one that runs code of strangers may do nothing that costs.
        allowed = about.get("permissions")
        actions = [step["uses"] for step in about["steps"] if "uses" in step]
        texts = "".join(strings(about))
        if allowed is None:
            found.append(f"{job}: no permissions")
        elif (name, job) in FOREIGN:
            if allowed != {"contents": "read"}:
                found.append(f"{job}: runs code of strangers with {allowed}")
            if "secrets." in texts or "github.token" in texts:
                found.append(f"{job}: runs code of strangers with a secret")
            if name == "relay" and any(each.startswith("actions/cache") for each in actions):
                found.append(f"{job}: code of strangers writes to the cache of the default branch")
        elif "write" in allowed.values():
            if any(each.startswith("actions/cache") for each in actions):
                found.append(f"{job}: restores a cache, and its token may write")
            if allowed.get("id-token") == "write" and any(each.startswith("actions/checkout") for each in actions):
                found.append(f"{job}: has an identity, and files of the repository")
        for step in about["steps"]:
            if (
                step.get("uses", "").startswith("actions/checkout")
                and step.get("with", {}).get("persist-credentials") is not False
            ):
                found.append(f"{job}: the checkout leaves its token in the folder")
    if whole.get("permissions") != {}:
        found.append(f"{name}: permissions that no job names")
    return found


COMMITS = {  # as public repositories pin them, beside the versions in the comments
    "actions/cache": ("0057852bfaa89a56745cba8c7296529d2fc39830", "v4.3.0"),
    "actions/checkout": ("11bd71901bbe5b1630ceea73d27597364c9af683", "v4.2.2"),
    "actions/deploy-pages": ("d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e", "v4.0.5"),
    "actions/download-artifact": ("d3f86a106a0bac45b974a628896c90dbdf5c8093", "v4.3.0"),
    "actions/setup-python": ("a26af69be951a213d495a4c3e4e4022e16d87065", "v5.6.0"),
    "actions/upload-artifact": ("ea165f8d65b6e75b540449e92b4886f43607fa02", "v4.6.2"),
    "actions/upload-pages-artifact": ("56afc609e74202658d3ffba0e8f6dda462b719fa", "v3.0.1"),
    "pypa/gh-action-pypi-publish": ("76f52bc884231f62b9a034ebfe128415bbaabdfc", "v1.12.4"),
    CALLBACK[:-1]: ("01c7f16a525f123a49924a1afcc1a216f3314755", "main"),
}
UNPINNED = {"docker://rhysd/actionlint:1.7.7"}


def test_actions_are_pinned_by_commit(tree):
    """One commit per action, in trees and in this repository."""
    files = [*workflows.folder_of(tree).glob("*.yml"), *workflows.FOLDER.glob("*.yml")]
    uses = {line.split("uses: ")[1] for file in files for line in file.read_text().splitlines() if "uses: " in line}
    pinned = {f"{action}@{commit} # {version}" for action, (commit, version) in COMMITS.items()}
    assert uses == pinned | UNPINNED


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
        ("actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", "actions/checkout@v4"),
        ("wheel-${{ matrix.python }}-", "wheel-${{ steps.made.outputs.name }}-"),
        ("run: bash ci/steps.sh bare", "run: bash ci/steps.sh ${{ github.head_ref }}"),
    ],
)
def test_inconsistent_ones_are_found(tree, old, new):
    text = (workflows.folder_of(tree) / "wheels.yml").read_text()
    assert old in text
    assert faults(workflows.yaml.safe_load(text.replace(old, new)), "wheels") != []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("relay", "    permissions:\n      contents: read\n", ""),
        ("relay", "      contents: read\n", "      contents: read\n      id-token: write\n"),
        ("relay", "permissions: {}", "permissions:\n  id-token: write"),
        ("relay", "actions/setup-python@", "actions/cache@"),
        ("relay", "persist-credentials: false", "fetch-depth: 1"),
        ("relay", "vars.OPENREG_GEN_PACKAGE", "secrets.TOKEN"),
        ("pull_request", "      contents: read\n", "      contents: write\n"),
        ("nightly", "github.event_name == 'schedule'", "job.status"),
        ("nightly", "actions/download-artifact@", "actions/cache@"),
        (
            "nightly",
            "run: bash ci/steps.sh drift",
            "env: {T: '${{ github.token }}'}\n        run: bash ci/steps.sh drift",
        ),
    ],
)
def test_unsafe_ones_are_found(tree, name, old, new):
    text = (workflows.folder_of(tree) / f"{name}.yml").read_text()
    assert old in text
    assert faults(workflows.yaml.safe_load(text.replace(old, new)), name) != []


@pytest.mark.parametrize(
    ("counts", "passed_on"),
    [
        ('{"passed": 12, "failed": 0, "skipped": 3}', True),
        ('{"passed": 12, "failed": 0, "skipped": 3, "name": "x"}', False),
        ('{"passed": 12, "failed": 0, "skipped": 3}\nconclusion=success', False),
        ('conclusion=success\n{"passed": 12, "failed": 0, "skipped": 3}', False),
        ('{"passed": $(touch made), "failed": 0, "skipped": 3}', False),
        ('{"passed": -1, "failed": 0, "skipped": 3}', False),
        ("", False),
    ],
)
def test_the_relay_takes_three_numbers_from_strangers(tree, tmp_path, counts, passed_on):
    (step,) = workflows.run_steps(workflows.workflow("relay", tree)["jobs"]["finished"])
    env = os.environ | {"COUNTS": counts, "GITHUB_OUTPUT": str(tmp_path / "output")}
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    subprocess.run(command, env=env, cwd=tmp_path, check=True, timeout=60)
    output = tmp_path / "output"
    assert (output.read_text() if output.exists() else "") == (f"counts={counts}\n" if passed_on else "")
    assert not (tmp_path / "made").exists()


def test_steps_are_those_of_the_scripts(tree):
    script = (tree / "ci/steps.sh").read_text()
    verbs = set(re.findall(r"^step_(\w+)\(\)", script, re.M))
    used = set()
    for name in NAMES:
        for job in workflows.workflow(name, tree)["jobs"].values():
            for step in workflows.run_steps(job):
                if "COUNTS" in step.get("env", {}):
                    continue  # a job without files
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


def test_the_relay_is_told_twice_by_jobs_that_run_nothing(tree):
    whole = workflows.workflow("relay", tree)
    assert whole[True] == {"repository_dispatch": {"types": ["pull_request", "push"]}}  # YAML reads `on` as true
    jobs = whole["jobs"]
    assert list(jobs) == ["started", "test", "finished"]
    assert [jobs[name]["permissions"] for name in jobs] == [
        {"id-token": "write"},
        {"contents": "read"},
        {"id-token": "write"},
    ]
    assert jobs["test"]["needs"] == "started" and jobs["finished"]["needs"] == ["started", "test"]
    told = [step["with"] for name in jobs for step in jobs[name]["steps"] if step.get("uses", "").startswith(CALLBACK)]
    assert [each["status"] for each in told] == ["in_progress", "completed"]
    assert told[0]["job-name"] == told[1]["job-name"]  # by which the relay joins them


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
    outputs: {word: "${{ steps.c.outputs.word }}"}
  two:
    needs: one
    runs-on: here
    steps: [{run: echo e}]
  three:
    needs: one
    if: ${{ always() && needs.one.result == 'failure' }}
    runs-on: here
    steps: [{run: 'echo "$WORD"', env: {WORD: "${{ needs.one.outputs.word }} again"}}]
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
        "said again",
    ]
    assert done.stderr == "failed: one\n"
