"""The command as a process: new, generate and the command line, in temporary folders."""

import difflib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = pathlib.Path(os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen")).resolve()
MANIFEST = ".openreg-gen/manifest.json"
GENERATED = "csrc/runtime/Guard.cpp"
SHARED = "README.md"


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    site = pathlib.Path(next(path for path in sys.path if (pathlib.Path(path) / "torch/include").is_dir()))
    made = dict(os.environ, OPENREG_GEN_PYTHON=sys.executable, XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")))
    made.pop("OPENREG_GEN_DATA", None)
    return made, site / "torch"


@pytest.fixture(scope="session")
def openreg_gen(environment):
    base, torch = environment

    def run(*argv, code=0, cwd=None, torch=torch, env=(), prefix=()):
        argv = [str(word) for word in argv]
        if torch and argv[0] in ("new", "generate"):
            argv += ["--torch", str(torch)]
        command = [*prefix, COMMAND, *argv]
        outcome = subprocess.run(
            command, check=False, cwd=cwd, env={**base, **dict(env)}, text=True, capture_output=True
        )
        assert outcome.returncode == code, outcome.stdout + outcome.stderr
        return outcome

    return run


@pytest.fixture(scope="session")
def pristine(openreg_gen, tmp_path_factory):
    where = tmp_path_factory.mktemp("pristine")
    openreg_gen("new", "mybackend", cwd=where)
    return where / "torch_mybackend"


@pytest.fixture
def tree(pristine, tmp_path):
    return shutil.copytree(pristine, tmp_path / "torch_mybackend")


def files(root):
    return {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}


def state(root):
    """Each file's bytes and time of change."""
    return {name: (path.read_bytes(), path.stat().st_mtime_ns) for name, path in files(root).items()}


def owned(root):
    listed = json.loads((root / MANIFEST).read_text())["files"]
    return next(path for path, file in listed.items() if file["class"] == "owned" and path.startswith("csrc"))


# --- new


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


def test_the_manifest_names_every_file_and_nothing_of_this_machine(pristine):
    listed = set(json.loads((pristine / MANIFEST).read_text())["files"])
    written = {name for name in files(pristine) if not name.startswith(".openreg-gen/")}
    assert listed == written
    for name, path in files(pristine).items():
        assert str(pristine.parent).encode() not in path.read_bytes(), name


def test_the_same_input_gives_the_same_bytes(openreg_gen, pristine, tmp_path):
    openreg_gen("new", "mybackend", "--out", tmp_path / "other", cwd=tmp_path, env={"LC_ALL": "C", "TZ": "Asia/Tokyo"})
    again = {name: path.read_bytes() for name, path in files(tmp_path / "other").items()}
    assert again == {name: path.read_bytes() for name, path in files(pristine).items()}


def test_every_emitted_file_says_whose_it_is(pristine):
    for name, file in json.loads((pristine / MANIFEST).read_text())["files"].items():
        if file["template"] and not name.endswith(".json"):
            head = "\n".join((pristine / name).read_text().splitlines()[:3])
            assert "Written by openreg-gen" in head and file["class"].capitalize() + ": " in head, name


def test_new_in_json(openreg_gen, tmp_path):
    told = json.loads(openreg_gen("new", "mybackend", "--out", "a b", "--json", cwd=tmp_path).stdout)
    assert told["root"] == "a b"
    spec = next(file for file in told["files"] if file["path"] == "mybackend.yaml")
    assert (spec["class"], spec["action"]) == ("owned", "create")
    assert {file["path"] for file in told["files"]} == {
        name for name in files(tmp_path / "a b") if not name.startswith(".openreg-gen/")
    }
    assert told["next"][1] == "python -m pytest 'a b/tests'"


def test_new_dry_run_writes_nothing(openreg_gen, tmp_path):
    out = openreg_gen("new", "mybackend", "--dry-run", cwd=tmp_path).stdout
    assert "create  csrc/CMakeLists.txt" in out
    assert "nothing written" in out
    assert not list(tmp_path.iterdir())


def test_new_with_an_external_device(openreg_gen, tmp_path):
    outcome = openreg_gen("new", "mychip", "--device", "external", cwd=tmp_path)
    assert "warning" not in outcome.stderr
    spec = (tmp_path / "torch_mychip/mychip.yaml").read_text()
    assert re.search(r"^  api: external", spec, re.MULTILINE)
    openreg_gen("generate", "--check", cwd=tmp_path / "torch_mychip")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "backend: {name: other, vendor: 'Ärzte \"& Co'}  # mine\n"),
        ("a.json", '{\n  "backend": {"vendor": "Us", "name": "other"}\n}\n'),
    ],
)
def test_new_takes_a_spec(openreg_gen, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    openreg_gen("new", "mybackend", "--spec", name, cwd=tmp_path)
    written = tmp_path / "torch_mybackend" / f"mybackend{pathlib.Path(name).suffix}"
    assert written.read_text() == text.replace("other", "mybackend")
    openreg_gen("generate", "--check", cwd=written.parent)


@pytest.mark.parametrize("name", ["cpu2", "../x", "a b", "My", "torch", "", "x\n  package: evil", "'", "cudax"])
def test_a_bad_name_writes_nothing(openreg_gen, tmp_path, name):
    assert "error[E01" in openreg_gen("new", name, cwd=tmp_path, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_a_bad_spec_writes_nothing_and_tells_all(openreg_gen, tmp_path):
    (tmp_path / "s.yaml").write_text("backend: {name: other, vndor: x}\nops: [add.Tensro]\n")
    told = json.loads(openreg_gen("new", "mybackend", "--spec", "s.yaml", "--json", cwd=tmp_path, code=2).stdout)
    places = {(each["line"], each["file"]) for each in told["diagnostics"]}
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


# --- generate


def test_generate_is_idempotent_and_leaves_times_alone(openreg_gen, tree):
    before = state(tree)
    assert openreg_gen("generate", cwd=tree).stdout.startswith("up to date: ")
    assert state(tree) == before


def test_an_unchanged_tree_needs_no_python(openreg_gen, tree):
    openreg_gen("generate", "--check", cwd=tree, env={"OPENREG_GEN_PYTHON": "/no/such/python"})
    (tree / GENERATED).unlink()
    openreg_gen("generate", "--check", cwd=tree, env={"OPENREG_GEN_PYTHON": "/no/such/python"}, code=3)


def test_the_tree_is_found_upwards_and_by_c(openreg_gen, tree, tmp_path):
    openreg_gen("generate", cwd=tree / "csrc/runtime")
    openreg_gen("generate", "-C", tree / "tests", cwd="/")
    assert "E0502" in openreg_gen("generate", cwd=tmp_path, code=2).stderr


def test_a_changed_spec_changes_only_what_it_governs(openreg_gen, tree):
    spec = tree / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("count: 2", "count: 3"))
    for file in files(tree).values():
        os.utime(file, (1_000_000_000, 1_000_000_000))
    plan = openreg_gen("generate", "--dry-run", cwd=tree).stdout
    diff = openreg_gen("generate", "--diff", cwd=tree).stdout
    told = json.loads(openreg_gen("generate", "--json", cwd=tree).stdout)
    changed = {file["path"] for file in told["files"] if file["action"] not in ("unchanged", "keep")}
    now = {name for name, file in files(tree).items() if file.stat().st_mtime != 1_000_000_000}
    assert changed and now == changed | {MANIFEST}
    assert set(re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)) == changed
    assert set(re.findall(r"^  update +(\S+)", plan, re.MULTILINE)) == changed
    openreg_gen("generate", "--check", cwd=tree)


