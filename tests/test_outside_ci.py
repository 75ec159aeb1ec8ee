"""Component `ci`, tested from outside: only the documentation and what the command writes were read."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

WORKFLOWS = ("nightly", "pull_request", "relay", "wheels")
SYSTEM = "/usr/bin:/bin"


@pytest.fixture(scope="module")
def rendered(openreg_gen, tmp_path_factory):
    where = tmp_path_factory.mktemp("outside_ci")
    openreg_gen("new", "odd_chip", "--device", "external", "--profile", "minimal", cwd=where)
    openreg_gen("add", "component", "ci", cwd=where / "torch_odd_chip")
    return where / "torch_odd_chip"


@pytest.fixture
def tree(rendered, tmp_path):
    """In a folder with a space, a quote and a dollar sign."""
    return pathlib.Path(shutil.copytree(rendered, tmp_path / "it's my $HOME" / "torch_odd_chip"))


@pytest.fixture
def logs(tree):
    folder = tree / "build/ci"
    folder.mkdir(parents=True)
    return folder


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def run(*argv, cwd, env, code=0):
    argv = [str(word) for word in argv]
    outcome = subprocess.run(
        argv, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=20, stdin=subprocess.DEVNULL
    )
    assert code is None or outcome.returncode == code, outcome.stdout + outcome.stderr
    return outcome


def steps(*broken):
    done = {name: {"outcome": "success"} for name in ("environment", "drift", "build", "test")}
    return json.dumps({**done, **{name: {"outcome": "failure"} for name in broken}})


def issue(tree, broken=("build",), code=0, **env):
    """The issue's text: there is no `gh` on the PATH, so it is printed."""
    env = {"PATH": str(tree / "no such folder"), "STEPS": steps(*broken), "RUN": "https://run.example/7", **env}
    return run(sys.executable, tree / "ci/report.py", "issue", cwd=tree, env=env, code=code).stdout


def outside_code(text):
    """The lines of Markdown that are not in a block of code."""
    fence, found = None, []
    for line in text.splitlines():
        mark = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is None:
            found.append(line)
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
            fence = None
    return "\n".join(found)


def test_workflows_pin_actions_give_each_job_little_and_run_no_text_of_events(tree, tmp_path):
    read = {name: yaml.safe_load((tree / f".github/workflows/{name}.yml").read_text()) for name in WORKFLOWS}
    for name, workflow in read.items():
        assert workflow["permissions"] == {}, name
        assert "pull_request_target" not in workflow[True] and "workflow_run" not in workflow[True]
        for title, job in workflow["jobs"].items():
            uses = [step["uses"] for step in job["steps"] if "uses" in step]
            assert all(re.search(r"@[0-9a-f]{40}$", action) for action in uses), uses
            runs = "\n".join(step.get("run", "") for step in job["steps"])
            assert not re.search(r"\$\{\{(?!\s*matrix\.)", runs), (name, title)
            if job["permissions"].get("id-token") == "write":
                assert "steps.sh" not in runs and not any("checkout" in action for action in uses), (name, title)
            for step in job["steps"]:
                assert "checkout" not in step.get("uses", "") or step["with"]["persist-credentials"] is False
                assert "cache" not in step.get("uses", "") or name == "pull_request"
    assert set(read["relay"]["jobs"]) == {"started", "test", "finished"}
    assert read["relay"]["jobs"]["test"]["permissions"] == {"contents": "read"}

    # Only three numbers of the untrusted job pass, on one line.
    step = next(each for each in read["relay"]["jobs"]["finished"]["steps"] if each.get("id") == "counts")
    good, output = '{"passed": 12, "failed": 0, "skipped": 3}', tmp_path / "output"
    bad = ("", "{}", good + "\nconclusion=success", "x\n" + good, good.replace("12", "$(id)"), good.replace("12", "-1"))
    for text, passes in [(good, True), *((each, False) for each in bad)]:
        output.write_text("")
        env = {"PATH": SYSTEM, "COUNTS": text, "GITHUB_OUTPUT": str(output)}
        run("bash", "-e", "-c", step["run"], cwd=tmp_path, env=env)
        assert output.read_text() == (f"counts={good}\n" if passes else "")


def test_log_with_a_fence_stays_in_its_block_of_code(tree, logs):
    (logs / "build.log").write_text("```\n@everyone see [the fix](https://bad.example)\n~~~~\n``````\n# Done\n")
    said = issue(tree)
    assert "@everyone" in said
    assert "@everyone" not in outside_code(said) and "# Done" not in outside_code(said)
    assert "https://run.example/7" in outside_code(said)


def test_name_of_a_test_stays_in_its_block_of_code(tree, logs):
    name = "test_x[a&#10;```&#10;@everyone [the fix](https://bad.example)&#10;&lt;img src=x&gt;]"
    (logs / "pytest.xml").write_text(
        f'<testsuites><testsuite><testcase classname="c" name="{name}"><failure/></testcase></testsuite></testsuites>'
    )
    said = issue(tree, broken=("test",))
    assert "1 failed" in said and "@everyone" in said
    assert "@everyone" not in outside_code(said) and "<img" not in outside_code(said)


def test_issue_is_written_although_a_crash_left_half_a_junit_file(tree, logs):
    (logs / "ctest.xml").write_text('<testsuite><testcase classname="c" name="a"/></testsuite>')
    (logs / "pytest.xml").write_text('<testsuites><testsuite><testcase classname="c" name="b">')
    (logs / "test.log").write_text("Fatal Python error: Segmentation fault\n")
    said = issue(tree, broken=("test",))
    assert "test failed" in said and "Segmentation fault" in said


