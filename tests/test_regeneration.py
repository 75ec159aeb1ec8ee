"""Owners' edits over regeneration: merged, kept, found again, taken and given back, undone."""

import json
import re

import pytest
from trees import GENERATED, MANIFEST, SHARED, files, state

SPEC = "mybackend.yaml"
KERNEL = "csrc/aten/native/relu.cpp"


def respell(tree, line="Another."):
    """A spec whose README has another third line."""
    spec = tree / SPEC
    text = re.sub(r"^  description: .*\n", "", spec.read_text(), flags=re.MULTILINE)
    spec.write_text(
        re.sub(r"^(  name: mybackend)\b.*", rf"\1\n  description: {line}", text, count=1, flags=re.MULTILINE)
    )


def conflicting(tree):
    respell(tree)
    readme = (tree / SHARED).read_text().splitlines(keepends=True)
    readme[4] = "my own words\n"
    (tree / SHARED).write_text("".join(readme) + "my last line\n")


def stale_manifest(tree, **entries):
    manifest = json.loads((tree / MANIFEST).read_text())
    manifest["inputs"] = "another"
    for path, entry in entries.items():
        manifest["files"][path].update(entry)
    (tree / MANIFEST).write_text(json.dumps(manifest))


def test_a_conflict_is_marked_named_and_mended(openreg_gen, tree):
    conflicting(tree)
    answer = openreg_gen("generate", cwd=tree, code=1).stdout
    assert f"  {SHARED}:4\n" in answer and "1 conflict in 1 file" in answer
    text = (tree / SHARED).read_text()
    block = text[text.index("<<<<<<< yours\n") : text.index(">>>>>>> new render\n")]
    assert "my own words\n||||||| last render\n" in block and "=======\nAnother.\n" in block
    before = state(tree)
    assert f"  {SHARED}:4\n" in openreg_gen("generate", cwd=tree, code=1).stdout
    openreg_gen("generate", "--check", cwd=tree, code=1)
    assert state(tree) == before
    kept = [
        line for line in text.splitlines(keepends=True) if not re.match(r"<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>", line)
    ]
    (tree / SHARED).write_text("".join(kept))
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    assert (tree / SHARED).read_text() == "".join(kept)


@pytest.mark.parametrize(
    ("side", "there", "gone"), [("--ours", "my own words", "Another."), ("--theirs", "Another.", "my own")]
)
@pytest.mark.parametrize("late", [False, True])
def test_one_side_can_be_chosen_at_once_or_afterwards(openreg_gen, tree, side, there, gone, late):
    conflicting(tree)
    if late:
        openreg_gen("generate", cwd=tree, code=1)
    openreg_gen("generate", side, cwd=tree)
    head = "".join((tree / SHARED).read_text().splitlines(keepends=True)[:8])
    assert there in head and gone not in head and "<<<<" not in head
    assert (tree / SHARED).read_text().endswith("my last line\n")
    copy = tree / ".openreg-gen/backup/1" / SHARED
    assert copy.exists() == (side == "--theirs") and (side == "--ours" or "my own words" in copy.read_text())
    openreg_gen("generate", "--check", cwd=tree)


def test_without_git_only_a_real_merge_is_refused(openreg_gen, tree, tmp_path):
    env = {"PATH": str(tmp_path)}
    with (tree / SHARED).open("a") as file:
        file.write("mine\n")
    (tree / GENERATED).unlink()
    openreg_gen("generate", cwd=tree, env=env)
    respell(tree)
    before = state(tree)
    assert "merging needs git" in openreg_gen("generate", cwd=tree, env=env, code=1).stderr
    assert state(tree) == before
    openreg_gen("generate", cwd=tree)


def test_crlf_edits_are_merged_and_stay_crlf(openreg_gen, tree):
    text = (tree / SHARED).read_text().replace("\n", "\r\n") + "mine\r\n"
    (tree / SHARED).write_bytes(text.encode())
    respell(tree)
    openreg_gen("generate", cwd=tree)
    merged = (tree / SHARED).read_bytes()
    assert b"Another.\r\n" in merged and merged.endswith(b"mine\r\n") and merged.count(b"\n") == merged.count(b"\r\n")


def test_a_generated_file_in_crlf_is_refused_and_says_so(openreg_gen, tree):
    (tree / GENERATED).write_bytes((tree / GENERATED).read_bytes().replace(b"\n", b"\r\n"))
    assert "its lines end in CRLF" in openreg_gen("generate", cwd=tree, code=1).stderr


