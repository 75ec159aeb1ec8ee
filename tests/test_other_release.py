"""A tree is rendered for another PyTorch and back again: `generate --torch DIR`.

The other releases are copies of the declarations that the installed PyTorch has, with a schema changed, so that these
tests need no other PyTorch. Where ../shared/data has the files of real releases, a tree is taken to one and back.
"""

import json
import platform
import re
import shutil
import subprocess
import sys

import pytest
from trees import MANIFEST, ROOT, files

KERNEL = "csrc/aten/native/nonzero.cpp"
MARK = "// mine\n"


def release(torch, folder, version, change=lambda text: text):
    """What openreg-gen reads of a PyTorch, with `change` made to its declarations of operators."""
    where = folder / f"torch-{version}"
    for name in (
        "include/ATen/RegistrationDeclarations.h",
        "include/ATen/autocast_mode.h",
        "torchgen/packaged/ATen/native/native_functions.yaml",
        "torchgen/packaged/ATen/native/tags.yaml",
    ):
        source = torch.parent / name if name.startswith("torchgen") else torch / name
        target = where / name if name.startswith("torchgen") else where / "torch" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(change(source.read_text()))
    (where / "torch/version.py").write_text(f"__version__ = '{version}'\n")
    return where


def supported(end):
    return re.search(rf'k{end}TorchQuoted = "\\"([0-9.]+)', (ROOT / "generator/releases/releases.h").read_text())[1]


oldest, newest = supported("Oldest"), supported("Newest")
WAS, NOW = "nonzero(Tensor self) -> Tensor", "nonzero(Tensor self, bool fast=False) -> Tensor"


def another_nonzero(text):
    return text.replace(WAS, NOW).replace(
        "at::Tensor nonzero(const at::Tensor & self);", "at::Tensor nonzero(const at::Tensor & self, bool fast);"
    )


@pytest.fixture
def backend(openreg_gen, tree):
    """A tree with a kernel of its owner's, whose spec allows other releases."""
    spec = tree / "mybackend.yaml"
    spec.write_text(
        re.sub(r"(?m)^  (min|max): .*\n", "", spec.read_text()).replace(
            "torch:\n", 'torch:\n  min: "2.9"\n  max: "2.15"\n'
        )
    )
    openreg_gen("add", "nonzero", "--strategy", "native", cwd=tree)
    with (tree / KERNEL).open("a") as file:
        file.write(MARK)
    return tree


def rendered(root):
    """All but what the tool keeps for itself."""
    return {name: path.read_bytes() for name, path in files(root).items() if not name.startswith(".openreg-gen/")}


def test_there_and_back(openreg_gen, environment, backend, tmp_path):
    _, torch = environment
    before = rendered(backend)
    other = release(torch, tmp_path, "2.14.0", another_nonzero)
    assert "drifted" in openreg_gen("generate", "--check", cwd=backend, torch=other, code=1).stdout
    assert rendered(backend) == before
    answer = openreg_gen("generate", cwd=backend, torch=other).stdout
    line = next(i for i, each in enumerate(before[KERNEL].decode().splitlines(), 1) if "nonzero(const" in each)
    assert f"{KERNEL}:{line}\n" in answer
    assert "    was  at::Tensor nonzero(const at::Tensor& self)\n" in answer
    assert "    now  at::Tensor nonzero(const at::Tensor& self, bool fast)\n" in answer
    after = rendered(backend)
    assert {name for name in before if before[name] != after[name]} == {"torch_mybackend/testing/spec.py"}
    assert json.loads((backend / MANIFEST).read_text())["files"][KERNEL]["class"] == "owned"
    openreg_gen("generate", cwd=backend)
    assert rendered(backend) == before
    openreg_gen("generate", "--check", cwd=backend)


def test_new_renders_for_the_release_that_is_there(openreg_gen, environment, tmp_path):
    """Any of what is supported, without a word in the spec."""
    _, torch = environment
    for version in (f"{oldest}.9", f"{newest}.1"):
        openreg_gen("new", "mybackend", "--out", version, cwd=tmp_path, torch=release(torch, tmp_path, version))
        manifest = json.loads((tmp_path / version / MANIFEST).read_text())
        assert manifest["torch"].startswith(f"torch-{version}-")
    text = (tmp_path / version / "csrc/runtime/PyTorchRelease.h").read_text()
    low, high = (int(end.replace(".", "")) for end in (oldest, newest))
    assert f"MYBACKEND_TORCH_RELEASE >= {low} && MYBACKEND_TORCH_RELEASE <= {high}" in text
    major, minor = newest.split(".")
    later = release(torch, tmp_path, f"{major}.{int(minor) + 1}.0")
    answer = openreg_gen("new", "mybackend", cwd=tmp_path, torch=later, code=2).stderr
    assert f"the spec is for PyTorch {oldest}..{newest}, but {major}.{int(minor) + 1}.0 is installed" in answer


