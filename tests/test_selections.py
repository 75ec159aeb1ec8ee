"""Selections in `ops:` as a user meets them: check, ops list, and lists that a tree takes along."""

import json

SPEC = """\
backend: {name: mybackend}
ops:
  - "@model:lists/model.txt": structured
  - "-sub"
  - maximum.out: structured
"""


def write(folder):
    (folder / "lists").mkdir()
    (folder / "lists/model.txt").write_text("add.Tensor\nsub.Tensor\nrelu\nreshape\n")
    (folder / "mybackend.yaml").write_text(SPEC)
    return folder / "mybackend.yaml"


def test_check_says_what_a_selection_came_to(openreg_gen, environment, tmp_path):
    spec, torch = write(tmp_path), environment[1]
    short = openreg_gen("check", spec, "--torch", torch).stdout
    assert "ok, 2 operators" in short
    assert "line 3: '@model:lists/model.txt' (structured): 1 operator, 3 left out" in short
    long = openreg_gen("check", spec, "--verbose", "--torch", torch).stdout
    assert "+ add.out" in long and "- sub.out" in long and "'-sub' removes it" in long
    answer = json.loads(openreg_gen("check", spec, "--json", "--torch", torch).stdout)["selections"]
    assert [(each["entry"], each["ops"]) for each in answer] == [("@model:lists/model.txt", ["add.out"])]
    assert {left["op"] for left in answer[0]["left"]} == {"relu", "reshape", "sub.out"}


def test_ops_list_shows_what_the_spec_stands_for(openreg_gen, environment, tmp_path):
    spec, torch = write(tmp_path), environment[1]
    table = openreg_gen("ops", "list", spec, "--torch", torch).stdout.splitlines()
    assert table[1].split() == ["add.out", "structured", "3", "@model:lists/model.txt"]
    answer = json.loads(openreg_gen("ops", "list", spec, "--json", "--torch", torch).stdout)["ops"]
    assert [each["op"] for each in answer] == ["add.out", "maximum.out"]
    assert answer[1]["entry"] == "maximum.out"


def test_a_tree_takes_its_lists_along(openreg_gen, tmp_path):
    spec, tree = write(tmp_path), tmp_path / "tree"
    openreg_gen("new", "mybackend", "--spec", spec, "--out", tree)
    assert (tree / "lists/model.txt").read_text() == (tmp_path / "lists/model.txt").read_text()
    assert (tree / "csrc/aten/native/add_out.cpp").exists()
    assert "up to date" in openreg_gen("generate", "-C", tree).stdout
    (tree / "lists/model.txt").write_text("add.Tensor\nmul.Tensor\n")
    openreg_gen("generate", "-C", tree)
    assert (tree / "csrc/aten/native/mul_out.cpp").exists()
    assert (tree / "lists/model.txt").read_text() == "add.Tensor\nmul.Tensor\n"