def test_force_keeps_a_copy_and_says_where(openreg_gen, tree):
    rendered = (tree / GENERATED).read_text()
    for number in ("1", "2"):
        (tree / GENERATED).write_text("mine\n")
        copy = f".openreg-gen/backup/{number}/{GENERATED}"
        assert copy in openreg_gen("generate", "--force", cwd=tree).stdout
        assert (tree / copy).read_text() == "mine\n" and (tree / GENERATED).read_text() == rendered
    openreg_gen("generate", "--check", cwd=tree)


def test_own_takes_a_file_and_disown_gives_it_back(openreg_gen, tree):
    rendered = (tree / GENERATED).read_text()
    assert "yours from now on" in openreg_gen("own", GENERATED, cwd=tree).stdout
    assert "Owned by you: " in (tree / GENERATED).read_text()
    (tree / GENERATED).write_text((tree / GENERATED).read_text() + "// mine\n")
    openreg_gen("generate", "--check", cwd=tree)
    (tree / "elsewhere.cpp").write_text((tree / GENERATED).read_text())
    (tree / GENERATED).unlink()
    openreg_gen("generate", cwd=tree)
    assert not (tree / GENERATED).exists()
    (tree / "elsewhere.cpp").rename(tree / GENERATED)
    openreg_gen("generate", cwd=tree)

    before = state(tree)
    answer = openreg_gen("disown", GENERATED, cwd=tree, code=1).stdout
    assert "-// mine" in answer and state(tree) == before
    openreg_gen("disown", "--yes", GENERATED, cwd=tree)
    assert (tree / GENERATED).read_text() == rendered
    assert "// mine" in (tree / ".openreg-gen/backup/1" / GENERATED).read_text()


def test_a_shared_file_that_is_given_back_is_merged(openreg_gen, tree):
    openreg_gen("own", "README.md", cwd=tree)
    with (tree / SHARED).open("a") as file:
        file.write("mine\n")
    respell(tree)
    openreg_gen("generate", cwd=tree)
    assert "Another." not in (tree / SHARED).read_text()
    openreg_gen("disown", "-y", tree / SHARED, cwd=tree)
    text = (tree / SHARED).read_text()
    assert "Another." in text and text.endswith("mine\n") and "Owned:" not in text
    openreg_gen("generate", "--check", cwd=tree)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "no/such", "notes.txt"])
def test_own_of_what_is_not_the_tools(openreg_gen, tree, path):
    (tree / "notes.txt").write_text("mine\n")
    assert "E0530" in openreg_gen("own", path, cwd=tree, code=2).stderr


def test_disown_of_what_was_not_taken(openreg_gen, tree):
    assert "E0532" in openreg_gen("disown", GENERATED, cwd=tree, code=2).stderr
    assert "hint: if you delete it" in openreg_gen("disown", KERNEL, cwd=tree, code=2).stderr
    answer = openreg_gen("disown", SPEC, cwd=tree, code=2).stderr
    assert "E0532" in answer and "delete" not in answer


def test_what_is_taken_and_deleted_is_never_written(openreg_gen, tree):
    """A folder, a pattern, and a path at which nothing is."""
    before = {name: path.read_bytes() for name, path in files(tree).items()}
    (tree / "tests/cpp/main.cpp").unlink()
    assert "tests/cpp/main.cpp: yours" in openreg_gen("own", "tests/cpp", "*.md", cwd=tree).stdout
    (tree / SHARED).unlink()
    (tree / GENERATED).unlink()
    openreg_gen("own", GENERATED, cwd=tree)
    respell(tree)
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)
    for name in (SHARED, GENERATED, "tests/cpp/main.cpp"):
        assert not (tree / name).exists()
    answer = json.loads(openreg_gen("status", "--json", cwd=tree).stdout)
    assert not answer["missing"] and {SHARED, GENERATED} < {file["path"] for file in answer["taken"]}
    for verb in (["status"], ["explain", GENERATED]):
        assert "missing, and never written" in openreg_gen(*verb, cwd=tree).stdout
    openreg_gen("disown", "--yes", "tests/cpp", GENERATED, "*.md", cwd=tree)
    for name in (GENERATED, "tests/cpp/main.cpp"):
        assert (tree / name).read_bytes() == before[name]
    assert "Another." in (tree / SHARED).read_text()
    openreg_gen("generate", "--check", cwd=tree)


