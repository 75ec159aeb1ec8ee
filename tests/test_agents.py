"""AGENTS.md of a tree: its commands that need no build work, in order; its paths are there; it is short."""

import pathlib
import re

import pytest
from agents_commands import commands, run
from trees import COMMAND

TREES = {
    "minimal": ["--profile", "minimal"],
    "full": ["--profile", "full"],
    "external": ["--device", "external"],
    "opencl": ["--device", "opencl"],
}
BUILT = ("cmake", "python", "openreg-gen test", "openreg-gen sweep")


@pytest.mark.parametrize("kind", TREES)
def test_commands_and_paths(kind, openreg_gen, environment, tmp_path, monkeypatch):
    tree = tmp_path / "tree"
    openreg_gen("new", "mybackend", *TREES[kind], "--out", tree)
    torch = pathlib.Path(environment[1])
    (tmp_path / "bin").mkdir()
    for name, text in {"openreg-gen": f'exec {COMMAND} "$@" --torch {torch}', "undo": f'exec {COMMAND} "$@"'}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{environment[0]['PATH']}")
    said = commands(tree)
    assert {command for command in said if command.startswith(BUILT)} == set(said) - {
        "openreg-gen explain csrc/runtime/Guard.cpp",
        "openreg-gen generate --check",
        "openreg-gen ops show trace",
        "openreg-gen add trace",
        "openreg-gen undo",
    }
    for command in said:
        if not command.startswith(BUILT):
            printed = run(command.replace("openreg-gen undo", "undo undo"), tree)
            if " add " in command:
                assert "csrc/aten/native/trace.cpp" in printed and (tree / "csrc/aten/native/trace.cpp").exists()
    assert not (tree / "csrc/aten/native/trace.cpp").exists()
    text = (tree / "AGENTS.md").read_text()
    for path in re.findall(r"^\| `([^`]+)` \|", text, re.M) + re.findall(r"\S+\.py\b", text):
        assert (tree / path).exists(), path
    assert text.count("\n") <= 45
