"""Adopt: a spec from a backend that was written by hand, in the styles that vendors use; and from this project's own trees.

`byhand` has its kernels by hand, by torchgen's yaml, behind DispatchStubs, boxed, in Python. facts.json is
what `openreg_gen.adopt.read` says of it, so that most tests need no build.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml
from byhand import build

WORKBENCH = build.FOLDER.parents[2] / "generator/workbench"
ROOT = build.FOLDER.parents[2]
MINUTES = 1800


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    file = tmp_path_factory.mktemp("facts") / "facts.json"
    file.write_text((build.FOLDER / "facts.json").read_text().replace("FOLDER", str(build.FOLDER)))
    return file


@pytest.fixture(scope="module")
def adopted(facts, openreg_gen, tmp_path_factory):
    """The command's JSON and the tree."""
    pytest.importorskip("tree_sitter_cpp")
    where = tmp_path_factory.mktemp("adopted")
    words = ("new", "byhand", "--from", "byhand", "--facts", facts, "--sources", build.SOURCES, "--json")
    return json.loads(openreg_gen(*words, cwd=where).stdout)["adoption"], where / "torch_byhand"


def spec_of(tree, name):
    return yaml.safe_load((tree / f"{name}.yaml").read_text())


def strategies(spec):
    return {op: entry if isinstance(entry, str) else entry["strategy"] for op, entry in spec["ops"].items()}