def test_an_undo_that_edits_prevent_says_what_to_do(openreg_gen, tree):
    kernel = tree / "csrc/aten/native/frac_out.cpp"
    for argv, way in (
        (("add", "frac.out", "--strategy", "native"), "`openreg-gen remove OP`"),
        (("remove", "relu"), "`openreg-gen add OP`"),
        (("own", "setup.py"), "`openreg-gen disown FILE`"),
    ):
        openreg_gen(*argv, cwd=tree)
        edited = {"add": kernel, "remove": tree / "mybackend.yaml", "own": tree / "setup.py"}[argv[0]]
        edited.write_text(edited.read_text() + "\n")
        refused = openreg_gen("undo", cwd=tree, code=1).stderr
        assert "E0522" in refused and f"hint: {way}" in refused and "put them back" in refused
        assert way in json.loads(openreg_gen("undo", "--json", cwd=tree, code=1).stdout)["hint"]
        if argv[0] == "add":  # what the hint says
            mine = kernel.read_text()
            openreg_gen("remove", "frac.out", cwd=tree)
            assert kernel.read_text() == mine


def test_a_run_that_changes_nothing_leaves_the_undo(openreg_gen, tree):
    """`own` of a kernel, which is its owner's already, and a kernel that was moved."""
    before = {name: path.read_bytes() for name, path in files(tree).items()}
    openreg_gen("add", "sin", "--strategy", "native", cwd=tree)
    kernel, moved = tree / "csrc/aten/native/sin.cpp", tree / "csrc/aten/native/moved.cpp"
    undo = json.loads(openreg_gen("status", "--json", cwd=tree).stdout)["undo"]
    manifest = (tree / MANIFEST).read_bytes()
    assert undo["run"] == "add" and undo["possible"]
    assert "yours already" in openreg_gen("own", kernel, cwd=tree).stdout
    assert json.loads(openreg_gen("status", "--json", cwd=tree).stdout)["undo"] == undo
    assert (tree / MANIFEST).read_bytes() == manifest
    kernel.rename(moved)
    assert "moved here" in openreg_gen("generate", cwd=tree).stdout
    assert json.loads(openreg_gen("status", "--json", cwd=tree).stdout)["undo"] == undo | {"possible": False}
    moved.rename(kernel)
    openreg_gen("generate", cwd=tree)
    assert "undid `add`" in openreg_gen("undo", cwd=tree).stdout
    assert {name: path.read_bytes() for name, path in files(tree).items()} == before


def test_a_moved_kernel_is_found_and_not_rendered_again(openreg_gen, tree):
    (tree / "csrc/mine").mkdir()
    (tree / KERNEL).rename(tree / "csrc/mine/rectifier.cpp")
    answer = openreg_gen("generate", cwd=tree).stdout
    assert f"moved here from {KERNEL}" in answer and not (tree / KERNEL).exists()
    openreg_gen("generate", "--check", cwd=tree, env={"OPENREG_GEN_PYTHON": "/no/such/python"})
    (tree / "csrc/mine/rectifier.cpp").rename(tree / "csrc/aten/native/activation.cpp")
    openreg_gen("generate", cwd=tree)
    assert not (tree / KERNEL).exists()
    (tree / "copy.cpp").write_text((tree / "csrc/aten/native/activation.cpp").read_text())
    (tree / "csrc/aten/native/activation.cpp").rename(tree / "again.cpp")
    assert "its mark is in again.cpp and in copy.cpp" in openreg_gen("generate", cwd=tree, code=1).stderr


def test_a_kernel_with_another_signature_is_named_until_it_fits(openreg_gen, tree):
    now = json.loads((tree / MANIFEST).read_text())["files"][KERNEL]["signature"]
    was = now.replace("self)", "self, bool fast)")
    text = (tree / KERNEL).read_text()
    (tree / KERNEL).write_text(text.replace("self) {", "self, bool fast) {"))
    stale_manifest(tree, **{KERNEL: {"signature": was}})
    line = next(i for i, each in enumerate(text.splitlines(), 1) if "relu(const" in each)
    for _ in range(2):
        answer = openreg_gen("generate", cwd=tree).stdout
        assert f"  {KERNEL}:{line}\n    was  {was}\n    now  {now}\n" in answer
    assert "drifted" in openreg_gen("generate", "--check", cwd=tree, code=1).stdout
    (tree / KERNEL).write_text(text.replace("const at::Tensor& self) {", "at::Tensor const& x) {"))
    openreg_gen("generate", "--check", cwd=tree, code=1)
    (tree / KERNEL).write_text(text.replace("const at::Tensor& self) {", "const Tensor& mine) {"))
    openreg_gen("generate", cwd=tree)
    openreg_gen("generate", "--check", cwd=tree)