def test_a_comment_in_the_spec_changes_nothing(openreg_gen, tree):
    with (tree / "mybackend.yaml").open("a") as file:
        file.write("# mine\n")
    before = state(tree)
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    assert state(tree) == before


@pytest.mark.parametrize("name", [GENERATED, "csrc/CMakeLists.txt"])
def test_an_edited_generated_file_is_refused(openreg_gen, tree, name):
    with (tree / name).open("a") as file:
        file.write("\n")
    (tree / "setup.py").unlink()
    before = state(tree)
    told = openreg_gen("generate", cwd=tree, code=1).stderr
    assert "E0503" in told and re.search(
        rf"^  {re.escape(name)}: edited \(generated; `\w+` in the spec", told, re.MULTILINE
    )
    assert state(tree) == before


def test_an_edited_shared_file_is_kept_until_its_render_changes(openreg_gen, tree):
    (tree / SHARED).write_text("mine\n")
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    spec = tree / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("name: mybackend ", "name: mybackend\n  description: Another.\n  #"))
    before = state(tree)
    assert f"  {SHARED}: edited (shared;" in openreg_gen("generate", cwd=tree, code=1).stderr
    assert state(tree) == before
    (tree / SHARED).unlink()
    openreg_gen("generate", cwd=tree)
    assert "Another." in (tree / SHARED).read_text()


def test_an_owned_file_is_never_touched(openreg_gen, tree):
    kernel = tree / owned(tree)
    kernel.write_text("// mine\n")
    spec = tree / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("count: 2", "count: 3"))
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    assert kernel.read_text() == "// mine\n"