def line_of(file, text):
    lines = (build.SOURCES / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_each_style_has_its_strategy(adopted):
    assert strategies(spec_of(adopted[1], "byhand")) == {
        **dict.fromkeys(("abs.out", "logical_not.out"), "stub"),
        **dict.fromkeys(
            ("relu", "relu_", "hypot.out", "flip", "roll", "log_sigmoid_forward", "leaky_relu", "trace"), "native"
        ),
        **dict.fromkeys(("add.Tensor", "add_.Tensor", "mul.Tensor", "mul.Scalar", "sum.dim_IntList"), "native"),
        **dict.fromkeys(("bitwise_not.out", "_prelu_kernel"), "native"),
        "sub.Tensor": "cpu_fallback",
        "poisson": "unsupported",
    }


def test_what_is_no_operator_of_the_spec_is_listed(adopted):
    becomes = {row["op"]: row["strategy"] for row in adopted[0]["operators"]}
    assert {op for op, what in becomes.items() if what == "Python"} == {"frac", "sinc"}
    assert becomes["square"] == "left out"  # the fallback hides a composite
    assert becomes["mul.out"] == "left out"  # torchgen makes it of mul.Tensor
    assert {op for op, what in becomes.items() if what == "the tree's own"} >= {"empty_strided", "_copy_from", "view"}


def test_autocast_custom_operators_and_fallback(adopted):
    spec = spec_of(adopted[1], "byhand")
    assert spec["amp"] == {
        "dtypes": ["float16", "bfloat16"],
        "preset": "none",
        "add": {
            "lower_precision_fp": ["linear", "mm"],
            "fp32": ["exp", "logaddexp"],
            "fp32_set_opt_dtype": ["sum.dim_IntList"],
            "promote": ["addcmul"],
        },
    }
    assert [row["schema"] for row in spec["custom_ops"]] == [
        "kernel_calls(Tensor self) -> int",
        "scale(Tensor self, float factor) -> Tensor",
    ]
    assert spec["fallback"] == "cpu" and spec["device"] == {"api": "external"}
    assert spec["ops"]["poisson"]["reason"] == "byhand has no sampler of Poisson's distribution"


def test_all_that_is_unclear_has_its_place(adopted):
    rows = {row["what"]: row for row in adopted[0]["unclear"]}
    assert set(rows) == {"byhand::scale", "mul.Scalar", "square", "the device's memory", "the device's name"}
    assert rows["square"]["file"].endswith("fallback.cpp")
    assert rows["square"]["line"] == line_of("fallback.cpp", 'm.impl("square"')
    text = (adopted[1] / "byhand.yaml").read_text()
    assert f"#   csrc/fallback.cpp:{rows['square']['line']}: square: the fallback hides a composite" in text
    relu = line_of("unary.cpp", 'm.impl("relu"')
    assert re.search(rf"^  relu: native  # csrc/unary.cpp:{relu}$", text, re.MULTILINE)


def test_code_is_in_the_operators_own_files(adopted):
    native = adopted[1] / "csrc/aten/native"
    relu = (native / "relu.cpp").read_text()
    assert "return unary(x, [](const at::Tensor& there) { return at::clamp_min(there, 0); });" in relu
    assert "at::Tensor relu(const at::Tensor& self) {\n  return ::byhand::adopted::" in relu
    assert 'BYHAND_KERNEL("relu", at::_ops::relu, relu, "native");' in relu and "host_call" not in relu
    assert "from.abs()" in (native / "abs_out.cpp").read_text()
    assert "there.scalar_type()" not in (native / "trace.cpp").read_text()  # a lambda's own body
    assert "at::IntArrayRef shifts" in (native / "roll.cpp").read_text()  # as the kernel takes them
    header = (adopted[1] / "csrc/adopted/unary.h").read_text()
    assert "at::Tensor unary(" in header and "at::Tensor relu(" not in header
    assert "NativeFunctions" not in (adopted[1] / "csrc/adopted/native_functions.h").read_text()


def test_kernels_in_python_move(adopted):
    package = adopted[1] / "torch_byhand"
    assert (package / "adopted/kernels.py").read_text() == (build.FOLDER / "byhand/kernels.py").read_text()
    assert (
        (package / "__init__.py").read_text().endswith("    from . import adopted  # noqa: F401  # kernels in Python\n")
    )


def test_the_tree_stays_a_tree(adopted, openreg_gen):
    assert "up to date" in openreg_gen("status", "-C", adopted[1]).stdout
    openreg_gen("generate", "-C", adopted[1])
    assert "_moved" in (adopted[1] / "csrc/aten/native/relu.cpp").read_text()


def test_a_dry_run_is_a_report(facts, openreg_gen, tmp_path):
    pytest.importorskip("tree_sitter_cpp")
    words = ("new", "byhand", "--from", "byhand", "--facts", facts, "--sources", build.SOURCES, "--dry-run")
    report = openreg_gen(*words, cwd=tmp_path).stdout
    assert not list(tmp_path.iterdir())
    for heading in ("The tree takes over", "The tree would add", "Stays yours", "Unclear (5)"):
        assert f"\n{heading}\n" in report
    assert "44 of 95 answer today" in report and "missing view: unfold" in report
    assert max(map(len, report.splitlines())) <= 112


def test_without_sources_nothing_is_guessed(facts, openreg_gen, tmp_path):
    words = ("new", "byhand", "--from", "byhand", "--facts", facts, "--dry-run", "--json")
    rows = json.loads(openreg_gen(*words, cwd=tmp_path).stdout)["adoption"]
    unclear = {row["what"] for row in rows["unclear"]}
    assert {"relu", "abs.out", "poisson", "autocast of mm", "byhand::scale"} <= unclear
    assert not any(row["moved"] for row in rows["operators"])


def write(*words, code=0, **environment):
    paths = os.pathsep.join([*environment.pop("paths", ()), str(WORKBENCH)])
    command = [sys.executable, *map(str, words)]
    variables = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **environment, "PYTHONPATH": paths}
    done = subprocess.run(command, check=False, env=variables, capture_output=True, text=True, timeout=MINUTES)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_a_parser_that_is_missing(facts, tmp_path):
    (tmp_path / "tree_sitter.py").write_text("raise ImportError('no module')")
    (tmp_path / "operators.json").write_text('{"operators": {}, "refused": {}, "autocast": []}')
    words = [
        "--name",
        "byhand",
        "--facts",
        facts,
        "--operators",
        tmp_path / "operators.json",
        "--sources",
        build.SOURCES,
    ]
    done = write(
        "-m", "openreg_gen.adopt.write", *words, "--json", tmp_path / "plan.json", code=3, paths=[str(tmp_path)]
    )
    assert "hint: python -m pip install tree-sitter tree-sitter-cpp" in done.stderr


REFUSED = """
import sys
from openreg_gen.adopt import read
for package in ("not_there", "json", "for_cuda", "broken"):
    try:
        read.read(package, 1, False)
    except SystemExit as error:
        print(package, error.code, file=sys.stderr)
"""