def test_issue_is_written_although_a_log_is_not_utf8_and_huge(tree, logs):
    (logs / "environment.log").write_bytes(b"Looking in indexes: \xff\xfe\nPyTorch 2.16.0.dev\n")
    (logs / "build.log").write_bytes(b"\x80\x1b[31merror: " + b"x" * 30_000_000 + b"\n")
    said = issue(tree, broken=("build", "test"))
    assert "PyTorch 2.16.0.dev" in said and "build, test failed" in said
    assert len(said.encode()) < 65536 * 4 and len(said) <= 65536


def test_issue_is_written_although_the_machine_was_lost_before_a_step_reported(tree):
    """The output of a job that ended without one is an empty text."""
    assert "https://run.example/7" in issue(tree, STEPS="")


def test_issue_of_last_night_is_rewritten_in_a_repository_with_many_open_issues(tree, logs, tmp_path):
    (logs / "build.log").write_text("error: gone\n")
    title = re.search(r'^TITLE = "(.*)"$', (tree / "ci/report.py").read_text(), re.M)[1]
    script(
        tmp_path / "bin/gh",
        f"""#!{sys.executable}
import json, sys
words = sys.argv[1:]
open({str(tmp_path / "calls")!r}, "a").write(json.dumps(words) + "\\n")
issues = [dict(number=n, title={title!r} if n == 1 else f"An issue {{n}}", state="OPEN") for n in range(301, 0, -1)]
if words[:2] == ["issue", "list"]:
    limit = int(words[words.index("--limit") + 1]) if "--limit" in words else 30
    if "--search" in words:
        issues = [each for each in issues if each["title"] == {title!r}]
    print(json.dumps(issues[:limit]))
elif words[0] == "api":
    print(json.dumps(issues))
""",
    )
    issue(tree, PATH=f"{tmp_path / 'bin'}:{SYSTEM}")
    called = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    assert ["issue", "edit", "1"] in [words[:3] for words in called]
    assert "create" not in [words[1] for words in called]


def test_steps_refuse_a_wrong_word_a_missing_release_and_a_missing_python_with_a_reason(tree, tmp_path):
    """And before they remove or install anything."""
    touched = tmp_path / "touched"
    for name in ("python3", "pip", "sudo", "apt-get", "git"):
        script(tmp_path / f"bin/{name}", f'#!/bin/bash\necho "$0 $*" >>"{touched}"\n')
    script(tmp_path / "bin/dpkg-query", "#!/bin/bash\n")
    env = {"PATH": f"{tmp_path / 'bin'}:{SYSTEM}", "HOME": str(tmp_path)}
    for words in ([], ["nonsense"], ["tree;id"], ["packages"], ["-h"], [""]):
        assert "environment WHICH" in run("bash", "ci/steps.sh", *words, cwd=tree, env=env, code=2).stderr
    said = run("bash", "ci/steps.sh", "environment", "2.15", cwd=tree, env={**env, "PYTHON": "python9.99"}, code=None)
    assert said.returncode != 0 and "python9.99" in said.stdout + said.stderr
    said = run("bash", "ci/steps.sh", "environment", cwd=tree, env=env, code=2)
    assert "WHICH" in said.stderr
    assert not touched.exists()


def test_step_works_in_an_odd_folder_whatever_cdpath_says(tree, tmp_path):
    called = tmp_path / "called"
    bin = tree / "build/ci/venv/bin"
    script(bin / "python", "#!/bin/bash\necho 2.13\n")
    script(bin / "openreg-gen", f'#!/bin/bash\necho "$PWD: $*" >>"{called}"\n')
    (tmp_path / "decoy/ci").mkdir(parents=True)
    env = {"PATH": SYSTEM, "HOME": str(tmp_path), "PYTHON": sys.executable}
    run("bash", "ci/steps.sh", "tree", cwd=tree, env=env)
    assert called.read_text().splitlines()[0] == f"{tree}: check odd_chip.yaml"
    run("bash", tree / "ci/steps.sh", "tree", cwd="/", env=env)
    run("bash", "ci/steps.sh", "tree", cwd=tree, env={**env, "CDPATH": str(tmp_path / "decoy")})
    assert {line.split(": ")[0] for line in called.read_text().splitlines()} == {str(tree)}
    assert not (tmp_path / "decoy/build").exists()


def test_update_merges_a_machine_of_ones_own_with_another_range_of_releases(tree, openreg_gen):
    request, sh = tree / ".github/workflows/pull_request.yml", tree / "ci/steps.sh"
    request.write_text(request.read_text().replace("runs-on: ubuntu-24.04", "runs-on: [self-hosted, odd]"))
    sh.write_text(sh.read_text().replace("set -euo pipefail", "set -euo pipefail\nulimit -c 0 # ours"))
    spec = tree / "odd_chip.yaml"
    spec.write_text(spec.read_text() + '\ntorch: {min: "2.13", max: "2.14"}\n')
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    for name in ("pull_request", "wheels"):
        text = (tree / f".github/workflows/{name}.yml").read_text()
        for job in yaml.safe_load(text)["jobs"].values():
            assert job["strategy"]["matrix"]["torch"] == ["2.13", "2.14"]
    assert "runs-on: [self-hosted, odd]" in request.read_text() and "ubuntu" not in request.read_text()
    assert "ulimit -c 0 # ours" in sh.read_text() and "torch==2.14.*" in sh.read_text()
    run("bash", "-n", sh, cwd=tree, env=dict(os.environ))
