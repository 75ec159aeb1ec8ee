"""`openreg-gen status` names what serves no operator: nothing of a fresh tree, and what kernels of the owner's no longer need."""

import json

import pytest

KINDS = {
    "minimal": ["--profile", "minimal"],
    "standard": ["--profile", "standard"],
    "full": ["--profile", "full"],
    "external": ["--device", "external"],
    "external minimal": ["--device", "external", "--profile", "minimal"],
    "opencl": ["--device", "opencl"],
}


def unused(openreg_gen, tree):
    return json.loads(openreg_gen("status", "--json", cwd=tree).stdout)["unused"]


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_each_file_of_a_fresh_tree_serves(openreg_gen, tmp_path, options):
    openreg_gen("new", "mychip", *options, "--out", "tree", cwd=tmp_path)
    assert unused(openreg_gen, tmp_path / "tree") == []


def test_what_the_owners_kernels_no_longer_need(openreg_gen, tmp_path):
    tree = tmp_path / "tree"
    spec = tmp_path / "mychip.yaml"
    spec.write_text(
        "spec_version: 1\nbackend: {name: mychip}\nprofile: standard\ndevice: {api: external}\nops: {relu: native}\n"
    )
    openreg_gen("new", "mychip", "--spec", spec.name, "--out", "tree", cwd=tmp_path)
    openreg_gen("own", "csrc/aten/native/CopyKernel.cpp", cwd=tree)
    for name in ("relu", "CopyKernel"):
        kernel = tree / f"csrc/aten/native/{name}.cpp"
        text = kernel.read_text()
        kernel.write_text(
            text.replace('#include "host/Kernel.h"\n', "").replace('#include "aten/native/DeviceLoop.h"\n', "")
        )
    found = unused(openreg_gen, tree)
    assert {"csrc/aten/native/DeviceLoop.h", "csrc/aten/native/DeviceLoop.cpp"} <= set(found)
    text = openreg_gen("status", cwd=tree).stdout
    assert f"Serve no operator ({len(found)})" in text and all(f"  {path}\n" in text for path in found)

    for path in found:
        (tree / path).unlink()
    openreg_gen("own", *found, cwd=tree)
    assert unused(openreg_gen, tree) == []
    openreg_gen("generate", "--check", cwd=tree)
    assert not (tree / found[0]).exists()
