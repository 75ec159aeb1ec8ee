"""What generate must not do: reach out of the tree, or leave it between two states."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import time

import pytest
from trees import COMMAND, GENERATED, MANIFEST, SHARED, state


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


def test_a_tree_that_is_being_written_is_left_alone(openreg_gen, tree):
    folder = os.open(tree, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        assert "E0510" in openreg_gen("generate", cwd=tree, code=1).stderr
        openreg_gen("generate", "--check", cwd=tree)
    finally:
        os.close(folder)


def test_a_run_waits_for_one_that_ends(openreg_gen, environment, tree):
    env, torch = environment
    for _ in range(20):
        (tree / GENERATED).unlink(missing_ok=True)
        folder = os.open(tree, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        start = time.monotonic()
        child = subprocess.Popen(
            [COMMAND, "generate", "-C", tree, "--torch", torch], env=env, stdout=subprocess.DEVNULL
        )
        time.sleep(0.5)
        waits, there = child.poll() is None, (tree / GENERATED).exists()
        os.close(folder)
        late = time.monotonic() - start > 1.5
        code = child.wait(60)
        if not late:
            break
    else:
        pytest.skip("this machine is so busy that the command gave up waiting")
    assert waits and not there
    assert code == 0 and (tree / GENERATED).exists()


def test_what_a_program_writes_into_a_file_it_held_open_is_kept(openreg_gen, tree):
    spec = tree / "mybackend.yaml"
    with (tree / SHARED).open("a") as editor:
        text = re.sub(r"(?m)^  name: mybackend\b.*\n", r"\g<0>  description: Another.\n", spec.read_text(), count=1)
        spec.write_text(re.sub(r"(?m)^  description: (?!Another).*\n", "", text))
        openreg_gen("generate", cwd=tree)
        editor.write("written late\n")
    assert "written late" not in (tree / SHARED).read_text()
    assert "E0522" in openreg_gen("undo", "--dry-run", cwd=tree, code=None).stderr
    answer = openreg_gen("generate", cwd=tree).stderr
    assert f"somebody wrote to {SHARED}" in answer
    kept = re.search(r"is in (\.openreg-gen/backup/\S+)", answer)[1]
    assert (tree / kept).read_text().endswith("written late\n")
    assert "somebody wrote to" not in openreg_gen("generate", cwd=tree).stderr
