"""openreg-gen new, as a process."""

import importlib.util
import json
import marshal
import os
import pathlib
import re
import subprocess
import sys

import pytest
from trees import COMMAND, MANIFEST, ROOT, files, state


def test_new_says_what_it_wrote_and_what_to_type_next(openreg_gen, tmp_path):
    out = openreg_gen("new", "mybackend", cwd=tmp_path).stdout
    assert re.search(r"^torch_mybackend: \d+ files: \d+ generated, \d+ shared, \d+ owned$", out, re.MULTILINE)
    assert "  python -m pip install --no-build-isolation -v -e 'torch_mybackend[test]'\n" in out
    assert "  openreg-gen test -C torch_mybackend\n" in out
    assert (tmp_path / "torch_mybackend/third_party/mybackend/include/mybackend.h").is_file()


def test_the_spec_in_the_tree_keeps_its_comments(pristine):
    text = (pristine / "mybackend.yaml").read_text()
    assert text.startswith("# The spec of the mybackend backend.")
    assert "name: mybackend " in text and "# what torch.device() parses" in text
    assert "openreg" not in text.replace("openreg-gen", "")


@pytest.mark.parametrize("command", [[], ["--profile", "minimal"], ["--device", "external"], ["--device", "opencl"]])
def test_a_new_spec_names_nothing_of_openreg(openreg_gen, tmp_path, command):
    openreg_gen("new", "acme", *command, cwd=tmp_path)
    tree = tmp_path / "torch_acme"
    text = (tree / "acme.yaml").read_text()
    assert not re.findall(r"(?i:openreg)(?!-gen)|\bor[A-Z]\w*", text)
    header = (tree / "third_party/acme/include/acme.h").read_text()
    assert all(name in header for name in re.findall(r"\bacme[A-Z]\w*", text))


def test_the_readme_says_once_what_the_backend_is(openreg_gen, tmp_path):
    for profile in ("minimal", "standard"):
        openreg_gen("new", "acme", "--profile", profile, "--out", profile, cwd=tmp_path)
        readme = (tmp_path / profile / "README.md").read_text()
        assert readme.count("A PyTorch backend for") == 1
        assert "The acme authors" in readme and "(acme.yaml)" in readme


def test_the_manifest_names_every_file_and_nothing_of_this_machine(pristine):
    listed = set(json.loads((pristine / MANIFEST).read_text())["files"])
    written = {name for name in files(pristine) if not name.startswith(".openreg-gen/")}
    assert listed == written
    for name, path in files(pristine).items():
        assert str(pristine.parent).encode() not in path.read_bytes(), name


def test_the_same_input_gives_the_same_bytes(openreg_gen, pristine, tmp_path):
    full = ("--profile", "full", "--out", tmp_path / "other")
    openreg_gen("new", "mybackend", *full, cwd=tmp_path, env={"LC_ALL": "C", "TZ": "Asia/Tokyo"})
    again = {name: path.read_bytes() for name, path in files(tmp_path / "other").items()}
    assert again == {name: path.read_bytes() for name, path in files(pristine).items()}


def test_every_emitted_file_says_whose_it_is(pristine):
    for name, file in json.loads((pristine / MANIFEST).read_text())["files"].items():
        if file["template"] and not name.endswith(".json"):
            head = "\n".join((pristine / name).read_text().splitlines()[:2])
            assert "openreg-gen" in head and file["class"].capitalize() in head, name


def test_new_in_json(openreg_gen, tmp_path):
    answer = json.loads(openreg_gen("new", "mybackend", "--out", "a b", "--json", cwd=tmp_path).stdout)
    assert answer["root"] == "a b"
    spec = next(file for file in answer["files"] if file["path"] == "mybackend.yaml")
    assert (spec["class"], spec["action"]) == ("owned", "create")
    assert {file["path"] for file in answer["files"]} == {
        name for name in files(tmp_path / "a b") if not name.startswith(".openreg-gen/")
    }
    assert answer["next"][1] == "openreg-gen test -C 'a b'"


def test_new_dry_run_writes_nothing(openreg_gen, tmp_path):
    out = openreg_gen("new", "mybackend", "--dry-run", cwd=tmp_path).stdout
    assert "create    csrc/CMakeLists.txt" in out
    assert "nothing written" in out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", ["external", "opencl"])