@pytest.mark.nightly  # it imports PyTorch
def test_bad_packages_say_what_to_type(tmp_path):
    cuda = "import torch\nl = torch.library.Library('for_cuda', 'DEF')\nl.define('f(Tensor x) -> Tensor')\n"
    (tmp_path / "for_cuda.py").write_text(cuda + "l.impl('f', lambda x: x, 'CUDA')\n")
    (tmp_path / "broken.py").write_text("raise OSError('libdriver.so is missing')")
    said = write("-c", REFUSED, paths=[str(tmp_path)]).stderr
    assert "not_there: can't be imported by" in said and "pip install not_there" in said and "not_there 3" in said
    assert "json registers nothing for PrivateUse1" in said and "json 2" in said
    assert "for_cuda registers kernels for CUDA (for_cuda::f and 0 more)" in said and "lint-cuda" in said
    assert "broken: its import raised OSError: libdriver.so is missing" in said and "broken 3" in said


# --- This project's own trees

KEYS = {"device", "profile", "torch", "allocator", "backend", "spec_version"}  # which a backend doesn't say


# Forms that PyTorch makes of others: they come back as "left out".
DECOMPOSED = {
    "addr",
    "addr.out",
    "addr_",
    "all.dims_out",
    "any.dims_out",
    "mode.values",
    "mse_loss",
    "native_group_norm",
    "native_layer_norm",
    "smooth_l1_loss",
}


def compared(entry):
    """What C++ has of an operator's entry: not how it is tested, and numbers as C++ prints them."""
    if isinstance(entry, str):
        return {"strategy": entry}
    kept = {key: value for key, value in entry.items() if key != "tests"}
    return {
        key: re.sub(r"static_cast<scalar_t>", "scalar_t", value) if key == "expr" else value
        for key, value in kept.items()
    }


def test_a_tree_of_ours_comes_back(device, openreg_gen, tmp_path):
    """generated_example, or another that is installed, TREE. Differences are those below, and no others."""
    pytest.importorskip("tree_sitter_cpp")
    tree = pathlib.Path(os.environ.get("TREE", ROOT / "generated_example"))
    if not (tree / f"{device}.yaml").exists():
        pytest.skip(f"{tree} is not installed")
    facts = tmp_path / "facts.json"
    write("-m", "openreg_gen.adopt.read", f"torch_{device}", "--no-calls", "--json", facts, paths=[str(tree.parent)])
    sources = pathlib.Path(json.loads(facts.read_text())["adopt"]["folder"]).parent / "csrc"
    words = ("new", device, "--from", f"torch_{device}", "--facts", facts, "--sources", sources, "--json")
    adoption = json.loads(openreg_gen(*words, cwd=tmp_path).stdout)["adoption"]
    ours, theirs = spec_of(tree, device), spec_of(tmp_path / f"torch_{device}", device)
    left_out = {row["op"] for row in adoption["operators"] if row["strategy"] == "left out"} & DECOMPOSED
    assert {op: compared(entry) for op, entry in theirs["ops"].items()} == {
        op: compared(entry) for op, entry in ours["ops"].items() if op not in left_out
    }
    assert theirs["amp"] == ours.get("amp", theirs["amp"]) and theirs["fallback"] == ours["fallback"]
    # Their expressions and gradients are not read: each is a row of `unclear`. PyTorch prints a float's default with a point.
    written, read = (
        sorted(re.sub(r"\.(?=[,)])", "", row["schema"]) for row in each["custom_ops"]) for each in (ours, theirs)
    )
    assert written == read
    assert set(ours) - set(theirs) <= KEYS


