"""openreg-gen generate, as a process."""

import difflib
import hashlib
import json
import os
import pty
import re
import subprocess

import pytest
from trees import COMMAND, GENERATED, MANIFEST, SHARED, files, owned, state


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
    answer = json.loads(openreg_gen("generate", "--json", cwd=tree).stdout)
    changed = {file["path"] for file in answer["files"] if file["action"] not in ("unchanged", "keep")}
    now = {name for name, file in files(tree).items() if file.stat().st_mtime != 1_000_000_000}
    assert changed and now == changed | {MANIFEST}
    assert set(re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)) == changed
    assert set(re.findall(r"^  update +(\S+)", plan, re.MULTILINE)) == changed
    openreg_gen("generate", "--check", cwd=tree)


def test_the_hash_of_the_cpp_is_that_of_the_cpp(openreg_gen, tree):
    """What Python compares with the build: a text that no library has in it asks for no build, and tests don't either."""
    spec = tree / "mybackend.yaml"

    def rendered():
        return json.loads((tree / ".openreg-gen/manifest.json").read_text())["sources"]

    first = rendered()
    spec.write_text(spec.read_text().replace("  version: 0.1.0", "  version: 0.1.0\n  description: Another text"))
    openreg_gen("generate", cwd=tree)
    assert "Another text" in (tree / "README.md").read_text()
    assert rendered() == first
    openreg_gen("add", "hardtanh_", "--strategy", "native", cwd=tree)
    assert rendered() != first
    openreg_gen("undo", cwd=tree)
    assert rendered() == first


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
    answer = openreg_gen("generate", cwd=tree, code=1).stderr
    assert "E0503" in answer and re.search(
        rf"^  {re.escape(name)}: edited \(generated; `\w+` in the spec", answer, re.MULTILINE
    )
    assert state(tree) == before


def test_an_edited_shared_file_is_kept_and_merged_when_its_render_changes(openreg_gen, tree):
    with (tree / SHARED).open("a") as file:
        file.write("mine\n")
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    spec = tree / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("name: mybackend ", "name: mybackend\n  description: Another.\n  #"))
    assert f"  merge     {SHARED} " in openreg_gen("generate", cwd=tree).stdout
    merged = (tree / SHARED).read_text()
    assert "Another." in merged and merged.endswith("mine\n")
    openreg_gen("generate", "--check", cwd=tree)


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
    found, kind = {}, None
    for line in out.splitlines():
        if line.startswith("  "):
            found[line.split()[0]] = kind
        else:
            kind = line.split(":")[0]
    assert found["setup.py"] == "missing"
    assert found[GENERATED] == "edited"
    assert found["csrc/old.cpp"] == "extra"
    assert "stale" in found.values()
    answer = json.loads(openreg_gen("generate", "--check", "--json", cwd=tree, code=1).stdout)
    assert {file["path"]: file["finding"] for file in answer["files"] if file["finding"] != "fine"} == found
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
    assert (tree / "csrc/b.cpp").is_file() and "kept, since you edited it" in out
    openreg_gen("generate", "--check", cwd=tree)


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


def on_a_terminal(argv, cwd, env):
    """The command's output on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([COMMAND, *argv], cwd=cwd, env=env, stdout=theirs) as child:
        os.close(theirs)
        answer = b""
        try:
            while part := os.read(ours, 65536):
                answer += part
        except OSError:  # Linux says so that nobody holds the other end any more
            pass
    os.close(ours)
    return answer.decode().replace("\r\n", "\n"), child.returncode


def test_a_diff_is_coloured_on_a_terminal_only(openreg_gen, environment, tree):
    env, torch = environment
    env = {key: value for key, value in env.items() if key not in ("NO_COLOR", "TERM")} | {"TERM": "xterm"}
    (tree / GENERATED).unlink()
    spec = tree / "mybackend.yaml"
    spec.write_text(spec.read_text().replace("count: 2", "count: 3"))
    argv = ["generate", "--diff", "--torch", str(torch)]
    plain = openreg_gen("generate", "--diff", cwd=tree).stdout
    answer, code = on_a_terminal(argv, tree, env)
    assert code == 0 and re.sub(r"\x1b\[[0-9;]*m", "", answer) == plain
    removed = next(line for line in plain.splitlines() if re.match(r"-[^-].*2", line))
    assert re.search(rf"\x1b\[31m{re.escape(removed)}\x1b\[0m\n", answer)
    added = "+" + removed[1:].replace("2", "3")
    assert re.search(rf"\x1b\[32m{re.escape(added)}\x1b\[0m\n", answer)
    assert re.search(r"\x1b\[36m@@ .* @@.*\x1b\[0m\n", answer)
    assert "\x1b" not in plain
    assert on_a_terminal(argv, tree, env | {"NO_COLOR": "1"}) == (plain, 0)