@pytest.mark.parametrize("profile", ["minimal", "standard", "full"])
def test_new_with_a_device_of_hardware(openreg_gen, tmp_path, device, profile):
    outcome = openreg_gen("new", "mychip", "--device", device, "--profile", profile, cwd=tmp_path)
    assert "warning" not in outcome.stderr
    spec = (tmp_path / "torch_mychip/mychip.yaml").read_text()
    assert re.search(rf"^  api: {device}", spec, re.MULTILINE)
    assert (tmp_path / "torch_mychip/third_party/mychip/src/port.cpp").exists() == (device == "external")
    openreg_gen("generate", "--check", cwd=tmp_path / "torch_mychip")


@pytest.mark.parametrize(
    ("name", "text", "profile"),
    [
        ("a.yaml", "backend: {name: other, vendor: 'Ärzte \"& Co'}  # mine\n", "profile: standard\n"),
        ("a.json", '{\n  "backend": {"vendor": "Us", "name": "other"}\n}\n', ',\n  "profile": "standard"\n}\n'),
    ],
)
def test_new_takes_a_spec(openreg_gen, tmp_path, name, text, profile):
    (tmp_path / name).write_text(text)
    openreg_gen("new", "mybackend", "--spec", name, cwd=tmp_path)
    written = tmp_path / "torch_mybackend" / f"mybackend{pathlib.Path(name).suffix}"
    assert written.read_text() == text.replace("other", "mybackend").removesuffix("\n}\n") + profile
    openreg_gen("generate", "--check", cwd=written.parent)


@pytest.mark.parametrize("name", ["abc", "abcdefghijklmnopqrstuvwxyzabcd"])
@pytest.mark.parametrize("spec", ["new", "external", "opencl", "openreg.yaml", "full.yaml"])
def test_emitted_python_is_formatted_whatever_the_names_length(openreg_gen, tmp_path, name, spec):
    devices = {device: ["--device", device] for device in ("external", "opencl")}
    extra = {"new": [], **devices}.get(spec, ["--spec", ROOT / "specs" / spec])
    openreg_gen("new", name, *extra, cwd=tmp_path)
    for check in (["format", "--check"], ["check"]):
        done = subprocess.run(["ruff", *check, "."], cwd=tmp_path / f"torch_{name}", text=True, capture_output=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["cpu2", "../x", "a b", "My", "torch", "", "x\n  package: evil", "'", "cudax"])