def test_undo_takes_the_last_run_back_and_does_it_again(openreg_gen, tree):
    assert "E0531" in openreg_gen("undo", cwd=tree, code=1).stderr
    respell(tree)
    (tree / GENERATED).unlink()
    before = {name: path.read_bytes() for name, path in files(tree).items()}
    openreg_gen("generate", cwd=tree)
    after = {name: path.read_bytes() for name, path in files(tree).items()}
    assert f"  remove    {GENERATED}" in openreg_gen("undo", "--dry-run", cwd=tree).stdout
    assert "-Another." in openreg_gen("undo", "--diff", cwd=tree).stdout
    openreg_gen("undo", cwd=tree)
    assert {name: path.read_bytes() for name, path in files(tree).items()} == before
    redone = openreg_gen("undo", cwd=tree).stdout
    assert "redid `" in redone and "run `openreg-gen undo` again to undo it" in redone
    assert {name: path.read_bytes() for name, path in files(tree).items()} == after
    with (tree / SHARED).open("a") as file:
        file.write("mine\n")
    answer = openreg_gen("undo", cwd=tree, code=1).stderr
    assert "E0522" in answer and f"  {SHARED}\n" in answer


def test_status_and_check_agree(openreg_gen, tree):
    def state():
        (line,) = [line for line in openreg_gen("status", cwd=tree).stdout.splitlines() if line.startswith("State")]
        return line.partition("State")[2].strip()

    assert state() == "up to date"
    openreg_gen("generate", "--check", cwd=tree)
    (tree / SHARED).write_text((tree / SHARED).read_text() + "\nmine\n")  # an owner's edit, which a merge keeps
    openreg_gen("generate", "--check", cwd=tree)
    assert state() == "up to date"
    before = (tree / GENERATED).read_text()
    (tree / GENERATED).write_text(before + "\n")
    assert "1 edited" in openreg_gen("generate", "--check", cwd=tree, code=1).stdout
    assert state() == "1 generated file edited"
    (tree / GENERATED).unlink()
    assert "missing" in openreg_gen("generate", "--check", cwd=tree, code=1).stdout
    assert state() == "1 file missing"


def test_an_undo_that_leaves_the_files_has_nothing_to_build(openreg_gen, tree):
    openreg_gen("own", GENERATED, cwd=tree)
    assert "Next:" not in openreg_gen("undo", cwd=tree).stdout


def test_undo_of_add_takes_the_spec_back_too(openreg_gen, tree):
    before = {name: path.read_bytes() for name, path in files(tree).items()}
    openreg_gen("add", "nonzero", cwd=tree)
    assert "undid `add`" in openreg_gen("undo", cwd=tree).stdout
    assert {name: path.read_bytes() for name, path in files(tree).items()} == before


def test_an_edited_kernel_that_left_the_spec_stays(openreg_gen, tree):
    kernel = "csrc/aten/native/maximum_out.cpp"
    with (tree / kernel).open("a") as file:
        file.write("// mine\n")
    assert "kept, since you edited it" in openreg_gen("remove", "maximum.out", cwd=tree).stdout
    assert (tree / kernel).exists()
    openreg_gen("generate", "--check", cwd=tree)


def test_status_tells_what_its_owner_did(openreg_gen, tree):
    answer = json.loads(openreg_gen("status", "--json", cwd=tree).stdout)
    assert answer["undo"] is None and not answer["edited_generated"]
    (tree / GENERATED).write_text("mine\n")
    with (tree / KERNEL).open("a") as file:
        file.write("// mine\n")
    openreg_gen("own", "setup.py", cwd=tree)
    text = openreg_gen("status", cwd=tree).stdout
    answer = json.loads(openreg_gen("status", "--json", cwd=tree).stdout)
    paths = {key: [file["path"] for file in value] for key, value in answer.items() if isinstance(value, list)}
    assert paths["edited_generated"] == [GENERATED] and paths["written"] == [KERNEL] and paths["taken"] == ["setup.py"]
    assert answer["undo"] == {"run": "own", "files": 1, "possible": True}
    assert "Taken with `own` (1)\n  setup.py\n" in text
