"""A user's own templates: what they may do, and how mistakes are reported."""

import json
import os

import pytest
from trees import MANIFEST, files, state

SPEC = "mybackend.yaml"
ROW = "- {template: NOTICE.j2, path: NOTICE, class: generated, about: who made this}\n"


@pytest.fixture
def with_templates(tree):
    """A tree whose spec names a folder; the result writes files into that."""
    with (tree / SPEC).open("a") as spec:
        spec.write("templates: my/templates\n")

    def write(**texts):
        for name, text in texts.items():
            path = tree / "my/templates" / name.replace("__", "/").replace("_j2", ".j2").replace("_yaml", ".yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    write(templates_yaml=ROW, NOTICE_j2="{{ file.header }}\n{{ b.name }} of {{ b.vendor.text }}\n")
    return write


def test_a_row_adds_an_output(openreg_gen, tree, with_templates):
    assert "create   NOTICE" in openreg_gen("generate", cwd=tree).stdout.replace("  ", " ").replace(
        "create  ", "create   "
    )
    notice = (tree / "NOTICE").read_text()
    assert notice.endswith("\nmybackend of The mybackend authors\n") and "`templates` in the spec" in notice
    assert json.loads((tree / MANIFEST).read_text())["files"]["NOTICE"]["key"] == "templates"
    before = state(tree)
    openreg_gen("generate", "--check", cwd=tree, env={"OPENREG_GEN_PYTHON": "/no/such/python"})  # fresh: no Python
    assert state(tree) == before
    with_templates(NOTICE_j2="{{ file.header }}\nother\n")
    openreg_gen("generate", "--check", cwd=tree, code=1)
    openreg_gen("generate", cwd=tree)
    assert "other" in (tree / "NOTICE").read_text()
    with_templates(templates_yaml="")
    (tree / "my/templates/NOTICE.j2").unlink()
    openreg_gen("generate", cwd=tree)
    assert not (tree / "NOTICE").exists()


def test_a_file_of_the_same_name_overrides(openreg_gen, tree, with_templates):
    before = {name: path.read_bytes() for name, path in files(tree).items()}
    with_templates(csrc__aten__Signature_h_j2="")
    (tree / "my/templates/csrc/aten/Signature_h.j2").rename(tree / "my/templates/csrc/aten/Signature.h.j2")
    (tree / "my/templates/csrc/aten/Signature.h.j2").write_text(
        '{% include "openreg-gen/csrc/aten/Signature.h.j2" %}\n{% include "_more.j2" %}\n'
    )
    with_templates(_more_j2="// more of {{ b.Name }}\n")
    openreg_gen("generate", cwd=tree)
    text = (tree / "csrc/aten/Signature.h").read_text()
    assert text.startswith(before["csrc/aten/Signature.h"].decode()) and text.endswith("// more of Mybackend\n")
    changed = {name for name, path in files(tree).items() if before.get(name) != path.read_bytes()}
    assert {name for name in changed if name.startswith("csrc/")} == {"csrc/aten/Signature.h"}


def test_what_is_included_may_import_openreg_gens_own(openreg_gen, tree, with_templates):
    name = "csrc/aten/in_tree/UnaryOps.cpp"
    before = (tree / name).read_text()
    folder = tree / "my/templates/csrc/aten/in_tree"
    folder.mkdir(parents=True)
    include = '{% include "openreg-gen/csrc/aten/in_tree/family.cpp.j2" %}\n// more\n'
    (folder / "family.cpp.j2").write_text(include)
    openreg_gen("generate", cwd=tree)
    assert (tree / name).read_text() == before + "// more\n"


@pytest.mark.parametrize(
    ("source", "code", "answer"),
    [
        ("\n\n{{ nope }}", "E0610", "NOTICE.j2:3: 'nope' is undefined"),
        ("{% include '../../mybackend.yaml' %}", "E0610", "NOTICE.j2:1: no template"),
        ("{% include 'openreg-gen/../specs/openreg.yaml' %}", "E0610", "no template"),
        ("{% if %}", "E0611", "NOTICE.j2:1"),
        ("{% include '/etc/passwd' %}", "E0610", "no template"),
        ("{{ ''.__class__.__mro__ }}", "E0611", "NOTICE.j2:1: SecurityError: access to attribute '__class__'"),
        ("{{ b|attr('__class__') }}", "E0611", "is unsafe"),
        ("{{ b['__class__'] }}", "E0611", "is unsafe"),
        ("{{ cycler.__init__.__globals__.os.system('touch x') }}", "E0611", "is unsafe"),
        ("{{ b.update({'name': 'x'}) }}", "E0611", "unsafe"),
        ("{% for i in range(1000000) %}{% endfor %}", "E0611", "Range too big"),
        ("{{ 'x' * 10000000000 }}", "E0611", "MemoryError"),
        ("{% for i in range(90000) %}{{ 'x' * 100000 }}{% endfor %}", "E0611", "MemoryError"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "E0611", "recursion"),
    ],
)
def test_a_slip_of_a_template_is_named_and_nothing_is_written(openreg_gen, tree, with_templates, source, code, answer):
    with_templates(NOTICE_j2=source)
    before = state(tree)
    outcome = openreg_gen("generate", cwd=tree, code=2).stderr
    assert code in outcome and answer in outcome and "my/templates/NOTICE.j2" in outcome, outcome
    assert state(tree) == before


def test_a_template_without_end_is_ended(openreg_gen, tree, with_templates):
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    with_templates(NOTICE_j2=loops)
    assert "takes more than 10 s" in openreg_gen("generate", cwd=tree, code=2).stderr


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (ROW.replace("path: NOTICE", "path: ../NOTICE"), "E0504"),
        (ROW.replace("path: NOTICE", "path: /tmp/NOTICE"), "E0504"),
        (ROW.replace("path: NOTICE", "path: .openreg-gen/manifest.json"), "E0504"),
        (ROW.replace("path: NOTICE", f"path: {SPEC}"), "E0505"),
        (ROW.replace("path: NOTICE", "path: my/templates/NOTICE.j2"), "E0505"),
        (ROW.replace("path: NOTICE", "path: README.md"), "E0613"),
        (ROW.replace("class: generated", "class: mine"), "E0613"),
        (ROW.replace("about:", "abuot:"), "E0613"),
        (ROW.replace("NOTICE.j2", "NOTE.j2"), "E0613"),
        (ROW[2:], "E0613"),
        ("- {", "E0613"),
        (ROW.replace("about:", "each: ops.nothing, about:"), "E0613"),
        ("", "E0613"),
    ],
)
def test_a_row_keeps_to_the_rules(openreg_gen, tree, with_templates, row, code):
    with_templates(templates_yaml=row)
    before = state(tree)
    answer = openreg_gen("generate", cwd=tree, code=2).stderr
    assert code in answer and "my/templates/" in answer, answer
    assert state(tree) == before


