"""Drift between PyTorch releases: `ops diff` and `check --against`, against a reading of the YAML files of our own.

What an overload's schema is, is read here by PyYAML from native_functions.yaml alone: nothing is shared with the command.
Small excerpts are written by the tests; whole releases are compared where ../shared/data has their declarations.
"""

import itertools
import json
import re

import pytest
import yaml

FOLDER = "torchgen/packaged/ATen/native"
EXPECTED = {  # (added, removed, changed), counted by hand from the files once
    ("2.9.0", "2.11.0"): (16, 0, 6),
    ("2.11.0", "2.13.0"): (18, 108, 2),
    ("2.13.0", "2.15.0"): (10, 4, 3),
}


def schemas(folder):
    entries = yaml.load((folder / FOLDER / "native_functions.yaml").read_text(), Loader=yaml.CSafeLoader)
    return {func.split("(")[0]: re.sub(r"\s+", " ", func).strip() for func in (entry["func"] for entry in entries)}


def small(folder, functions):
    native = folder / FOLDER
    native.mkdir(parents=True)
    (native / "native_functions.yaml").write_text(functions)
    (native / "tags.yaml").write_text("- tag: core\n  desc: |\n    x\n- tag: pointwise\n  desc: |\n    x\n")
    return folder


BEFORE = """\
- func: relu(Tensor self) -> Tensor
  tags: [core, pointwise]
  dispatch:
    CPU, CUDA: relu
- func: tril(Tensor self, int diagonal=0) -> Tensor
  tags: core
  dispatch:
    CPU, CUDA: tril
- func: cholesky(Tensor self, bool upper=False) -> Tensor
  dispatch:
    CPU, CUDA: cholesky
- func: fuse_(Tensor(a!) self) -> Tensor(a!)
  tags: pointwise
  dispatch:
    CPU, CUDA: fuse_
  autogen: fuse, fuse.out
- func: plain(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: plain
"""
AFTER = """\
- func: relu(Tensor self) -> Tensor
  tags: [core, pointwise]
  dispatch:
    CPU, CUDA: relu
- func: tril(Tensor self, SymInt diagonal=0) -> Tensor
  tags: core
  dispatch:
    CPU, CUDA: tril
- func: linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor
  dispatch:
    CPU, CUDA: linalg_cholesky
- func: fuse_(Tensor(a!) self) -> Tensor(a!)
  tags: pointwise
  dispatch:
    CPU, CUDA: fuse_
- func: gelu(Tensor self) -> Tensor
  tags: [core, pointwise]
  dispatch:
    CPU, CUDA: gelu
- func: plain(Tensor self) -> Tensor
"""


@pytest.fixture
def releases(tmp_path):
    return small(tmp_path / "torch-2.13.0", BEFORE), small(tmp_path / "torch-2.14.0", AFTER)


def diff(openreg_gen, a, b):
    answer = json.loads(openreg_gen("ops", "diff", a, b, "--json").stdout)
    assert answer.pop("schema_version") == 1
    assert list(answer) == ["added", "removed", "changed"]
    return answer


def test_ops_diff_of_an_excerpt(openreg_gen, releases):
    assert diff(openreg_gen, *releases) == {
        "added": [{"op": "gelu"}, {"op": "linalg_cholesky"}],
        "removed": [{"op": "cholesky"}],
        "changed": [
            {
                "op": "tril",
                "old": "tril(Tensor self, int diagonal=0) -> Tensor",
                "new": "tril(Tensor self, SymInt diagonal=0) -> Tensor",
            }
        ],
    }
    text = openreg_gen("ops", "diff", *releases).stdout
    assert text.startswith("PyTorch 2.13.0 -> 2.14.0: 2 added, 1 removed, 1 changed\n")
    assert "possible replacement: linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor" in text
    assert re.search(r"tril\(Tensor self, int diagonal=0\) -> Tensor\n +\^{14}\n", text)


def against(openreg_gen, tmp_path, releases, ops, code):
    spec = tmp_path / "spec.yaml"
    spec.write_text("backend: {name: mybackend}\n" + ops)
    argv = ("check", spec, "--torch", releases[0], "--against", releases[1])
    text = openreg_gen(*argv, code=code).stdout
    answer = json.loads(openreg_gen(*argv, "--json", code=code).stdout)
    assert (answer["breaks"] > 0) == (code == 1)
    return text, {entry["op"]: entry for entry in answer["ops"]}, answer


def test_nothing_that_the_spec_uses_changed(openreg_gen, tmp_path, releases):
    text, ops, _ = against(openreg_gen, tmp_path, releases, "ops: {relu: native, fuse_: native}\n", 0)
    assert "2 of 2 operators unchanged; nothing of the spec breaks" in text
    assert {op["status"] for op in ops.values()} == {"same"}


def test_a_schema_that_changed_breaks(openreg_gen, tmp_path, releases):
    text, ops, _ = against(openreg_gen, tmp_path, releases, "ops: {relu: native, tril: native}\n", 1)
    assert "BREAK line 2: 'tril' (native): schema changed" in text
    assert ops["tril"]["changes"] == ["schema changed"]
    assert ops["tril"]["old"] == "tril(Tensor self, int diagonal=0) -> Tensor"
    assert ops["tril"]["arguments"] == [{"name": "diagonal", "old": "int diagonal=0", "new": "SymInt diagonal=0"}]


