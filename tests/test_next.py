"""What verbs end with, and `openreg-gen test`: the commands that are typed next, and that they do what they say."""

import json
import os
import re
import subprocess
import sys

import pytest
from trees import files

CACHE = "CMAKE_COMMAND:INTERNAL={0}/cmake\nPython_EXECUTABLE:FILEPATH={0}/python\n"


def following(text):
    """The lines below "Next:"."""
    return [line.strip() for line in text.partition("\nNext:\n")[2].splitlines()]


@pytest.fixture
def program(tmp_path):
    """A program of the name that writes its folder and its arguments to `calls`, and ends with a code."""
    calls = tmp_path / "calls"

    def write(name, code=0):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "$(basename "$0") $PWD" "$@" >> {calls}\necho "out of {name}"\nexit {code}\n')
        path.chmod(0o755)
        return path

    write.calls = lambda: calls.read_text().splitlines() if calls.exists() else []
    return write


@pytest.fixture
def built(tree, tmp_path, program):
    """A tree that looks as if it was built, by a CMake and a Python that only note how they are called."""
    program("cmake"), program("python")
    (tree / "build").mkdir()
    (tree / "build/CMakeCache.txt").write_text(CACHE.format(tmp_path / "bin"))
    return tree


def test_new_ends_with_what_to_type(openreg_gen, tmp_path):
    out = openreg_gen("new", "mychip", "--device", "external", cwd=tmp_path).stdout
    assert following(out) == [
        "fill torch_mychip/third_party/mychip/src/port.cpp; torch_mychip/docs/porting.md explains how",
        "cmake -S torch_mychip/third_party/mychip -B torch_mychip/build-device && cmake --build torch_mychip/build-device",
        "MYCHIP_LIBRARY=torch_mychip/build-device/libmychip.so python -m pytest torch_mychip/tests/test_bringup_*.py",
        "python -m pip install --no-build-isolation -v -e 'torch_mychip[test]'",
        "openreg-gen test -C torch_mychip",
        "git init -q torch_mychip && git -C torch_mychip add -A && git -C torch_mychip commit -q -m 'openreg-gen new mychip'",
    ]
    for name in ("third_party/mychip/src/port.cpp", "docs/porting.md"):
        assert (tmp_path / "torch_mychip" / name).is_file()
    assert not following(openreg_gen("new", "other", "--dry-run", cwd=tmp_path).stdout)


def test_a_new_operator_is_edited_built_and_tested(openreg_gen, built):
    argv = ("add", "atan2.out", "neg.out", "--strategy", "structured", "-C", built.name)
    shown = openreg_gen(*argv, "--dry-run", cwd=built.parent).stdout
    assert not following(shown)
    report = json.loads(openreg_gen(*argv, "--json", cwd=built.parent).stdout)
    *edits, build, test = report["next"]
    assert (build, test) == (
        "cmake --build torch_mybackend/build",
        "openreg-gen test atan2.out neg.out -C torch_mybackend",
    )
    assert all((built.parent / edit.removeprefix("edit ")).is_file() for edit in edits) and len(edits) == 2
    # Below the tree, paths are as seen from there, and -C is not needed.
    out = openreg_gen("remove", "neg.out", cwd=built / "csrc").stdout
    assert following(out) == ["cmake --build ../build", "openreg-gen test"]
    assert following(openreg_gen("undo", cwd=built).stdout) == ["cmake --build build", "openreg-gen test"]
    assert not following(openreg_gen("generate", cwd=built).stdout)


def test_a_component_more_or_less(openreg_gen, tree):
    out = openreg_gen("remove", "component", "compile", cwd=tree).stdout
    assert following(out) == ["python -m pip install --no-build-isolation -v -e '.[test]'", "openreg-gen test"]
    out = openreg_gen("add", "component", "compile", cwd=tree).stdout
    assert following(out) == ["python -m pip install --no-build-isolation -v -e '.[test]'", "openreg-gen test"]


def test_own_and_disown(openreg_gen, tree):
    argv = ("-C", tree.name, "setup.py")
    assert following(openreg_gen("own", *argv, cwd=tree.parent).stdout) == ["edit torch_mybackend/setup.py"]
    assert not following(openreg_gen("own", *argv, cwd=tree.parent).stdout)
    (line,) = following(openreg_gen("disown", *argv, cwd=tree.parent, code=1).stdout)
    assert line == "openreg-gen disown --yes setup.py -C torch_mybackend"
    openreg_gen(*line.split()[1:], cwd=tree.parent)


