"""A tree is rendered for another PyTorch and back again: `generate --torch DIR`.

The other releases are copies of the declarations that the installed PyTorch has, with a schema changed, so that these
tests need no other PyTorch. Where ../shared/data has the files of real releases, a tree is taken to one and back.
"""

import json
import pathlib
import re

import pytest
from trees import MANIFEST, files

DATA = pathlib.Path(__file__).resolve().parents[2] / "shared" / "data"
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
    told = openreg_gen("generate", cwd=backend, torch=other).stdout
    line = next(i for i, each in enumerate(before[KERNEL].decode().splitlines(), 1) if "nonzero(const" in each)
    assert f"{KERNEL}:{line}\n" in told
    assert "    was  at::Tensor nonzero(const at::Tensor& self)\n" in told
    assert "    now  at::Tensor nonzero(const at::Tensor& self, bool fast)\n" in told
    after = rendered(backend)
    assert {name for name in before if before[name] != after[name]} == {
        "csrc/aten/RegisterNative_n.cpp",
        "torch_mybackend/testing/spec.py",
    }
    assert b"native::nonzero(self, fast)" in after["csrc/aten/RegisterNative_n.cpp"]
    assert json.loads((backend / MANIFEST).read_text())["files"][KERNEL]["class"] == "owned"
    openreg_gen("generate", cwd=backend)
    assert rendered(backend) == before
    openreg_gen("generate", "--check", cwd=backend)


def test_an_operator_that_the_other_release_lacks(openreg_gen, environment, backend, tmp_path):
    _, torch = environment
    gone = release(torch, tmp_path, "2.14.0", lambda text: text.replace("nonzero", "nonnull"))
    before = rendered(backend)
    assert "'nonzero'" in openreg_gen("generate", cwd=backend, torch=gone, code=2).stderr
    assert rendered(backend) == before


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the declarations of other releases in ../shared/data")
@pytest.mark.parametrize("version", ["2.11.0", "2.15.0"])
def test_real_releases(openreg_gen, backend, version):
    """Those folders have no headers, so the tree goes without PyTorch's autocast lists."""
    spec = backend / "mybackend.yaml"
    spec.write_text(re.sub(r"(?ms)^amp:\n.*?(?=^\S|\Z)", "amp:\n  preset: none\n", spec.read_text()))
    openreg_gen("generate", cwd=backend)
    before = rendered(backend)
    openreg_gen("generate", cwd=backend, torch=DATA / f"torch-{version}")
    assert rendered(backend)[KERNEL].endswith(MARK.encode())
    openreg_gen("generate", cwd=backend)
    assert rendered(backend) == before