def test_check_lists_what_is_stale_missing_edited_and_extra(openreg_gen, tree):
    spec = tree / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("count: 2", "count: 3"))
    (tree / "setup.py").unlink()
    (tree / GENERATED).write_text("mine\n")
    manifest = json.loads((tree / MANIFEST).read_text())
    manifest["files"]["csrc/old.cpp"] = dict(manifest["files"][GENERATED], sha256="0" * 64)
    (tree / "csrc/old.cpp").write_text("old\n")
    (tree / MANIFEST).write_text(json.dumps(manifest))
    before = state(tree)
    out = openreg_gen("generate", "--check", cwd=tree, code=1).stdout
    rows = {row[1]: (row[0], row[3]) for row in (re.split(r"  +", line, maxsplit=4)[1:] for line in out.splitlines())}
    assert rows["setup.py"] == ("create", "missing")
    assert rows[GENERATED] == ("refuse", "edited")
    assert rows["csrc/old.cpp"][1].startswith("no longer asked for")
    assert ("update", "stale") in rows.values()
    assert state(tree) == before


def test_files_no_longer_asked_for_go_unless_edited(openreg_gen, tree):
    manifest = json.loads((tree / MANIFEST).read_text())
    openreg_gen("generate", cwd=tree)
    (tree / "csrc/gone").mkdir()
    for name, edited in (("csrc/gone/a.cpp", False), ("csrc/b.cpp", True)):
        (tree / name).write_text("text\n")
        digest = hashlib.sha256(b"other\n" if edited else b"text\n").hexdigest()
        manifest["files"][name] = dict(manifest["files"][GENERATED], sha256=digest)
    manifest["inputs"] = "another"
    (tree / MANIFEST).write_text(json.dumps(manifest))
    out = openreg_gen("generate", cwd=tree).stdout
    assert not (tree / "csrc/gone").exists()
    assert (tree / "csrc/b.cpp").is_file() and "yours from now on" in out
    openreg_gen("generate", "--check", cwd=tree)


# --- what may not happen


def test_a_symlink_that_leads_out_is_refused(openreg_gen, tree, tmp_path):
    outside = tmp_path / "outside"
    (tree / "csrc/runtime").rename(outside)
    (tree / "csrc/runtime").symlink_to(outside)
    (outside / "Guard.cpp").unlink()
    before = state(outside)
    assert "E0508" in openreg_gen("generate", cwd=tree, code=1).stderr
    assert state(outside) == before


def test_a_manifest_cannot_reach_out(openreg_gen, tree, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("x")
    manifest = json.loads((tree / MANIFEST).read_text())
    manifest["files"]["../victim"] = dict(manifest["files"][GENERATED])
    (tree / MANIFEST).write_text(json.dumps(manifest))
    assert "E0507" in openreg_gen("generate", cwd=tree, code=2).stderr
    assert victim.read_text() == "x"


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json", '{"format": 99, "tool": "9.0"}'])
def test_a_broken_manifest_is_a_clear_error(openreg_gen, tree, text):
    (tree / MANIFEST).write_text(text)
    assert "error[E0507]" in openreg_gen("generate", cwd=tree, code=2).stderr


def test_the_spec_is_gone_or_wrong(openreg_gen, tree):
    (tree / "mybackend.yaml").write_text("backend: {name: cpu}\n")
    assert "mybackend.yaml:1:" in openreg_gen("generate", cwd=tree, code=2).stderr
    (tree / "mybackend.yaml").unlink()
    assert "E0511" in openreg_gen("generate", cwd=tree, code=2).stderr


def unprivileged():
    """Root may write anywhere, unless it gives that up."""
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv to obey permissions")
def test_a_read_only_folder_leaves_the_tree_as_it_was(openreg_gen, tree):
    (tree / GENERATED).unlink()
    (tree / "setup.py").unlink()
    (tree / "csrc/runtime").chmod(0o555)
    before = state(tree)
    assert "E0506" in openreg_gen("generate", cwd=tree, code=3, prefix=unprivileged()).stderr
    assert state(tree) == before


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv to obey permissions")
def test_new_in_a_read_only_folder(openreg_gen, tmp_path):
    tmp_path.chmod(0o555)
    assert "E0506" in openreg_gen("new", "mybackend", cwd=tmp_path, code=3, prefix=unprivileged()).stderr
    assert not list(tmp_path.iterdir())


def test_a_run_cut_off_is_finished_or_cleared(openreg_gen, environment, pristine, tmp_path):
    """Killed at many moments: what is there afterwards is the old tree or the new one, once generate has run."""
    env, torch = environment
    finished = {name: path.read_bytes() for name, path in files(pristine).items()}
    for delay in (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        root = shutil.copytree(pristine, tmp_path / f"at_{delay}")
        for name in ("setup.py", GENERATED, "csrc/CMakeLists.txt"):
            (root / name).unlink()
        child = subprocess.Popen(
            [COMMAND, "generate", "-C", root, "--torch", torch], env=env, stdout=subprocess.DEVNULL
        )
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        openreg_gen("generate", "-C", root)
        assert {name: path.read_bytes() for name, path in files(root).items()} == finished


def test_a_tree_that_is_being_written_is_left_alone(openreg_gen, tree):
    folder = os.open(tree, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        assert "E0510" in openreg_gen("generate", cwd=tree, code=1).stderr
        openreg_gen("generate", "--check", cwd=tree)
    finally:
        os.close(folder)


# --- the command line


def test_version_and_help(openreg_gen):
    assert re.fullmatch(r"openreg-gen \d+\.\d+\.\d+\n", openreg_gen("--version").stdout)
    text = openreg_gen("--help").stdout
    assert "Examples:" in text and "Exit codes:" in text
    for verb in ("new", "generate", "check", "ops", "doctor", "schema", "completion"):
        assert re.search(rf"^ +{verb} +\S", text, re.MULTILINE), verb


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["gnerate"], "did you mean 'generate'?"),
        (["generate", "--chek"], "did you mean '--check'?"),
        (["new", "x", "--devcie=external"], "did you mean '--device'?"),
        (["new"], "NAME is required"),
        (["new", "x", "--device", "gpu"], "emulator"),
        (["--versoin"], "did you mean '--version'?"),
        ([], "Examples:"),
    ],
)
def test_a_wrong_command_line_is_exit_2(environment, argv, hint):
    outcome = subprocess.run([COMMAND, *argv], text=True, capture_output=True, check=False)
    assert outcome.returncode == 2 and hint in outcome.stderr
    assert outcome.stdout == ""


