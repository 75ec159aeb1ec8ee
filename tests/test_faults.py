"""Obstacles for a run: a full disk, read-only files, names that clash. Clear errors, and nothing is lost."""

import json
import os
import re
import shutil
import subprocess

import pytest
from trees import GENERATED, SHARED, files, state

KERNEL = "csrc/aten/native/relu.cpp"
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def strace():
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    prefix = ["strace", "-qq", "-o", "/dev/null"]
    if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
        pytest.skip("strace may not trace here")
    return prefix


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], check=False, capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"a small tmpfs needs root: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_the_tree_as_it_was(openreg_gen, pristine, small_disk):
    tree = shutil.copytree(pristine, small_disk / "torch_mybackend")
    with (tree / SHARED).open("a") as file:
        file.write("mine\n")
    for name in list(files(tree)):
        if name.startswith("csrc/runtime/"):
            (tree / name).unlink()
    before = state(tree)
    failures = 0
    for spare in (0, 4096, 8192, 16384, 32768, 65536, 131072, 262144, MEBIBYTE):
        with (small_disk / "filler").open("wb", buffering=0) as filler:
            size = shutil.disk_usage(small_disk).free - spare
            for _ in range(size // 4096):
                filler.write(b"x" * 4096)
        answer = openreg_gen("generate", cwd=tree, code=None)
        if answer.returncode == 0:
            break
        failures += 1
        assert answer.returncode == 3 and "error[E0506]" in answer.stderr and "No space left on device" in answer.stderr
        assert state(tree) == before and not (tree / ".openreg-gen/tmp").exists()
        (small_disk / "filler").unlink()
    assert failures >= 2
    (small_disk / "filler").unlink()
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    assert (tree / GENERATED).is_file() and (tree / SHARED).read_text().endswith("mine\n")


@pytest.mark.parametrize("error", ["ENOLCK", "EOPNOTSUPP"])
def test_a_file_system_without_locks_is_not_written_to(openreg_gen, strace, tree, error):
    """Two writers at once could lose an edit."""
    (tree / GENERATED).unlink()
    before = state(tree)
    prefix = [*strace, "-e", "trace=flock", "-e", f"inject=flock:error={error}"]
    for verb in (["generate"], ["own", SHARED], ["undo"]):
        answer = openreg_gen(*verb, cwd=tree, code=3, prefix=prefix).stderr
        assert "error[E0506]" in answer and "cannot lock" in answer
    assert state(tree) == before
    openreg_gen("generate", "--check", cwd=tree, code=1, prefix=prefix)  # reading needs no lock


def test_a_folder_that_cannot_be_listed_to_its_end_is_named(openreg_gen, strace, tree):
    """Each call that lists a folder fails in turn: E0506, of the command's own data E0608, and not a bug of openreg-gen."""
    codes = []
    for number in (*range(1, 40), *range(40, 1000, 9), 5000):  # the last one is none
        (tree / KERNEL).unlink(missing_ok=True)  # its mark is looked for everywhere
        inject = f"inject=getdents64:error=EIO:when={number}"
        answer = openreg_gen("generate", cwd=tree, code=None, prefix=[*strace, "-e", "trace=getdents64", "-e", inject])
        codes.append(answer.returncode)
        if answer.returncode == 0:
            break
        assert (
            answer.returncode == 3
            and re.search(r"error\[E0(506|608)\]", answer.stderr)
            and "Input/output error" in answer.stderr
        )
    assert codes[-1] == 0 and 3 in codes


@pytest.mark.parametrize("verb", [["generate"], ["status"], ["own", "setup.py"], ["explain", "setup.py"]])
@pytest.mark.parametrize("named", [False, True])
def test_a_current_folder_that_is_gone(openreg_gen, tree, tmp_path, verb, named):
    (tmp_path / "gone").mkdir()
    (tree / GENERATED).unlink()
    prefix = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh"]
    argv = [*verb, "-C", tree] if named else verb
    answer = openreg_gen(*argv, cwd=tmp_path / "gone", code=None, prefix=prefix)
    assert answer.returncode in ((0, 1, 2, 3) if named else (1, 2, 3)), answer.stderr
    assert "please report" not in answer.stderr
    if not named:
        assert re.search("E0201|E0502|E0506|E0554", answer.stderr)


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv to obey permissions")
@pytest.mark.parametrize("file_class", ["generated", "shared"])
def test_a_read_only_file_leaves_the_tree_as_it_was(openreg_gen, tree, file_class):
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    spec = tree / "mybackend.yaml"
    text = spec.read_text().replace("\nbackend:\n", "\nbackend:\n  description: Another.\n")
    spec.write_text(text.replace("count: 2", "count: 3"))
    answer = json.loads(openreg_gen("generate", "--dry-run", "--json", cwd=tree).stdout)["files"]
    victim = next(file["path"] for file in answer if file["action"] == "update" and file["class"] == file_class)
    (tree / victim).chmod(0o444)
    before = state(tree)
    answer = openreg_gen("generate", cwd=tree, code=3, prefix=prefix).stderr
    assert "E0506" in answer and f"'{victim}' is read-only" in answer
    assert state(tree) == before
    (tree / victim).chmod(0o644)
    openreg_gen("generate", cwd=tree)


def blocked(openreg_gen, tree, path, why):
    """Refused, with its name and the reason; answer by --check, too; nothing is written."""
    before = state(tree)
    answer = openreg_gen("generate", cwd=tree, code=1).stderr
    assert "E0503" in answer and f"  {path}: {why}" in answer, answer
    assert f"  {path}" in openreg_gen("generate", "--check", cwd=tree, code=1).stdout.partition("blocked:")[2]
    assert state(tree) == before


def test_a_name_that_differs_in_letter_case_only(openreg_gen, tree):
    (tree / GENERATED).rename(tree / "csrc/runtime/GUARD.cpp")
    why = "'csrc/runtime/GUARD.cpp' differs only in letter case: on some systems they are the same file"
    blocked(openreg_gen, tree, GENERATED, why)


def test_a_folder_that_differs_in_letter_case_only(openreg_gen, tree):
    (tree / "csrc/amp").rename(tree / "csrc/AMP")
    blocked(openreg_gen, tree, "csrc/amp/Autocast.cpp", "'csrc/AMP' differs only in letter case")


def test_a_file_where_a_folder_has_to_be(openreg_gen, tree):
    shutil.rmtree(tree / "csrc/amp")
    (tree / "csrc/amp").write_text("mine\n")
    blocked(openreg_gen, tree, "csrc/amp/Autocast.cpp", "'csrc/amp' is a file, but must be a folder")


def test_a_folder_where_a_file_has_to_be(openreg_gen, tree):
    (tree / GENERATED).unlink()
    (tree / GENERATED).mkdir()
    (tree / GENERATED / "mine").write_text("mine\n")
    blocked(openreg_gen, tree, GENERATED, "a folder is in its place")


@pytest.mark.parametrize("name", [GENERATED, SHARED])
def test_a_symlink_in_a_files_place(openreg_gen, tree, tmp_path, name):
    outside = tmp_path / "outside"
    (tree / name).rename(outside)
    (tree / name).symlink_to(outside)
    before = outside.read_bytes()
    blocked(openreg_gen, tree, name, "a symlink is in its place")
    openreg_gen("generate", "--force", cwd=tree, code=1)
    assert outside.read_bytes() == before and (tree / name).is_symlink()


def test_an_owners_kernel_may_be_a_symlink(openreg_gen, tree, tmp_path):
    outside = tmp_path / "relu.cpp"
    (tree / KERNEL).rename(outside)
    (tree / KERNEL).symlink_to(outside)
    (tree / GENERATED).unlink()
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    assert (tree / KERNEL).is_symlink() and (tree / GENERATED).is_file()


@pytest.mark.parametrize("folder", ["backup", "pristine", "undo", "tmp"])
def test_the_tools_own_folders_do_not_lead_out(openreg_gen, tree, tmp_path, folder):
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(tree / ".openreg-gen" / folder, ignore_errors=True)
    (tree / ".openreg-gen" / folder).symlink_to(outside)
    (tree / GENERATED).write_text("mine\n")
    (tree / SHARED).unlink()
    answer = openreg_gen("generate", "--force", cwd=tree, code=None)
    assert not list(outside.iterdir())
    if answer.returncode:
        assert "E0508" in answer.stderr and (tree / GENERATED).read_text() == "mine\n"
    else:
        assert (tree / GENERATED).read_text() != "mine\n"
