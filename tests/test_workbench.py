"""Verbs that hand their words to a tool in Python: which Python, which package, what comes back."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from trees import COMMAND, ROOT

WORKBENCH = ROOT / "generator/workbench"


@pytest.fixture
def other_python(tmp_path):
    """A program in Python's place that says how it was called."""
    prefix = tmp_path / "prefix"
    packages = prefix / "lib/python3.11/site-packages/torch"
    packages.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (prefix / "bin").mkdir()
    python = prefix / "bin/python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$PYTHONPATH" "$OPENREG_GEN_COMMAND" "$@"\nexit 4\n')
    python.chmod(0o755)
    return python


def test_a_tool_gets_all_words_as_they_are(openreg_gen, other_python):
    words = ["--device", "mine", "a b", "--", "-x", "--help"]
    env = {"OPENREG_GEN_PYTHON": str(other_python), "PYTHONPATH": "/elsewhere"}
    outcome = openreg_gen("sweep", *words, code=4, env=env.items())
    assert outcome.stdout.splitlines() == [f"{WORKBENCH}:/elsewhere", "openreg-gen", "-m", "openreg_gen.sweep", *words]


@pytest.mark.parametrize(
    ("words", "builds"),
    [
        (["abs", "--device", "mybackend"], True),
        (["abs", "--device=mybackend:1"], True),
        (["abs"], True),
        (["abs", "--device", "mybackend", "--no-build"], False),
        (["abs", "--device", "another"], False),
    ],
)
def test_try_builds_what_changed_in_its_own_tree(openreg_gen, tree, other_python, tmp_path, words, builds):
    built_by(other_python, tree, tmp_path)
    env = {"OPENREG_GEN_PYTHON": str(other_python)}
    said = openreg_gen("try", *words, cwd=tree, code=4, env=env.items()).stdout.splitlines()
    assert ("cmake --build build" in said) == builds
    assert said[-len(words) - 2 :] == ["-m", "openreg_gen.try", *words]


def test_try_builds_nothing_for_a_name_that_python_does_not_know(openreg_gen, tree, other_python, tmp_path):
    built_by(other_python, tree, tmp_path)
    other_python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 2\n')
    said = openreg_gen("try", "nosuch", cwd=tree, code=2).stdout.splitlines()
    assert said == ["-m", "openreg_gen.trial.names", "nosuch"]


def built_by(python, tree, tmp_path):
    """As if `python` had built the tree: with a program in CMake's place that says how it was called."""
    cmake = tmp_path / "cmake"
    cmake.write_text('#!/bin/sh\necho "cmake $@"\n')
    cmake.chmod(0o755)
    (tree / "build").mkdir()
    cache = f"Python_EXECUTABLE:FILEPATH={python}\nCMAKE_COMMAND:INTERNAL={cmake}\n"
    (tree / "build/CMakeCache.txt").write_text(cache)


@pytest.fixture
def installed(openreg_gen, environment, tmp_path):
    """Runs a command that is installed in an environment with PyTorch, where up to two others are active; says whose Python ran."""

    def prefix(name):
        (tmp_path / name / "lib/python3.11/site-packages/torch").mkdir(parents=True)
        (tmp_path / name / "pyvenv.cfg").write_text("home = /usr/bin\n")
        (tmp_path / name / "bin").mkdir()
        for python in ("python", "python3"):
            (tmp_path / name / "bin" / python).write_text(f"#!/bin/sh\necho {name}\n")
            (tmp_path / name / "bin" / python).chmod(0o755)
        return tmp_path / name

    command = prefix("own") / "bin/openreg-gen"
    shutil.copy(COMMAND, command)
    base = {**environment[0], "OPENREG_GEN_DATA": str(ROOT), "HOME": str(tmp_path), "CONDA_PREFIX": ""}
    base.pop("OPENREG_GEN_PYTHON")
    virtual, on_path = prefix("virtual"), prefix("on_path")

    def run(variable, path, *words, code=0):
        env = {
            **base,
            "VIRTUAL_ENV": str(virtual) if variable else "",
            "PATH": str(on_path / "bin") if path else "/nowhere",
        }
        outcome = subprocess.run([command, *words], check=False, env=env, cwd=tmp_path, text=True, capture_output=True)
        assert outcome.returncode == code, outcome.stderr
        return (outcome.stdout + outcome.stderr).strip()

    return run


@pytest.mark.parametrize(
    ("variable", "path", "ran"),
    [(True, True, "virtual"), (True, False, "virtual"), (False, True, "on_path"), (False, False, "own")],
)
def test_the_active_environments_python_runs_tools(installed, variable, path, ran):
    assert installed(variable, path, "sweep", "--device", "mine") == ran


def test_pytorch_is_looked_for_in_the_same_order(installed):
    said = installed(True, True, "explain", "relu", code=3)
    places = re.findall(r"^ +(\S+).*(?:no PyTorch|not set|not on PATH)", said[said.index("looked at") :], re.M)
    assert [pathlib.Path(place.strip(":")).name for place in places] == [
        "$VIRTUAL_ENV",
        "$CONDA_PREFIX",
        "python3",
        "python",
        "own",
    ]


def test_without_pytorch_the_environment_is_named(openreg_gen, tmp_path):
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\n")
    said = openreg_gen("sweep", "--device", "mine", code=3, env={"OPENREG_GEN_PYTHON": str(python)}.items()).stderr
    assert "E0559" in said and "OPENREG_GEN_PYTHON" in said and "--import" in said


@pytest.mark.parametrize("name", ["forms.py", "opinfos.py"])
def test_a_trees_copy_is_the_workbenchs_file_below_its_header(tree, name):
    copy = (tree / "torch_mybackend/testing" / name).read_text().splitlines(keepends=True)
    assert "".join(copy[1:]) == (WORKBENCH / "openreg_gen/testing" / name).read_text()
    assert copy[0].startswith("# Generated by ")


@pytest.fixture
def other_data(tmp_path):
    """The files that an installation has in share/openreg-gen, in the test's own folder."""
    for name in ("templates", "specs", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(WORKBENCH, tmp_path / "workbench", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "generator/render/renderer.py", tmp_path)
    return {"OPENREG_GEN_DATA": str(tmp_path)}.items()


def test_a_change_of_what_trees_share_is_rendered(openreg_gen, tree, other_data, tmp_path):
    assert "up to date" in openreg_gen("generate", "--check", cwd=tree, env=other_data).stdout
    with (tmp_path / "workbench/openreg_gen/testing/forms.py").open("a") as file:
        file.write("\n# another line\n")
    openreg_gen("generate", "--check", cwd=tree, env=other_data, code=1)
    openreg_gen("generate", cwd=tree, env=other_data)
    assert (tree / "torch_mybackend/testing/forms.py").read_text().endswith("# another line\n")