def test_a_conflict_is_named(openreg_gen, tree):
    readme, spec = tree / "README.md", tree / "mybackend.yaml"
    readme.write_text(readme.read_text().replace("# torch_mybackend\n", "# mine\n"))
    spec.write_text(spec.read_text().replace("  name: mybackend ", "  package: torch_other\n  name: mybackend "))
    out = openreg_gen("generate", cwd=tree, code=1).stdout
    edit, command = following(out)
    assert re.fullmatch(r"resolve the conflict in README\.md:\d+", edit) and command == "openreg-gen generate"


def test_test_builds_and_then_runs_pytest(openreg_gen, built, program):
    outcome = openreg_gen("test", "-C", built.name, "--", "-x", "--maxfail", "3", cwd=built.parent)
    assert outcome.stdout == "out of cmake\nout of python\n"
    assert program.calls() == [f"cmake {built} --build build", f"python {built} -m pytest -x --maxfail 3"]
    openreg_gen("-C", built.name, "test", "--", "tests/test_streams.py", "--", cwd=built.parent)
    assert program.calls()[-1] == f"python {built} -m pytest tests/test_streams.py --"


def test_tests_load_this_trees_backend_if_several_are_installed(openreg_gen, built, tmp_path):
    python = tmp_path / "bin/python"
    python.write_text('#!/bin/sh\necho "backend $TORCH_DEVICE_BACKEND"\n')
    outcome = openreg_gen("test", cwd=built, env={"TORCH_DEVICE_BACKEND": "other"})
    assert outcome.stdout.splitlines()[-1] == "backend mybackend"


@pytest.mark.parametrize("pytests, ours", [(1, 1), (2, 1), (3, 3), (4, 2), (5, 1)])
def test_the_exit_code_is_one_of_the_commands(openreg_gen, built, program, pytests, ours):
    program("python", pytests)
    openreg_gen("test", cwd=built, code=ours)


def test_a_build_that_fails_runs_no_test(openreg_gen, built, program):
    program("cmake", 2)
    assert "E0558" in openreg_gen("test", cwd=built, code=1).stderr
    assert len(program.calls()) == 1


def test_a_tree_that_was_never_built_is_not_installed(openreg_gen, tree, environment, program):
    program("cmake"), program("python"), program("pip")
    path = {"PATH": f"{tree.parent}/bin:{os.environ['PATH']}"}
    error = openreg_gen("test", "-C", tree.name, cwd=tree.parent, env=path, code=3).stderr
    assert "E0558" in error and "python -m pip install --no-build-isolation -v -e 'torch_mybackend[test]'" in error
    assert not program.calls() and not (tree / "build").exists()


@pytest.mark.parametrize(
    ("word", "chosen", "not_chosen"),
    [
        (
            "abs.out",
            ["test_operator[abs.out-forward]", "test_registered[abs.out]"],
            ["test_operator[_foreach_abs.out-out]"],
        ),
        ("abs", ["test_operator[abs.out-forward]"], ["test_matches_the_cpu[custom_abs.default-1-True]"]),
        ("relu", ["test_operator[relu-forward]", "test_x[first-relu-2]"], ["test_operator[prelu-out]", "test_relu"]),
        ("maximum", ["test_operator[maximum.out-forward]"], ["test_operator[minimum.out-forward]"]),
        ("custom_abs", ["test_matches_the_cpu[custom_abs.default-1-True]"], ["test_meta[custom_abs_backward.default]"]),
    ],
)
def test_the_tests_of_an_operator(openreg_gen, environment, built, program, tmp_path, word, chosen, not_chosen):
    openreg_gen("test", word, "--torch", environment[1], "--", "-x", cwd=built)
    expression = program.calls()[-1].partition(" -k ")[2].removesuffix(" -x")
    lines = ["import pytest"]
    for index, name in enumerate([*chosen, *not_chosen]):
        function, _, parameter = name.removesuffix("]").partition("[")
        lines += [f"@pytest.mark.parametrize('x', [0], ids=[{parameter!r}])", f"def {function}_{index}(x): pass"]
    (tmp_path / "test_names.py").write_text("\n".join(lines) + "\n")
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        expression,
        "test_names.py",
    ]
    out = subprocess.run(argv, cwd=tmp_path, text=True, capture_output=True, check=True, timeout=120).stdout
    assert {int(index) for index in re.findall(r"_(\d+)\[", out)} == set(range(len(chosen)))


def test_an_operator_that_the_spec_does_not_have(openreg_gen, environment, built, program):
    before = files(built)
    error = openreg_gen("test", "maximun", "--torch", environment[1], cwd=built, code=2).stderr
    assert "E0553" in error and "did you mean 'maximum'?" in error
    assert not program.calls() and files(built) == before