def test_the_folder_itself(openreg_gen, tree, with_templates, tmp_path):
    os.symlink("/etc/passwd", tree / "my/templates/x.j2")
    assert "symlink" in openreg_gen("generate", cwd=tree, code=2).stderr
    (tree / "my").rename(tree / "other")
    assert "E0612" in openreg_gen("generate", cwd=tree, code=2).stderr
    for folder in ("..", "/tmp", "a/../../b", ".", ".openreg-gen/x"):
        spec = tmp_path / "spec.yaml"
        spec.write_text(f"backend: {{name: my}}\ntemplates: {folder}\n")
        assert "E0614" in openreg_gen("check", spec, code=2).stderr


def test_new_takes_the_folder_along(openreg_gen, tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t/templates.yaml").write_text(ROW)
    (tmp_path / "t/NOTICE.j2").write_text("{{ file.header }}\n{{ b.name }}\n")
    (tmp_path / "spec.yaml").write_text("backend: {name: mychip}\ntemplates: t/\n")
    openreg_gen("new", "mychip", "--spec", "spec.yaml", cwd=tmp_path)
    assert (tmp_path / "torch_mychip/t/NOTICE.j2").read_text().endswith("{{ b.name }}\n")
    assert (tmp_path / "torch_mychip/NOTICE").read_text().endswith("\nmychip\n")
    openreg_gen("generate", "--check", cwd=tmp_path / "torch_mychip")
