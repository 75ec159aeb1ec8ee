"""Which folder of generator/ may include which: CMakeLists.txt links them so, and docs/design.md says the same."""

import re
import sys
from collections import Counter

import pytest
from trees import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import choose  # noqa: E402


# What must run inside PyTorch: a Python package, whose parts the command starts and does not include.
PYTHON = "workbench"


def linked():
    """{"spec": {"diag", "catalog"}}, in the order of CMakeLists.txt."""
    rows = re.findall(r"^part\((\w+)([^)]*)\)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return {name: {word for word in uses.split() if "::" not in word} for name, uses in rows}


def included(folder):
    """{"diag": ["generator/spec/parse.cpp"]}: who includes headers of which other folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".cpp", ".h"):
            continue
        for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
            assert (ROOT / "generator" / header).is_file(), f"{path} includes {header}: not by its path in generator/"
            found.setdefault(header.split("/")[0], []).append(path.relative_to(ROOT).as_posix())
    found.pop(folder.name, None)
    return found


def test_every_folder_is_a_part_that_uses_only_earlier_ones():
    parts = list(linked())
    folders = {path.name for path in (ROOT / "generator").iterdir() if path.is_dir()} - {PYTHON}
    assert sorted(parts) == sorted(folders)
    for index, (part, uses) in enumerate(linked().items()):
        assert uses <= set(parts[:index]), f"{part}: a part may only use those above it"


@pytest.mark.parametrize("part", linked())
def test_a_folder_includes_what_it_is_linked_with_no_more_no_less(part):
    found = included(ROOT / "generator" / part)
    against = {other: files for other, files in found.items() if other not in linked()[part]}
    assert not against, f"{part} is not linked with {against}"
    assert not linked()[part] - set(found), f"{part} is linked with what it does not include"


@pytest.mark.parametrize("part", ["model", "texts", "strategy", "schema", "output"])
def test_what_turns_values_into_values_reads_no_disk(part):
    """Names of files that are there, and their texts, are handed in: see model/model.h."""
    disk = re.compile(
        r'#include (?:"system/files.h"|<filesystem>|<fstream>)|\b(?:try_read_file|read_file|read_data|ifstream|environment)\('
        r"|fs::(?:exists|is_\w+|directory_iterator|recursive_directory_iterator|file_size|last_write_time)\b"
    )
    for path in (ROOT / "generator" / part).iterdir():
        assert not disk.findall(path.read_text()), path


def test_the_workbench_is_python_and_the_rest_is_not():
    generator = ROOT / "generator"
    kinds = {
        path.suffix for path in (generator / PYTHON).rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    # C++: a port to an old runtime, which `adopt` writes into a tree.
    assert kinds <= {".py", ".html", ".css", ".json", ".typed", "", ".in"}
    python = {path.relative_to(generator).parts[0] for path in generator.rglob("*.py")}
    assert python <= {PYTHON, "render"}


def test_the_command_line_is_all_that_main_knows():
    assert set(included(ROOT / "generator")) == {"cli"}


def test_the_design_page_has_the_same_layers():
    rows = re.findall(r"^\| `generator/(\w+)` \|.*\| ([^|]*) \|$", (ROOT / "docs/design.md").read_text(), re.MULTILINE)
    assert {name: set(re.findall(r"\w+", uses)) for name, uses in rows} == linked()


def test_no_folder_of_the_emitted_csrc_includes_one_that_includes_it():
    """runtime is below all others, host (kernels that run on the CPU) below aten."""
    csrc = ROOT / "generated_example/csrc"
    arrows = {}
    for path in [*csrc.rglob("*.h"), *csrc.rglob("*.cpp")]:
        home = path.relative_to(csrc).parts[0]
        for header in re.findall(r'^#include "([a-z]+)/', path.read_text(), re.MULTILINE):
            arrows.setdefault(home, set()).add(header)
    below = {home: used - {home} for home, used in arrows.items()}
    while ground := [home for home, used in below.items() if not used & set(below)]:
        for home in ground:
            del below[home]
    assert not below, f"these folders include each other: {below}"


def templates():
    """{"csrc/runtime/Hooks.cpp.j2": its text}."""
    root = ROOT / "templates"
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.j2"))}


def test_few_templates_ask_for_components_that_they_are_not_of():
    """`has.X` outside of the rows of X: each is a place where two components are one text. The limit must only fall."""
    rows = choose.rows_of((ROOT / "templates/templates.yaml").read_text())
    asked = Counter()
    for name, text in templates().items():
        own = str(rows.get(f"templates/{name}", (None, {}))[1].get("component", "")).split()
        asked.update(component for component in re.findall(r"\bhas\.([a-z_]+)", text) if component not in own)
    assert asked.total() <= 62, asked.most_common()


def tags_in_expressions(text):
    """Lines with a condition between brackets that the same line opens: half of a call, of a list or of a signature."""
    for line in text.splitlines():
        for tag in re.finditer(r"{% (?:if|elif|else)", line):
            before = re.sub(r"{%.*?%}|{{.*?}}|\"(?:[^\"\\]|\\.)*\"", "", line[: tag.start()])
            if sum(map(before.count, "([{")) > sum(map(before.count, ")]}")):
                yield line
                break


def test_tags_do_not_cut_signatures_and_expressions():
    """C++ and Python of templates: an expression has one form, whatever components there are. The limit must only fall."""
    found = [
        f"{name}: {line.strip()}"
        for name, text in templates().items()
        if name.split(".")[1] in ("h", "cpp", "py")
        for line in tags_in_expressions(text)
    ]
    assert len(found) <= 1, "\n".join(found)


def anonymous_names(text):
    """(namespace, name) of the variables, types and functions without parameters that a file has for itself."""
    names, spaces, hidden = set(), [], 0
    for line in text.splitlines():
        if opened := re.match(r"namespace (?:([\w:]+) )?\{", line):
            spaces.append(opened[1] or "")
            hidden += not opened[1]
        elif line.startswith("}  // namespace"):
            hidden -= not spaces.pop()
        elif (
            hidden
            and not line.startswith(" ")
            and (
                found := re.match(
                    r"(?:\[\[\w+\]\] )?(?:[\w:<>,&* ]+ )?[&*]*(\w+)(?:\(\) (?:noexcept )?\{| = |\{|\(&|;)", line
                )
            )
        ):
            names.add(("::".join(filter(None, spaces)), found[1]))
    return names


@pytest.mark.parametrize(
    "options", ["--profile minimal", "", "--profile full", "--device external", "allocator: {device: direct}"]
)
def test_files_that_compile_together_have_no_name_in_common(options, openreg_gen, tmp_path):
    """A unity build is one source of several: what is hidden in a file isn't hidden there."""
    if options.startswith("-") or not options:
        openreg_gen("new", "openreg", *options.split(), "--out", "tree", cwd=tmp_path)
    else:
        (tmp_path / "spec.yaml").write_text(f"backend: {{name: openreg}}\nprofile: full\n{options}\n")
        openreg_gen("new", "openreg", "--spec", "spec.yaml", "--out", "tree", cwd=tmp_path)
    owners = {}
    for path in sorted((tmp_path / "tree/csrc").rglob("*.cpp")):
        folder = path.parent.relative_to(tmp_path / "tree/csrc").as_posix().removesuffix("/caching")
        for name in anonymous_names(path.read_text()):
            owners.setdefault((folder, *name), []).append(path.name)
    assert {name: files for name, files in owners.items() if len(files) > 1} == {}
    assert len(owners) > 10


def test_nothing_is_put_in_the_place_of_a_function_while_a_tree_runs():
    """Note [Seams] of host/Fallback.h: no pointer that a component sets. graph_maker is set by Python, at the import."""
    sources = [path for path in (ROOT / "templates").rglob("*.j2") if path.name.endswith((".h.j2", ".cpp.j2"))]
    pointer = r"^(?:\{\{ b\.NAME \}\}_RUNTIME_API )?extern (?:(?:const )?\w+\* (\w+);|void \(\*(\w+)\)\()"
    texts = [path.read_text() for path in sources if "csrc" in path.parts]
    found = {a or b for text in texts for a, b in re.findall(pointer, text, re.MULTILINE)}
    assert found == {"graph_maker"}
