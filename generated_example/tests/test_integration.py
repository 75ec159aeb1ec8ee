# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
"""docs/integration.json against the headers of the installed PyTorch, and against the files it names.

A virtual function that PyTorch gained, or one that the named file doesn't override, fails here: its default
mostly throws, or is silently wrong.
"""

import json
import re
from pathlib import Path

import pytest
import torch
from torch_openreg._release import installed

TREE = Path(__file__).resolve().parent.parent
INCLUDE = Path(torch.__file__).parent / "include"

# The interfaces a device answers; each must have its section in the table.
INTERFACES = {
    "DeviceGuardImplInterface",
    "AcceleratorHooksInterface",
    "PrivateUse1HooksInterface",
    "Allocator",
    "DeviceAllocator",
    "HostAllocator",
    "GeneratorImpl",
    "BackendMeta",
    "GraphImplInterface",
    "Backend",
}


def is_there(row):
    """Whether the installed PyTorch is one that the row is for."""
    since = re.match(r"since (\d+)\.(\d+): ", row["note"])
    return since is None or tuple(map(int, since.groups())) <= installed()


def read_table():
    interfaces = json.loads((TREE / "docs" / "integration.json").read_text(encoding="utf-8"))
    return {
        each["name"].rpartition("::")[2]: (each["header"], [row for row in each["virtuals"] if is_there(row)])
        for each in interfaces
    }


TABLE = read_table()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def class_body(text, name):
    """The text between the braces of a class at the outermost level, whose closing brace starts a line."""
    start = re.search(r"\b(?:struct|class) (?:\w+_API )?" + name + r"\b[^;{]*\{", text)
    assert start, f"no class {name}"
    rest = text[start.end() :]
    return rest[: re.search(r"^\};", rest, re.M).start()]


def declared_virtuals(header, name):
    body = class_body(without_comments((INCLUDE / header).read_text(encoding="utf-8")), name)
    return re.findall(r"\bvirtual\s[^;{}(]*?\b(?<!~)(\w+)\s*\(", body)


def overrides(text, name):
    return re.search(r"\b" + name + r"\s*\([^;{}]*\)[^;{}]*\boverride\b", without_comments(text))


def test_table_has_every_interface():
    assert set(TABLE) == INTERFACES


@pytest.mark.parametrize("name", sorted(INTERFACES))
def test_table_has_every_virtual(name):
    header, rows = TABLE[name]
    declared = declared_virtuals(header, name)
    assert declared, f"{header} declares no virtual in {name}: its layout has changed"
    assert sorted({row["name"] for row in rows}) == sorted(set(declared))


@pytest.mark.parametrize("name", sorted(INTERFACES))
def test_named_files_override_what_they_should(name):
    for row in TABLE[name][1]:
        virtual, file, status, note = row["name"], row["file"], row["status"], row["note"]
        assert status in {"implemented", "inherited", "unsupported", "default"}
        assert status == "implemented" or note, f"{virtual} is {status}, but the table doesn't say why"
        if status == "default":
            ours = {row["file"] for row in TABLE[name][1] if row["status"] == "implemented"}
            assert not any(overrides((TREE / file).read_text(encoding="utf-8"), virtual) for file in ours)
            continue
        root = INCLUDE.parent.parent if file.startswith("torch/") else TREE
        text = (root / file).read_text(encoding="utf-8")
        assert overrides(text, virtual), f"{file} doesn't override {name}::{virtual}"


def test_a_missing_override_would_be_seen():
    assert overrides("void init() const override;", "init")
    assert not overrides("void initialize() const override;", "init")
    assert not overrides("// void init() const override;", "init")
    assert not overrides("void init() const; void other() override;", "init")