def test_a_bad_name_writes_nothing(openreg_gen, tmp_path, name):
    assert "error[E01" in openreg_gen("new", name, cwd=tmp_path, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_a_bad_spec_writes_nothing_and_tells_all(openreg_gen, tmp_path):
    (tmp_path / "s.yaml").write_text("backend: {name: other, vndor: x}\nops: [add.Tensro]\n")
    answer = json.loads(openreg_gen("new", "mybackend", "--spec", "s.yaml", "--json", cwd=tmp_path, code=2).stdout)
    places = {(each["line"], each["file"]) for each in answer["diagnostics"]}
    assert places == {(1, "s.yaml"), (2, "s.yaml")}
    assert [path.name for path in tmp_path.iterdir()] == ["s.yaml"]


@pytest.mark.parametrize("spec", ["/nonexistent.yaml", "/", "/dev/null"])
def test_a_spec_that_cannot_be_read(openreg_gen, tmp_path, spec):
    assert "error[E01" in openreg_gen("new", "mybackend", "--spec", spec, cwd=tmp_path, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_new_refuses_a_folder_that_is_in_use(openreg_gen, tree):
    before = state(tree)
    assert "openreg-gen generate -C torch_mybackend" in openreg_gen("new", "mybackend", cwd=tree.parent, code=2).stderr
    assert state(tree) == before
    (tree.parent / "used").mkdir()
    (tree.parent / "used/file").touch()
    assert "E0501" in openreg_gen("new", "mybackend", "--out", "used", cwd=tree.parent, code=2).stderr
    assert "E0501" in openreg_gen("new", "mybackend", "--out", "used/file", cwd=tree.parent, code=2).stderr


def test_new_fills_a_fresh_git_repository(openreg_gen, tmp_path):
    (tmp_path / "repo/.git").mkdir(parents=True)
    openreg_gen("new", "mybackend", "--out", "repo", cwd=tmp_path)
    assert (tmp_path / "repo/CMakeLists.txt").is_file()


def git(*words):
    return subprocess.run(["git", *map(str, words)], check=True, capture_output=True, text=True).stdout


AUTHOR = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def test_new_with_git_commits_the_tree(openreg_gen, tmp_path):
    out = openreg_gen("new", "mybackend", "--git", cwd=tmp_path, env=AUTHOR).stdout
    tree = tmp_path / "torch_mybackend"
    assert "git: a new repository with one commit\n" in out and "git init" not in out
    assert git("-C", tree, "log", "--format=%s") == "openreg-gen new mybackend\n"
    assert git("-C", tree, "status", "--short") == ""
    assert set(git("-C", tree, "ls-files").splitlines()) == {
        name for name in files(tree) if not name.startswith(".git/")
    }


def test_new_says_how_to_start_a_repository(openreg_gen, tmp_path):
    """One line, which works as it is typed; none where the tree is in a repository, whose owner commits it."""
    answer = json.loads(openreg_gen("new", "mybackend", "--out", "a b", "--json", cwd=tmp_path).stdout)
    subprocess.run(answer["next"][-1], shell=True, check=True, cwd=tmp_path, env=os.environ | AUTHOR)
    assert git("-C", tmp_path / "a b", "log", "--format=%s") == "openreg-gen new mybackend\n"
    inside = openreg_gen("new", "mybackend", "--out", "x/y", "--git", cwd=tmp_path / "a b").stdout
    assert "git: x/y is in a repository already: " in inside and "git init" not in inside
    assert not (tmp_path / "a b/x/y/.git").exists()


def test_a_commit_that_git_refuses_is_left_to_the_user(openreg_gen, tmp_path):
    no_guess = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    nobody = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", **no_guess}
    out = openreg_gen("new", "mybackend", "--git", cwd=tmp_path, env=nobody).stdout
    assert "git: no commit: fatal: " in out and "\n  git init -q torch_mybackend && git -C " in out
    assert (tmp_path / "torch_mybackend/CMakeLists.txt").is_file()


def test_new_with_git_needs_git(openreg_gen, tmp_path):
    python = pathlib.Path(sys.executable)
    outcome = openreg_gen("new", "mybackend", "--git", cwd=tmp_path, env={"PATH": str(python.parent)}, code=3)
    assert "error[E0534]: --git needs git" in outcome.stderr and not list(tmp_path.iterdir())
    assert "--dry-run" in openreg_gen("new", "mybackend", "--git", "--dry-run", cwd=tmp_path, code=2).stderr


def test_without_pytorch_new_is_the_environments_fault(openreg_gen, tmp_path):
    outcome = openreg_gen("new", "mybackend", "--torch", tmp_path, cwd=tmp_path, torch=None, code=3)
    assert "error[E04" in outcome.stderr and "hint: " in outcome.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_data(openreg_gen, environment, tmp_path):
    """Data of the command whose compiled code is of `text`, and what its renderer makes of the templates as they are."""
    sys.path.insert(0, str(ROOT / "generator/render"))
    import renderer

    compiled = tmp_path / "compiled"
    (tmp_path / "templates/sub").mkdir(parents=True)
    compiled.mkdir()

    def put(text):
        (tmp_path / "templates/sub/a.j2").write_text(text)

    def run(text):
        put(text)
        jobs = [{"template": "sub/a.j2", "context": {}, "user": False}]
        folders = {"templates": str(tmp_path / "templates"), "compiled": [str(tmp_path / "none"), str(compiled)]}
        answer, texts = renderer.render({**folders, "globals": {"b": 1}, "jobs": jobs, "user": {}})
        assert "error" not in answer
        return texts[0].decode()

    def compile_as(text, shown):
        """Code of `shown`, kept as that of `text`: whoever runs it is seen to do so."""
        codes = []
        for each in (text, shown):
            put(each)
            script = [
                sys.executable,
                ROOT / "generator/render/renderer.py",
                "--compile",
                tmp_path / "templates",
                compiled,
            ]
            subprocess.run(script, check=True)
            codes.append(marshal.loads(next(compiled.iterdir()).read_bytes()))
        [key], [code] = codes[0], codes[1].values()
        next(compiled.iterdir()).write_bytes(marshal.dumps({key: code}))

    return compiled, compile_as, run


def test_compiled_templates_serve_the_texts_that_they_are_of(small_data):
    compiled, compile_as, run = small_data
    compile_as("old {{ b }}", "compiled {{ b }}")
    assert run("old {{ b }}") == "compiled 1"
    assert run("new {{ b }}") == "new 1"
    assert len(list(compiled.iterdir())) == 1


@pytest.mark.parametrize("harm", ["rubbish", "", None])
def test_without_compiled_templates_all_are_compiled(small_data, harm):
    compiled, compile_as, run = small_data
    compile_as("old {{ b }}", "compiled {{ b }}")
    file = next(compiled.iterdir())
    file.unlink() if harm is None else file.write_text(harm)
    assert run("old {{ b }}") == "old 1"


def test_the_build_compiled_all_templates(environment):
    """With the Python of the tests, if it is the build's."""
    names = [path for path in (ROOT / "templates").rglob("*.j2")]
    for file in (pathlib.Path(COMMAND).parent / "compiled").glob("*.marshal"):
        if importlib.util.MAGIC_NUMBER.hex() in file.name:
            assert len(marshal.loads(file.read_bytes())) == len(names)


def test_no_code_is_kept_in_the_users_cache(openreg_gen, tmp_path):
    openreg_gen("new", "mybackend", cwd=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    kept = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept and all(re.fullmatch(r"catalog-[0-9a-f]{16}\.bin", name) for name in kept)


@pytest.mark.parametrize("verb", ["new", "generate"])
def test_a_python_that_hangs_is_killed_and_named(openreg_gen, tree, tmp_path, verb):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 120\n")
    python.chmod(0o755)
    env = {"OPENREG_GEN_PYTHON": str(python), "OPENREG_GEN_CHILD_SECONDS": "1"}
    with (tree / "mybackend.yaml").open("a") as spec:
        spec.write("tests: {samples: 7}\n")
    before = state(tree)
    argv = ["new", "other", "--json"] if verb == "new" else ["generate", "-C", tree, "--json"]
    answer = json.loads(openreg_gen(*argv, cwd=tmp_path, env=env, code=3).stdout)
    assert "E0609" in json.dumps(answer) and str(python) in json.dumps(answer)
    assert state(tree) == before and not (tmp_path / "torch_other").exists()


@pytest.mark.parametrize("name", ["foo2", "", "torch", "a b", "x\n  package: evil"])
@pytest.mark.parametrize(
    "spec", ["", "backend: {name: other, vendor: Us}\n", "device:\n  count: 3\nbackend:\n  name: other\n"]
)
def test_a_bad_name_on_the_command_line_has_no_place_in_a_file(openreg_gen, tmp_path, name, spec):
    (tmp_path / "s.yaml").write_text(spec)
    argv = ("new", name, "--json", "--device", "external", *(["--spec", "s.yaml"] if spec else []))
    found = json.loads(openreg_gen(*argv, cwd=tmp_path, code=2).stdout)["diagnostics"]
    (named,) = [each for each in found if each["severity"] == "error"]
    assert (named["file"], named["line"], named["column"]) == (None, None, None)
    assert named["message"].startswith("NAME: ")


def test_places_are_those_of_the_spec_that_was_read(openreg_gen, tmp_path):
    """The device and the profile add lines to it, the name changes one."""
    (tmp_path / "s.yaml").write_text("backend: {name: other, vndor: x}\ndevice:\n  foo: 1\nops: [add.Tensro]\n")
    argv = ("new", "mybackend", "--spec", "s.yaml", "--device", "external")
    found = json.loads(openreg_gen(*argv, "--json", cwd=tmp_path, code=2).stdout)["diagnostics"]
    assert [(each["line"], each["column"]) for each in found] == [(1, 24), (3, 3), (4, 7)]
    (tmp_path / "s.yaml").write_text("device:\n  streams_per_pool: 4\nbackend:\n  name: other\nops: [add.Tensro]\n")
    error = openreg_gen(*argv, cwd=tmp_path, code=2).stderr
    assert "s.yaml:5:7: error" in error and "  5 | ops: [add.Tensro]\n" in error


def test_a_spec_of_the_tools_own_that_does_not_fit_has_no_place(openreg_gen, other_releases, tmp_path):
    """Its text is not on the disk."""
    argv = ("new", "mybackend", "--json", "--torch", other_releases / "torch-2.9.0")
    found = json.loads(openreg_gen(*argv, cwd=tmp_path, torch=None, code=2).stdout)["diagnostics"]
    assert found and not [each for each in found if each["file"] or each["line"]]