def test_what_is_gone_and_what_took_its_place(openreg_gen, tmp_path, releases):
    text, ops, _ = against(openreg_gen, tmp_path, releases, "ops:\n  cholesky: native\n", 1)
    assert ops["cholesky"]["status"] == "removed" and ops["cholesky"]["replaced_by"]["op"] == "linalg_cholesky"
    assert "PyTorch 2.14.0 has no such operator" in text


def test_what_became_composite_breaks_unless_it_is_overridden(openreg_gen, tmp_path, releases):
    _, ops, _ = against(openreg_gen, tmp_path, releases, "ops:\n  plain: native\n", 1)
    assert ops["plain"]["changes"] == ["became composite"]
    assert "override: true" in ops["plain"]["reasons"][0]
    against(openreg_gen, tmp_path, releases, "ops:\n  plain: {strategy: native, override: true}\n", 0)


def test_selections_follow_and_what_is_new_is_told(openreg_gen, tmp_path, releases):
    text, ops, answer = against(openreg_gen, tmp_path, releases, 'ops: ["@pointwise", "cho*", "plain*"]\n', 1)
    assert answer["new_in_sets"] == [{"entry": "@pointwise", "line": 2, "ops": ["gelu"]}]
    assert ops["cholesky"]["status"] == "removed" and not ops["cholesky"]["breaks"]  # no longer selected
    assert [wrong["code"] for wrong in answer["selections"]] == ["E0240", "E0241"]
    assert "'@pointwise' would bring gelu" in text


def test_ranges_of_releases_are_kept(openreg_gen, tmp_path, releases):
    spec = 'ops:\n  cholesky: {until: "2.13"}\n  linalg_cholesky: {since: "2.14"}\n'
    _, ops, _ = against(openreg_gen, tmp_path, releases, spec, 0)
    assert not ops["cholesky"]["breaks"] and ops["linalg_cholesky"]["status"] == "new"
    against(openreg_gen, tmp_path, releases, 'ops:\n  nothing_like_it: {since: "2.14"}\n', 1)
    # Two kernels of one operator: each for the signature it has in its releases.
    against(openreg_gen, tmp_path, releases, 'ops:\n- tril: {until: "2.13"}\n- tril: {since: "2.14"}\n', 0)
    against(openreg_gen, tmp_path, releases, 'ops:\n- tril: {until: "2.14"}\n- tril: {since: "2.15"}\n', 1)


@pytest.mark.parametrize(("a", "b"), list(itertools.permutations(["2.9.0", "2.11.0", "2.13.0", "2.15.0"], 2)))
def test_whole_releases(openreg_gen, environment, other_releases, a, b):
    installed = environment[1]
    folders = [other_releases / f"torch-{release}" for release in (a, b)]
    command = [installed if release == "2.13.0" else other_releases / f"torch-{release}" for release in (a, b)]
    old, new = (schemas(installed.parent if folder.name == "torch-2.13.0" else folder) for folder in folders)
    answer = diff(openreg_gen, *command)
    assert [each["op"] for each in answer["added"]] == sorted(new.keys() - old.keys())
    assert [each["op"] for each in answer["removed"]] == sorted(old.keys() - new.keys())
    changed = {op: (old[op], new[op]) for op in sorted(old.keys() & new.keys()) if old[op] != new[op]}
    assert {each["op"]: (each["old"], each["new"]) for each in answer["changed"]} == changed
    if (a, b) in EXPECTED:
        assert tuple(len(answer[key]) for key in answer) == EXPECTED[a, b]


@pytest.mark.parametrize("release", ["2.9.0", "2.11.0", "2.15.0"])
def test_a_spec_of_everything_finds_every_change(openreg_gen, environment, other_releases, tmp_path, release):
    """Each written overload named: what `check --against` says to break is what differs, and nothing else."""
    installed, other = environment[1], other_releases / f"torch-{release}"
    old, new = schemas(installed.parent), schemas(other)
    catalog = json.loads(openreg_gen("ops", "--json", "--torch", installed).stdout)["ops"]
    names = [op["op"] for op in catalog if op["op"] in old]
    minimal = {left["op"] for left in minimal_set(openreg_gen, tmp_path, installed)}
    spec = tmp_path / "spec.json"
    ops = {name: {"strategy": "native", "override": True} for name in names if name not in minimal}
    spec.write_text(json.dumps({"backend": {"name": "mybackend"}, "ops": ops}))
    argv = ("check", spec, "--torch", installed, "--against", other, "--json")
    answer = json.loads(openreg_gen(*argv, code=1).stdout)
    broken = {entry["op"] for entry in answer["ops"] if entry["breaks"]}
    assert broken == {op for op in ops if new.get(op) != old[op]}


def minimal_set(openreg_gen, tmp_path, installed):
    spec = tmp_path / "minimal.yaml"
    spec.write_text('backend: {name: mybackend}\nops: ["@minimal"]\n')
    answer = json.loads(openreg_gen("check", spec, "--json", "--torch", installed).stdout)
    return answer["selections"][0]["left"]
