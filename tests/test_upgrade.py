"""Trees that older versions left, with other templates or headers, merge forward. tests/frozen/make.py made them."""

import json
import pathlib

import pytest
from trees import MANIFEST, SHARED, files, state, unpack

FROZEN = pathlib.Path(__file__).parent / "frozen/old_tree.tar.xz"
KERNEL = "csrc/aten/native/relu.cpp"
OLD_LINE = "// a line of older templates\n"


@pytest.fixture
def old(tmp_path):
    unpack(FROZEN, tmp_path)
    return tmp_path / "old"


def fresh(openreg_gen, old, tmp_path):
    openreg_gen("new", "olddevice", "--profile", "full", "--spec", old / "olddevice.yaml", "--out", tmp_path / "fresh")
    return tmp_path / "fresh"


def test_an_untouched_tree_becomes_what_new_renders(openreg_gen, old, tmp_path):
    assert (old / "csrc/runtime/Guard.cpp").read_text().endswith(OLD_LINE)
    openreg_gen("generate", cwd=old)
    expected = fresh(openreg_gen, old, tmp_path)
    kept = json.loads((old / MANIFEST).read_text())["files"]
    for name, path in files(expected).items():
        if not name.startswith(".openreg-gen/") and kept[name]["class"] != "owned":
            assert (old / name).read_bytes() == path.read_bytes(), name
    assert not (old / "csrc/runtime/Legacy.h").exists()
    before = state(old)
    assert openreg_gen("generate", cwd=old).stdout.startswith("up to date")
    assert state(old) == before


def test_it_is_reported_once_what_its_spec_means_now(openreg_gen, old):
    note = "note: `fallback: cpu` used to copy"
    assert note in openreg_gen("generate", cwd=old).stdout
    spec = old / "olddevice.yaml"
    spec.write_text(spec.read_text() + "\n# another line\n")
    assert note not in openreg_gen("generate", cwd=old).stdout