@pytest.mark.parametrize("kind", ["full", "opencl"])
def test_sources_of_our_trees_have_their_strategies(kind, openreg_gen, tmp_path):
    """Their macros, without a build; a backend that is installed adds nothing to strategies."""
    pytest.importorskip("tree_sitter_cpp")
    from openreg_gen.adopt.own_tree import noted
    from openreg_gen.adopt.registrations import read_sources

    spec = yaml.safe_load((ROOT / f"specs/{kind}.yaml").read_text())
    openreg_gen("new", "mine", "--spec", ROOT / f"specs/{kind}.yaml", cwd=tmp_path)
    rows = noted(read_sources([tmp_path / "torch_mine/csrc"]))
    found = {op: row for op, row in rows.items() if not row.form and row.strategy != "minimal" and op not in DECOMPOSED}
    wanted = strategies(spec)
    # PyTorch registers functional forms of in_tree kernels, too; `choose` leaves them out.
    more = {op for op in found if op not in wanted and f"{op}.out" in wanted}
    assert {op: row.strategy for op, row in found.items() if op not in more} == {
        op: strategy for op, strategy in wanted.items() if op not in DECOMPOSED
    }
    if kind == "opencl":  # its expressions are in OpenCL C, in another file: choose.py lists each as unclear
        return
    for op, entry in spec["ops"].items():
        keys = rows[op].keys
        for key in ("map", "combine", "init", "finish", "prefer", "reason"):
            assert isinstance(entry, str) or str(entry.get(key, "")) == keys.get(key, ""), (op, key)
        if not isinstance(entry, str) and "expr" in entry:
            constants = re.sub(r"static_cast<scalar_t>", "scalar_t", keys["expr"])  # as C++ prints them
            assert constants == entry["expr"], op


# --- To the end


OWN_TESTS = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", build.FOLDER / "own_tests.py")
# What it needs of components, without those that only a standard tree has: CI builds it.
SMALL = "profile: minimal\ncomponents: {errors: true, memory: true, loops: true, amp: true, host_alias: false}"


@pytest.fixture
def byhand(openreg_gen, tmp_path):
    """The tree, adopted from the backend alive, whose own tests pass."""
    environment = {**build.environment(), "paths": [str(build.FOLDER)]}
    write(*OWN_TESTS, **environment)
    facts = tmp_path / "facts.json"
    write("-m", "openreg_gen.adopt.read", "byhand", "--json", facts, **environment)
    openreg_gen("new", "byhand", "--from", "byhand", "--facts", facts, "--sources", build.SOURCES, cwd=tmp_path)
    return tmp_path / "torch_byhand"


def compile_tree(tree):
    options = ("-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}", "-DBYHAND_WERROR=ON", "-DBYHAND_UNITY_BUILD=ON")
    flags = "-DCMAKE_CXX_FLAGS_RELEASE=-O0"
    subprocess.run(["cmake", "-S", ".", "-B", "build", *options, flags], check=True, cwd=tree, timeout=MINUTES)
    subprocess.run(["cmake", "--build", "build", "-j2"], check=True, cwd=tree, timeout=2 * MINUTES)


def climb(tree):
    ladder = sorted(tree.glob("tests/test_bringup_*.py"))
    write("-m", "pytest", "-q", "-p", "no:cacheprovider", *ladder, paths=[str(tree)])


def test_byhand_is_adopted_to_the_end(byhand, openreg_gen):
    """Read alive, rendered, compiled; the ladder and the backend's own tests pass on the tree."""
    spec = byhand / "byhand.yaml"
    spec.write_text(spec.read_text().replace("profile: standard", SMALL))
    openreg_gen("generate", cwd=byhand)
    compile_tree(byhand)
    climb(byhand)
    write(*OWN_TESTS, paths=[str(byhand)], BYHAND_PACKAGE="torch_byhand")


@pytest.mark.nightly
def test_the_old_runtime_is_enough_for_the_ladder(byhand, openreg_gen, tmp_path):
    """First without a kernel of its own, all operators on the CPU; then with all of them."""
    spec = byhand / "byhand.yaml"
    whole = spec.read_text()
    spec.write_text(re.sub(r"^(ops|custom_ops):.*\n( .*\n)*", "", whole, flags=re.MULTILINE))
    kernels = [path for path in (byhand / "csrc/aten/native").glob("*.cpp") if not path.name[0].isupper()]
    assert len(kernels) > 15 and "ops" not in yaml.safe_load(spec.read_text())
    for path in kernels:
        path.rename(tmp_path / path.name)
    openreg_gen("generate", cwd=byhand)
    compile_tree(byhand)
    climb(byhand)

    spec.write_text(whole)
    for path in kernels:
        (tmp_path / path.name).rename(path)
    openreg_gen("generate", cwd=byhand)
    compile_tree(byhand)
    climb(byhand)
    write(*OWN_TESTS, paths=[str(byhand)], BYHAND_PACKAGE="torch_byhand")
