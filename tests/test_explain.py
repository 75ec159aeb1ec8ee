"""openreg-gen explain, as a process."""

import functools
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent


def test_a_file_of_a_tree(openreg_gen, tree):
    answer = openreg_gen("explain", "csrc/runtime/Guard.cpp", cwd=tree).stdout
    assert "templates/csrc/runtime/Guard.cpp.j2" in answer and "the device guard, registered" in answer
    assert "as openreg-gen wrote it" in answer and "Note [Device guard]" in answer
    assert "c10::impl::DeviceGuardImplInterface" in answer
    facts = json.loads(openreg_gen("explain", "Guard.cpp", "--json", cwd=tree / "csrc/runtime").stdout)
    assert facts["class"] == "generated" and facts["key"] == "backend" and len(facts["virtuals"]) > 10
    (tree / "README.md").write_text("mine\n")
    assert "edited since" in openreg_gen("explain", tree / "README.md", cwd="/").stdout
    (tree / "mine.txt").write_text("")
    assert "openreg-gen did not write it" in openreg_gen("explain", "mine.txt", cwd=tree).stdout


def test_both_files_of_an_operator_name_it(openreg_gen, tmp_path):
    openreg_gen("new", "mine", "--device", "opencl", cwd=tmp_path)
    for path in ("csrc/aten/native/frac_out.cpp", "torch_mine/opencl/kernels/frac_out.cl"):
        facts = json.loads(openreg_gen("explain", path, "--json", cwd=tmp_path / "torch_mine").stdout)
        assert (facts["op"], facts["class"]) == ("frac.out", "owned")


def test_each_registered_line_names_its_operator(openreg_gen, tree):
    name = "csrc/aten/RegisterMinimal.cpp"
    lines = (tree / name).read_text().splitlines()
    rows = [i for i, line in enumerate(lines, 1) if '_IMPL(m, "' in line]
    assert len(rows) > 10
    for row in rows[:3]:
        op = json.loads(openreg_gen("explain", f"{name}:{row}", "--json", cwd=tree).stdout)["op"]
        assert f'"{op}"' in lines[row - 1]


def test_a_line_of_the_spec(openreg_gen, tree):
    lines = (tree / "mybackend.yaml").read_text().splitlines()
    row = next(i for i, line in enumerate(lines, 1) if "count:" in line)
    assert "device.count: Devices of the emulator." in openreg_gen("explain", f"mybackend.yaml:{row}", cwd=tree).stdout
    row = next(i for i, line in enumerate(lines, 1) if "relu:" in line)
    assert "explain relu`" in openreg_gen("explain", f"mybackend.yaml:{row}", cwd=tree).stdout


def test_an_operator_with_and_without_a_tree(openreg_gen, tree, tmp_path):
    assert "mybackend.yaml:" in openreg_gen("explain", "relu", cwd=tree).stdout
    answer = openreg_gen("explain", "aten::relu", cwd=tmp_path).stdout
    assert "threshold_backward(grad, result, 0)" in answer and "this tree" not in answer
    assert "torch.ops.mybackend.custom_abs" in openreg_gen("explain", "custom_abs", cwd=tree).stdout


def test_what_a_composite_is_made_of(openreg_gen, tmp_path):
    explain = functools.partial(openreg_gen, "explain", cwd=tmp_path)
    answer = json.loads(explain("linear", "--json").stdout)["decomposition"]
    assert answer["torch"] and {"addmm", "t"} <= set(answer["into"]) and "matmul" not in answer["ends_in"]
    assert "decomposes   into addmm, " in explain("linear").stdout
    reached = json.loads(explain("addmm.out", "--json").stdout)["decomposition"]["reached_from"]
    assert "linear" in reached and "lstm.input" in reached and reached.index("linear") < reached.index("lstm.input")
    assert " more (traced with PyTorch " in explain("bmm.out").stdout
    assert "not traced" in explain("_dim_arange").stdout
    assert "decomposes" not in explain("relu").stdout


@pytest.mark.parametrize("name", ["linear", "matmul", "cross_entropy_loss"])
def test_the_trace_is_of_operators_that_there_are(openreg_gen, tmp_path, name):
    known = {op["op"] for op in json.loads(openreg_gen("ops", "--json", cwd=tmp_path).stdout)}
    answer = json.loads(openreg_gen("explain", name, "--json", cwd=tmp_path).stdout)["decomposition"]
    assert known.issuperset(answer["into"] + answer["ends_in"] + answer["reached_from"])


def test_a_diagnostic(openreg_gen, tmp_path):
    assert openreg_gen("explain", "e0203", cwd=tmp_path).stdout.startswith("E0203: composite operator\n\n  PyTorch")


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("E0999", "E0554"),
        ("csrc/runtime/Gard.cpp", "did you mean 'csrc/runtime/Guard.cpp'?"),
        ("addd.out", "did you mean 'add.out'?"),
    ],
)
def test_what_is_not_there(openreg_gen, tree, what, answer):
    assert answer in openreg_gen("explain", what, cwd=tree, code=2).stderr


def test_the_shipped_decompositions_are_those_of_this_pytorch(tmp_path):
    fresh = tmp_path / "decompositions.json"
    subprocess.run([sys.executable, ROOT / "scripts/decompositions.py", fresh], check=True, capture_output=True)
    traced, shipped = json.loads(fresh.read_text()), json.loads((ROOT / "specs/decompositions.json").read_text())
    assert traced["torch"] == shipped["torch"]
    assert len(traced["ops"]) > 500
    # Some, since others may depend on what the CPU can do.
    for op in ("einsum", "gru_cell", "layer_norm", "linear", "linalg_matmul", "matmul"):
        assert traced["ops"][op] == shipped["ops"][op]