def test_owners_edits_go_along(openreg_gen, environment, backend, tmp_path):
    """To another release and back: edits of shared files are merged, owned files stay as they are."""
    _, torch = environment
    edits = {"README.md": "\nAbout our card.\n", "setup.py": "\n# ours\n"}
    for name, text in edits.items():
        with (backend / name).open("a") as file:
            file.write(text)
    before = rendered(backend)
    openreg_gen("generate", cwd=backend, torch=release(torch, tmp_path, "2.14.0", another_nonzero))
    assert json.loads((backend / MANIFEST).read_text())["torch"].startswith("torch-2.14.0-")
    after = rendered(backend)
    for name in (*edits, KERNEL):
        assert after[name] == before[name]
    openreg_gen("generate", cwd=backend)
    assert rendered(backend) == before


def test_what_another_release_lacks_is_registered_where_it_is(openreg_gen, environment, tree):
    """PyTorch 2.14 has no cholesky any more, and the spec keeps nonzero to 2.13 by itself."""
    spec = tree / "mybackend.yaml"
    ops = '\nops:\n  cholesky: native\n  nonzero: {strategy: native, until: "2.13"}\n'
    spec.write_text(spec.read_text().replace("\nops:\n", ops))
    openreg_gen("generate", cwd=tree)
    guard = "#if MYBACKEND_TORCH_RELEASE <= 213\n"
    for name in ("cholesky", "nonzero"):
        kernel = (tree / f"csrc/aten/native/{name}.cpp").read_text()
        assert kernel.count(guard) == 1 and kernel.endswith("\n#endif\n")
        assert f'MYBACKEND_KERNEL("{name}", at::_ops::{name}, {name}, "native");\n' in kernel
    openreg_gen("remove", "cholesky", cwd=tree)
    openreg_gen("add", "cholesky", "--strategy", "cpu_fallback", cwd=tree)
    file = (tree / "csrc/aten/RegisterFallback.cpp").read_text()
    header = "ATen/ops/cholesky_ops.h"
    assert f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n" in file
    assert '#include "runtime/PyTorchRelease.h"\n' in file
    op = '  MYBACKEND_IMPL_BOXED(m, "cholesky", at::_ops::cholesky, &detour, "cpu_fallback");\n'
    assert f"{guard}{op}#endif\n" in file[file.index("TORCH_LIBRARY_IMPL") :]
    tested = (tree / "torch_mybackend/testing/spec.py").read_text()
    assert tested.count("releases=((2, 13), (2, 13)),") == 2


@pytest.mark.parametrize("table", ["stubs", "amp"])
def test_tables_of_facts_are_what_the_script_writes(environment, tmp_path, table):
    env, torch = environment
    script = [sys.executable, ROOT / "scripts/facts.py", table, "--check"]
    subprocess.run([*script, f"{oldest}={torch.parent}"], check=True, env=env)
    # Not the same in another release: said, with what differs.
    headers = shutil.copytree(
        torch / "include/ATen", tmp_path / "torch/include/ATen", ignore=lambda *_: ["ops", "cuda"]
    )
    for name, change in (
        ("native/UnaryOps.h", ("unary_fn, abs_stub", "other_fn, abs_stub")),
        ("autocast_mode.h", ("_(conv1d)", "")),
    ):
        path = headers / name
        path.write_text(path.read_text().replace(*change))
    done = subprocess.run(
        [*script, f"{oldest}={torch.parent}", f"{newest}={tmp_path}"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 1
    what = {"stubs": "abs_stub", "amp": "conv1d"}[table]
    assert done.stderr == f"PyTorch {newest} says something else of: {what}\n"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the script reads machine code of x86-64 alone")
def test_the_table_of_stub_calls_is_what_the_script_writes(environment):
    env, torch = environment
    script = [sys.executable, ROOT / "scripts/facts.py", "in_tree", "--check", f"{oldest}={torch.parent}"]
    subprocess.run(script, check=True, env=env)


def test_pages_say_what_is_supported():
    for page in ("README.md", "docs/guides/next-pytorch.md"):
        assert f"PyTorch {oldest} to {newest}" in (ROOT / page).read_text(), page


def test_an_operator_that_the_other_release_lacks(openreg_gen, environment, backend, tmp_path):
    _, torch = environment
    gone = release(torch, tmp_path, "2.14.0", lambda text: text.replace("nonzero", "nonnull"))
    before = rendered(backend)
    assert "'nonzero'" in openreg_gen("generate", cwd=backend, torch=gone, code=2).stderr
    assert rendered(backend) == before


@pytest.mark.parametrize("version", ["2.11.0", "2.15.0"])
def test_real_releases(openreg_gen, backend, other_releases, version):
    """Those folders have no headers, so the tree goes without PyTorch's autocast lists."""
    spec = backend / "mybackend.yaml"
    spec.write_text(re.sub(r"(?ms)^amp:\n.*?(?=^\S|\Z)", "amp:\n  preset: none\n", spec.read_text()))
    openreg_gen("generate", cwd=backend)
    before = rendered(backend)
    openreg_gen("generate", cwd=backend, torch=other_releases / f"torch-{version}")
    assert rendered(backend)[KERNEL].endswith(MARK.encode())
    openreg_gen("generate", cwd=backend)
    assert rendered(backend) == before
