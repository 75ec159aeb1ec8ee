"""openreg-gen new, as a process."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
from trees import MANIFEST, ROOT, files, state


def test_new_says_what_it_wrote_and_what_to_type_next(openreg_gen, tmp_path):
    out = openreg_gen("new", "mybackend", cwd=tmp_path).stdout
    assert re.search(r"^torch_mybackend: \d+ files: \d+ generated, \d+ shared, \d+ owned$", out, re.MULTILINE)
    assert "  python -m pip install --no-build-isolation -v -e torch_mybackend\n" in out
    assert "  python -m pytest torch_mybackend/tests\n" in out
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
    assert not re.findall(r"(?i)openreg(?!-gen)|\bor[A-Z]\w*", text)
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
            head = "\n".join((pristine / name).read_text().splitlines()[:3])
            assert "Written by openreg-gen" in head and file["class"].capitalize() + ": " in head, name


def test_new_in_json(openreg_gen, tmp_path):
    answer = json.loads(openreg_gen("new", "mybackend", "--out", "a b", "--json", cwd=tmp_path).stdout)
    assert answer["root"] == "a b"
    spec = next(file for file in answer["files"] if file["path"] == "mybackend.yaml")
    assert (spec["class"], spec["action"]) == ("owned", "create")
    assert {file["path"] for file in answer["files"]} == {
        name for name in files(tmp_path / "a b") if not name.startswith(".openreg-gen/")
    }
    assert answer["next"][1] == "python -m pytest 'a b/tests'"


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


def test_without_pytorch_new_is_the_environments_fault(openreg_gen, tmp_path):
    outcome = openreg_gen("new", "mybackend", "--torch", tmp_path, cwd=tmp_path, torch=None, code=3)
    assert "error[E04" in outcome.stderr and "hint: " in outcome.stderr
    assert not list(tmp_path.iterdir())


def test_both_hashes_of_the_templates_agree(openreg_gen, environment, tmp_path):
    """An installation compiles the templates under the hash that the command will look for."""
    env, _ = environment
    sys.path.insert(0, str(ROOT / "generator/render"))
    import renderer

    openreg_gen("new", "mybackend", cwd=tmp_path)
    name = renderer.cache_name(renderer.hash_templates(str(ROOT / "templates")))
    assert (pathlib.Path(env["XDG_CACHE_HOME"]) / "openreg-gen" / name).is_file()
