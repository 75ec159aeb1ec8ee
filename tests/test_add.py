"""openreg-gen add and remove, as a process: the spec and the tree change together, or not at all."""

import json
import subprocess

import pytest
from trees import MANIFEST, files, state

SPEC = "mybackend.yaml"


def changed(before, after):
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_add_writes_the_spec_and_what_follows_from_it(openreg_gen, tree):
    text, before = (tree / SPEC).read_text(), state(tree)
    answer = openreg_gen("add", "nonzero", "sin", cwd=tree).stdout
    assert "add nonzero as native: " in answer
    assert "add sin.out as in_tree: serves 'sin' too; " in answer
    lines = (tree / SPEC).read_text().splitlines(keepends=True)
    assert "  nonzero: native\n" in lines and "  sin.out: in_tree\n" in lines
    assert "".join(line for line in lines if line not in ("  nonzero: native\n", "  sin.out: in_tree\n")) == text
    touched = changed(before, state(tree))
    assert {"csrc/aten/native/nonzero.cpp", SPEC, MANIFEST} <= touched
    assert not {name for name in touched if name.startswith("csrc/runtime")}
    openreg_gen("generate", "--check", cwd=tree)


@pytest.mark.parametrize(
    ("op", "files"),
    [
        ("nonzero", "CMakeLists.txt aten/native/nonzero.cpp"),
        ("cos", "aten/in_tree/UnaryOps.cpp"),
        ("topk", "CMakeLists.txt aten/native/topk_values.cpp"),
        ("mode", "aten/RegisterFallback.cpp"),
    ],
)
def test_add_touches_its_kernel_and_its_registration_only(openreg_gen, tree, op, files):
    """Units that ninja builds again: no header that others include may change. CMake runs again for a new file anyway."""
    before = state(tree)
    openreg_gen("add", op, *(("--strategy", "cpu_fallback") if op == "mode" else ()), cwd=tree)
    touched = changed(before, state(tree))
    assert touched == {*(f"csrc/{name}" for name in files.split()), SPEC, MANIFEST, "torch_mybackend/testing/spec.py"}


def test_a_kernel_that_the_spec_no_longer_names_is_not_compiled(openreg_gen, tree, tmp_path):
    """It is found by its mark, wherever its owner has moved it; files without one are the owner's own matter."""
    openreg_gen("add", "nonzero", cwd=tree)
    moved = tree / "csrc/aten/native/mine.cpp"
    (tree / "csrc/aten/native/nonzero.cpp").rename(moved)
    moved.write_text(moved.read_text() + "// edited\n")
    own = tree / "csrc/aten/native/own.cpp"
    own.write_text('MYBACKEND_KERNEL("sin", at::_ops::sin, own_sin);\n')

    def compiled():
        text = (tree / "csrc/CMakeLists.txt").read_text()
        script = tmp_path / "sources.cmake"
        begin, end = text.index("set(own_kernels"), text.index("add_library(torch_mybackend")
        files = " ".join(f'"{path}"' for path in (moved, own, tree / "csrc/aten/native/relu.cpp"))
        script.write_text(f'set(sources {files})\n{text[begin:end]}message(STATUS "compiled: ${{sources}}")\n')
        answer = subprocess.run(["cmake", "-P", script], check=True, capture_output=True, text=True)
        return [name for name in ("mine", "own", "relu") if f"/{name}.cpp" in answer.stdout], answer.stderr

    assert compiled() == (["mine", "own", "relu"], "")
    openreg_gen("generate", cwd=tree)
    openreg_gen("remove", "nonzero", cwd=tree)
    assert moved.exists()
    found, warning = compiled()
    assert found == ["own", "relu"]
    assert "aten::nonzero" in warning and "mine.cpp" in warning


@pytest.mark.parametrize(
    ("device", "on_host"),
    [
        ("emulator", "exp.out relu index_select"),
        ("external", "exp.out relu index_select maximum.out abs.out hypot.out mm.out"),
        ("opencl", "exp.out relu abs.out"),
    ],
)
def test_add_says_what_the_host_computes_at_first(openreg_gen, tmp_path, device, on_host):
    spec = tmp_path / "mybackend.yaml"
    spec.write_text(f"backend: {{name: mybackend}}\ndevice: {{api: {device}}}\nops: {{neg.out: in_tree}}\n")
    tree = tmp_path / "tree"
    openreg_gen("new", "mybackend", "--spec", str(spec), "--out", str(tree), cwd=tmp_path)
    options = {
        "exp.out": (),
        "relu": ("--strategy", "native"),
        "index_select": ("--strategy", "native"),
        "maximum.out": ("--strategy", "structured"),
        "abs.out": ("--strategy", "stub"),
        "hypot.out": ("--expr", "std::hypot(self, other)"),
        "mm.out": (),
    }
    for op, words in options.items():
        expected = op in on_host.split()
        answer = openreg_gen("add", op, *words, "--dry-run", "--json", cwd=tree).stdout
        (added,) = json.loads(answer)["added"]
        assert (added["op"], added["on_host"]) == (op, expected)
        said = "computed on the host until its kernel is written"
        if added["strategy"] == "in_tree":
            said = "computed by PyTorch's function for the CPU, and there is nothing to write"
        assert (
            (said in openreg_gen("add", op, *words, "--dry-run", cwd=tree).stdout) == (said in added["why"]) == expected
        )


def test_remove_undoes_add(openreg_gen, tree):
    before = {name: path.read_bytes() for name, path in files(tree).items()}
    openreg_gen("add", "nonzero", "my_op(Tensor x, int k=2) -> Tensor", cwd=tree)
    openreg_gen("remove", "nonzero", "mybackend::my_op", "nonzero", cwd=tree)
    assert {name: path.read_bytes() for name, path in files(tree).items()} == before


