"""`openreg-gen migrate`: kernels of an owner whose signature changed with a release of PyTorch are rewritten."""

import json
import re
import shutil
import subprocess

import pytest

DECLARED = "torchgen/packaged/ATen/native/native_functions.yaml"

# An operator each, its schema in the next release, and what must be said of it. The last two take their owner's hand.
PLANTED = {
    "relu": ("relu(Tensor self, bool fast=False) -> Tensor", "'fast' is new"),
    "trace": ("trace(Tensor self, int? offset=None) -> Tensor", "'offset' is new"),
    "nonzero": ("nonzero(Tensor self, *, int limit=-1) -> Tensor", "'limit' is new"),
    "dist": ("dist(Tensor self, Tensor other, Scalar p=2, Scalar eps=0) -> Tensor", "'eps' is new"),
    "dot": ("dot(Tensor self, Tensor other, *, bool conj=False) -> Tensor", "PyTorch calls 'tensor' 'other' now"),
    "kthvalue": (
        "kthvalue(Tensor self, SymInt k, bool keepdim=False, int dim=-1) -> (Tensor values, Tensor indices)",
        "the parameters have another order",
    ),
    "bincount": (
        'bincount(Tensor self, Tensor? weights=None, SymInt minlength=0, str mode="exact") -> Tensor',
        "'mode' is new",
    ),
    "_cdist_forward": (
        "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode, float eps=0.0) -> Tensor",
        "'eps' is new",
    ),
    "cholesky_inverse": ("cholesky_inverse(Tensor self) -> Tensor", "'upper' is gone"),
    "bucketize.Tensor": (
        "bucketize.Tensor(Tensor self, Tensor boundaries, int side, *, bool out_int32=False, bool right=False) -> Tensor",
        "'side' is new and has no default",
    ),
}
COMPOSITE = ("dist", "kthvalue")
REFUSED = ("cholesky_inverse", "bucketize.Tensor")


@pytest.fixture
def next_release(environment, tmp_path):
    """The installed PyTorch, as it would be if the planted schemas were its next release's."""
    where = tmp_path / "torch-2.99.0"
    for name in ("native_functions.yaml", "tags.yaml"):
        path = f"torchgen/packaged/ATen/native/{name}"
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(environment[1].parent / path, where / path)
    text = (where / DECLARED).read_text()
    for op, (schema, _) in PLANTED.items():
        text, count = re.subn(rf"^- func: {re.escape(op)}\(.*$", lambda _, s=schema: f"- func: {s}", text, flags=re.M)
        assert count == 1, op
    (where / DECLARED).write_text(text)
    return where


@pytest.fixture
def tree(openreg_gen, tmp_path):
    spec = tmp_path / "spec.yaml"
    ops = "".join(
        f"  {op}: {'{strategy: native, override: true}' if op in COMPOSITE else 'native'}\n" for op in PLANTED
    )
    spec.write_text(
        "backend: {name: mybackend}\nprofile: minimal\ntorch: {min: '2.13', max: '2.99'}\namp: {preset: none}\nops:\n"
        + ops
    )
    openreg_gen("new", "mybackend", "--spec", spec, "--out", "torch_mybackend", cwd=tmp_path)
    return tmp_path / "torch_mybackend"


def kernels(tree):
    manifest = json.loads((tree / ".openreg-gen/manifest.json").read_text())["files"]
    return {file["id"].removeprefix("aten::"): tree / path for path, file in manifest.items() if file.get("signature")}


def test_kernels_follow_the_next_release(openreg_gen, tree, next_release, environment):
    assert "nothing to migrate" in openreg_gen("migrate", "--torch", environment[1], cwd=tree).stdout
    files = {op: path for op, path in kernels(tree).items() if op in PLANTED}
    assert set(files) == set(PLANTED)
    before = {op: path.read_text() for op, path in files.items()}
    said = openreg_gen("generate", cwd=tree, torch=next_release).stdout
    assert "openreg-gen migrate" in said

    argv = ("migrate", "--torch", next_release)
    shown = openreg_gen(*argv, cwd=tree, code=1).stdout
    assert "nothing written; 8 kernels can be rewritten" in shown and "migrate --yes" in shown
    for op, (_, words) in PLANTED.items():
        assert words in shown, op
    assert {op: path.read_text() for op, path in files.items()} == before

    answer = json.loads(openreg_gen(*argv, "--json", cwd=tree, code=1).stdout)
    assert not answer["written"] and {file["path"] for file in answer["files"] if not file["migrated"]} == {
        str(files[op].relative_to(tree)) for op in REFUSED
    }

    assert "rewrote 8 kernels" in openreg_gen(*argv, "--yes", cwd=tree, code=1).stdout
    after = {op: path.read_text() for op, path in files.items()}
    assert {op for op in PLANTED if after[op] == before[op]} == set(REFUSED)
    left = json.loads(openreg_gen(*argv, "--json", cwd=tree, code=1).stdout)["files"]
    assert len(left) == len(REFUSED)
    one = str(files["relu"].relative_to(tree))
    assert "nothing to migrate" in openreg_gen(*argv, one, cwd=tree).stdout

    openreg_gen("undo", cwd=tree)
    assert {op: path.read_text() for op, path in files.items()} == before
    assert len(json.loads(openreg_gen(*argv, "--json", cwd=tree, code=1).stdout)["files"]) == len(PLANTED)


def test_what_was_rewritten_compiles(openreg_gen, tree, next_release, environment, tmp_path):
    """Their signatures, as types, against those that the registration declares; bodies return nothing of use."""
    files = kernels(tree)
    for op in PLANTED:
        text = files[op].read_text()
        start = re.search(r"^[\w:<>, ]+[ &]" + op.replace(".", "_") + r"\([^)]*\) \{", text, re.M)
        assert start, text
        files[op].write_text("#include <ATen/ATen.h>\n" + start[0] + "\n  TORCH_CHECK(false);\n}\n")
    openreg_gen("generate", cwd=tree, torch=next_release)
    openreg_gen("migrate", "--yes", "--torch", next_release, cwd=tree, code=1)
    wanted = json.loads((tree / ".openreg-gen/manifest.json").read_text())["files"]
    source = ["#include <ATen/ATen.h>\n#include <ATen/core/Reduction.h>\n"]
    for op in PLANTED:
        if op in REFUSED:
            continue
        name = files[op].relative_to(tree).as_posix()
        declaration = wanted[name]["signature"]
        text = files[op].read_text().removeprefix("#include <ATen/ATen.h>\n")
        # An overload instead of the declared function would have no definition, and so be unused.
        source.append(f"namespace {op} {{\nstatic {declaration};\nstatic {text}\nauto use = &{op};\n}}\n")
    (tmp_path / "all.cpp").write_text("".join(source))
    torch = environment[1]
    done = subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
         f"-isystem{torch}/include", f"-isystem{torch}/include/torch/csrc/api/include", tmp_path / "all.cpp"],
        check=False, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:4000]


def test_bad_input(openreg_gen, tree, next_release, environment):
    said = openreg_gen("migrate", "README.md", cwd=tree, code=2).stderr
    assert "error[E0530]: 'README.md' is not a kernel of yours" in said
    openreg_gen("generate", cwd=tree, torch=next_release)
    said = openreg_gen("migrate", "--torch", environment[1], cwd=tree, code=1).stderr
    assert "error[E0533]: the tree was last rendered for torch-2.99.0" in said and "openreg-gen generate" in said