def test_failures_in_json(openreg_gen, tmp_path):
    told = json.loads(openreg_gen("generate", "--json", cwd=tmp_path, code=2).stdout)
    assert told["diagnostics"][0]["code"] == "E0502"


def complete(words):
    script = subprocess.run([COMMAND, "completion", "bash"], text=True, capture_output=True, check=True).stdout
    array = " ".join(f"'{word}'" for word in words)
    probe = (
        f'{script}\nCOMP_WORDS=({array}) COMP_CWORD={len(words) - 1}\n_openreg_gen\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    return subprocess.run(["bash", "-c", probe], text=True, capture_output=True, check=True).stdout.split()


def test_bash_completes_verbs_flags_and_values():
    assert complete(["openreg-gen", "ge"]) == ["generate"]
    assert complete(["openreg-gen", "generate", "--d"]) == ["--dry-run", "--diff"]
    assert complete(["openreg-gen", "new", "x", "--device", "e"]) == ["emulator", "external"]
    assert complete(["openreg-gen", "completion", ""])[:2] == ["bash", "zsh"]


def test_the_zsh_completion_names_every_verb():
    script = subprocess.run([COMMAND, "completion", "zsh"], text=True, capture_output=True, check=True).stdout
    assert script.startswith("#compdef openreg-gen\n")
    for verb in ("new", "generate", "check", "ops", "doctor", "schema", "completion"):
        assert f"    {verb})\n" in script
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def test_diffs_are_what_difflib_says(openreg_gen, tree):
    spec = tree / "mybackend.yaml"
    old = {name: path.read_text() for name, path in files(tree).items() if not name.startswith(".openreg-gen")}
    spec.write_text(spec.read_text().replace("count: 2", "count: 3"))
    diff = openreg_gen("generate", "--diff", cwd=tree).stdout
    openreg_gen("generate", cwd=tree)
    for name in re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE):
        new = (tree / name).read_text()
        changed = [line for line in difflib.ndiff(old[name].splitlines(), new.splitlines()) if line[0] in "+-"]
        for line in changed:
            assert f"\n{line[0]}{line[2:]}\n" in diff


def test_an_output_that_is_full_is_no_success(environment):
    with open("/dev/full", "w") as full:
        outcome = subprocess.run([COMMAND, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert outcome.returncode == 3 and "E0513" in outcome.stderr


def test_both_hashes_of_the_templates_agree(openreg_gen, environment, tmp_path):
    """An installation compiles the templates under the hash that the command will look for."""
    env, _ = environment
    sys.path.insert(0, str(ROOT / "generator/render"))
    import renderer

    openreg_gen("new", "mybackend", cwd=tmp_path)
    name = renderer.cache_name(renderer.hash_templates(str(ROOT / "templates")))
    assert (pathlib.Path(env["XDG_CACHE_HOME"]) / "openreg-gen" / name).is_file()