def test_remove_keeps_a_kernel_that_somebody_wrote(openreg_gen, tree):
    openreg_gen("add", "nonzero", cwd=tree)
    kernel = tree / "csrc/aten/native/nonzero.cpp"
    kernel.write_text("mine\n")
    answer = openreg_gen("remove", "nonzero", cwd=tree).stdout
    assert "csrc/aten/native/nonzero.cpp" in answer and "edited" in answer
    assert kernel.read_text() == "mine\n"


def test_a_minimal_tree_leaves_such_a_kernel_out(openreg_gen, tmp_path):
    openreg_gen("new", "mybackend", "--profile", "minimal", "--out", "tree", cwd=tmp_path)
    tree = tmp_path / "tree"
    openreg_gen("add", "leaky_relu.out", "--strategy", "native", cwd=tree)
    assert "set(own_kernels\n  leaky_relu.out)" in (tree / "csrc/CMakeLists.txt").read_text()
    with (tree / "csrc/aten/native/leaky_relu_out.cpp").open("a") as kernel:
        kernel.write("// mine\n")
    openreg_gen("remove", "leaky_relu.out", cwd=tree)
    assert (tree / "csrc/aten/native/leaky_relu_out.cpp").exists()
    assert "set(own_kernels)\nforeach" in (tree / "csrc/CMakeLists.txt").read_text()


@pytest.mark.parametrize("flag", ["--dry-run", "--diff"])
def test_looking_changes_nothing(openreg_gen, tree, flag):
    before = state(tree)
    answer = openreg_gen("add", "nonzero", flag, cwd=tree).stdout
    assert state(tree) == before
    assert ("+  nonzero: native" if flag == "--diff" else f"update    {SPEC}") in answer


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (["nonzeroo"], ["E0201", "did you mean 'nonzero'?"]),
        (["matmul", "view", "relu"], ["E0203", "E0209", "E0551", f"{SPEC}:"]),
        (["f(Tenso x) -> Tensor"], ["E0162", "did you mean 'Tensor'?"]),
        (["atan2.out", "--expr", "self * othr"], ["E0208", "did you mean 'other'?"]),
        (["nonzero", "--strategy", "stub"], ["E0206"]),
        (["nonzero", "--stratgy", "stub"], ["E0500", "did you mean '--strategy'?"]),
        ([], ["E0500"]),
        (["nonzero", "--limit", "3"], ["E0500", "--model"]),
    ],
)
def test_what_cannot_be_added_changes_nothing(openreg_gen, tree, words, codes):
    before = state(tree)
    answer = openreg_gen("add", *words, cwd=tree, code=2).stderr
    assert all(code in answer for code in codes), answer
    assert state(tree) == before


def test_a_tree_that_would_be_refused_keeps_its_spec(openreg_gen, tree):
    (tree / "csrc/aten/RegisterMinimal.cpp").write_text("mine\n")
    before = state(tree)
    answer = openreg_gen("add", "nonzero", cwd=tree, code=1).stderr
    assert "RegisterMinimal.cpp" in answer
    assert state(tree) == before


def test_a_recorded_model_says_what_to_add(openreg_gen, tree, tmp_path):
    ops = [("matmul", 9.0), ("nonzero", 0.5), ("sin.out", 2.0), ("relu", 3.0)]
    rows = [{"op": op, "calls": 2, "fallback": 2, "bytes": 8, "seconds": seconds} for op, seconds in ops]
    recorded = tmp_path / "model.json"
    recorded.write_text(json.dumps({"format": "openreg-gen ops", "version": 1, "torch": "2.13.0", "ops": rows}))
    answer = json.loads(openreg_gen("add", "--model", recorded, "--limit", "1", "--json", cwd=tree).stdout)
    assert [one["op"] for one in answer["added"]] == ["sin.out"]
    assert answer["left_out"] == "1 beyond --limit, 1 composite, 1 in the spec already"
    answer = openreg_gen("add", "--model", recorded, cwd=tree).stdout
    assert "add nonzero as native" in answer and "sin.out as" not in answer
    (tmp_path / "broken.json").write_text("{")
    assert "broken.json" in openreg_gen("add", "--model", tmp_path / "broken.json", cwd=tree, code=2).stderr


def test_a_json_spec_is_edited_too(openreg_gen, tmp_path):
    spec = tmp_path / "spec.json"
    spec.write_text('{\n    "backend": {\n        "name": "mychip"\n    }\n}\n')
    openreg_gen("new", "mychip", "--spec", spec, cwd=tmp_path)
    openreg_gen("add", "nonzero", cwd=tmp_path / "torch_mychip")
    text = (tmp_path / "torch_mychip/mychip.json").read_text()
    assert text.endswith('},\n    "profile": "standard",\n    "ops": {\n        "nonzero": "native"\n    }\n}\n')


def test_what_would_be_added_has_no_place_in_the_spec(openreg_gen, tree):
    before = (tree / "mybackend.yaml").read_text()
    argv = ("add", "atan2.out", "--expr", "std::atan2(self, other) + z")
    (found,) = json.loads(openreg_gen(*argv, "--json", cwd=tree, code=2).stdout)["diagnostics"]
    assert (found["code"], found["file"], found["line"]) == ("E0208", None, None)
    assert "std::atan2(self, other) + z" in found["message"]
    (found,) = json.loads(openreg_gen("add", "abs.out", "--json", cwd=tree, code=2).stdout)["diagnostics"]
    assert "  abs.out:" in before.splitlines()[found["line"] - 1]