def test_the_owners_lines_come_along(openreg_gen, old):
    readme, kernel = (old / "README.md").read_text(), (old / KERNEL).read_text()
    middle = readme.index("\n\n", len(readme) // 2)
    (old / "README.md").write_text(readme[:middle] + "\n\nMine, all mine." + readme[middle:])
    (old / KERNEL).write_text(kernel + "// mine\n")
    (old / "csrc/runtime/Legacy.h").write_text("// mine\n")
    spec = (old / "olddevice.yaml").read_text()
    openreg_gen("generate", cwd=old)
    merged = (old / "README.md").read_text()
    assert "\nMine, all mine.\n" in merged and "<<<<<<<" not in merged and "0.0.9" not in merged
    assert (old / KERNEL).read_text() == kernel + "// mine\n"
    assert (old / "csrc/runtime/Legacy.h").read_text() == "// mine\n"
    assert (old / "csrc/runtime/Serialization.cpp").exists()
    assert (old / "olddevice.yaml").read_text() == spec
    openreg_gen("generate", "--check", cwd=old)


@pytest.fixture
def flat(tmp_path):
    unpack(FROZEN.with_name("flat_folders.tar.xz"), tmp_path)
    return tmp_path / "old"


GONE = ("Im2col.h", "Im2col.cpp", "GemmConvolution.h", "GemmConvolution.cpp")  # of simulated devices
NATIVE = "csrc/aten/native/"


def test_files_that_moved_into_folders_carry_their_owners_edits(openreg_gen, flat, tmp_path):
    """What was edited is merged at the new place, what the owner took with `own` is there as it was, and nothing stays behind."""
    openreg_gen("own", NATIVE + "Matmul.cpp", cwd=flat, code=None)
    mine = (flat / NATIVE / "Matmul.cpp").read_text() + "// taken\n"
    (flat / NATIVE / "Matmul.cpp").write_text(mine)
    text = (flat / NATIVE / "Gemm.cpp").read_text()
    (flat / NATIVE / "Gemm.cpp").write_text(text + "// mine\n")
    assert '#include "aten/native/Gemm.h"' in text
    (flat / NATIVE / "nonzero.cpp").write_text("// my kernel\n")
    before = state(flat)
    answer = json.loads(openreg_gen("generate", "--json", cwd=flat).stdout)["files"]
    said = {file["path"]: (file["action"], file["reason"]) for file in answer}
    assert said[NATIVE + "gemm/Gemm.cpp"] == ("merge", f"your edits and the new render; was {NATIVE}Gemm.cpp")
    assert said[NATIVE + "Gemm.cpp"] == ("remove", "has another path now")
    merged = (flat / NATIVE / "gemm/Gemm.cpp").read_text()
    assert merged.endswith("// mine\n") and '#include "aten/native/gemm/Gemm.h"' in merged
    assert (flat / NATIVE / "gemm/Matmul.cpp").read_text() == mine
    assert (flat / NATIVE / "nonzero.cpp").read_text() == "// my kernel\n"
    expected = fresh(openreg_gen, flat, tmp_path)
    assert (flat / NATIVE / "gemm/Gemm.h").read_bytes() == (expected / NATIVE / "gemm/Gemm.h").read_bytes()
    for name in ("Gemm.cpp", "Gemm.h", "Matmul.cpp", *GONE):
        assert not (flat / NATIVE / name).exists()
        assert not (flat / ".openreg-gen/pristine" / NATIVE / name).exists()
    gone = (
        "RegisterNative_n.cpp",
        "RegisterNative_r.cpp",
        "../runtime/CurrentStream.h",
        "../runtime/DeviceAllocator.h",
    )
    assert [name for name in gone if (flat / "csrc/aten" / name).exists()] == []
    assert (flat / "csrc/aten/RegisterNative.cpp").is_file()
    openreg_gen("generate", "--check", cwd=flat)
    openreg_gen("generate", "--force", cwd=flat)
    assert (flat / NATIVE / "gemm/Gemm.cpp").read_text() == merged
    openreg_gen("undo", cwd=flat)
    assert state(flat) == before


def test_a_moved_file_that_conflicts_is_at_its_new_place(openreg_gen, flat):
    text = (flat / NATIVE / "Gemm.cpp").read_text()
    edited = text.replace('#include "aten/native/Gemm.h"', '#include "aten/native/Gemm.h"  // mine')
    (flat / NATIVE / "Gemm.cpp").write_text(edited)
    openreg_gen("generate", cwd=flat, code=None)
    assert "<<<<<<<" in (flat / NATIVE / "gemm/Gemm.cpp").read_text()
    assert not (flat / NATIVE / "Gemm.cpp").exists()
    openreg_gen("generate", "--ours", cwd=flat)
    assert '#include "aten/native/Gemm.h"  // mine' in (flat / NATIVE / "gemm/Gemm.cpp").read_text()


def test_an_operator_can_be_added_to_it(openreg_gen, old):
    openreg_gen("add", "nonzero", cwd=old)
    assert "  nonzero: native\n" in (old / "olddevice.yaml").read_text()
    assert json.loads((old / MANIFEST).read_text())["tool"] != "0.0.9"
    openreg_gen("generate", "--check", cwd=old)


@pytest.fixture
def with_version(tmp_path):
    unpack(FROZEN.with_name("version_in_header.tar.xz"), tmp_path)
    root = tmp_path / "old"
    assert "Written by openreg-gen 0.1.0 from" in (root / SHARED).read_text()
    return root


def test_headers_lose_the_version(openreg_gen, with_version, tmp_path):
    root = with_version
    before = {name: path.read_bytes() for name, path in files(root).items()}
    answer = json.loads(openreg_gen("generate", "--json", cwd=root).stdout)["files"]
    expected = fresh(openreg_gen, root, tmp_path)
    for file in answer:
        name = file["path"]
        if file["class"] == "owned" and name in before:
            assert file["action"] == "keep" and (root / name).read_bytes() == before[name], file
        elif name in before and (expected / name).exists():
            assert (file["action"], file["reason"]) in [("update", "stale"), ("unchanged", "")], file
            assert (root / name).read_bytes() == (expected / name).read_bytes(), name
            assert b"Written by openreg-gen 0.1.0" not in (root / name).read_bytes(), name
    openreg_gen("generate", "--check", cwd=root)


def test_edits_beside_the_version_are_kept(openreg_gen, with_version):
    root = with_version
    kernel = (root / KERNEL).read_text() + "// mine\n"
    (root / KERNEL).write_text(kernel)
    for name, line in ((SHARED, "<!-- Ours, too. -->\n"), (".gitignore", "# Ours, too.\n")):
        (root / name).write_text(line + (root / name).read_text())
    openreg_gen("generate", cwd=root)
    for name, line in ((SHARED, "<!-- Ours, too. -->\n"), (".gitignore", "# Ours, too.\n")):
        merged = (root / name).read_text()
        assert merged.startswith(line) and "Written by openreg-gen from" in merged, name
        assert "<<<<<<<" not in merged and "0.1.0 from" not in merged, name
    assert (root / KERNEL).read_text() == kernel
    openreg_gen("generate", "--check", cwd=root)


def test_files_with_the_version_are_taken_and_given_back(openreg_gen, with_version, tmp_path):
    root = with_version
    taken = ("CMakeLists.txt", SHARED)
    openreg_gen("own", *taken, cwd=root)
    (root / SHARED).write_text("<!-- Ours, too. -->\n" + (root / SHARED).read_text())
    as_taken = [(root / name).read_bytes() for name in taken]
    assert all(b"0.1.0 from" in text and b"Owned: yours" in text for text in as_taken)
    openreg_gen("generate", cwd=root)
    assert [(root / name).read_bytes() for name in taken] == as_taken
    openreg_gen("disown", "--yes", *taken, cwd=root)
    expected = fresh(openreg_gen, root, tmp_path)
    assert (root / "CMakeLists.txt").read_text() == (expected / "CMakeLists.txt").read_text()
    assert (root / SHARED).read_text() == "<!-- Ours, too. -->\n" + (expected / SHARED).read_text()
