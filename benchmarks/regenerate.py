"""Regeneration: the cost of a change, beside `copier update` on a similar tree and change; what ninja rebuilds after `add`."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import peers
from measure import Table, run

GENERATOR = os.environ.get("OPENREG_GEN", "openreg-gen")
GIT = ["git", "-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost", "-c", "commit.gpgsign=false"]
# Templates that change (the first is the conflict's), and files that their owner has edited: the first at the same line.
CHANGED = [
    "README.md",
    "CMakeLists.txt",
    "csrc/CMakeLists.txt",
    "csrc/runtime/Event.cpp",
    "csrc/runtime/Functions.cpp",
    "csrc/runtime/Generator.cpp",
    "csrc/runtime/Guard.cpp",
    "csrc/runtime/Hooks.cpp",
    "csrc/runtime/Serialization.cpp",
    "csrc/runtime/Stream.cpp",
]
EDITED = ["README.md", ".gitignore", "setup.py", "pyproject.toml", "csrc/aten/native/Copy.cpp"]


def append(path: pathlib.Path, line: str) -> None:
    comment = "" if path.name.startswith("README") else "// " if ".cpp" in path.suffixes else "# "
    with path.open("a") as file:
        file.write(f"{comment}{line}\n")


def edit(tree: pathlib.Path) -> None:
    for name in EDITED:
        append(tree / name, "the owner's")


def fresh_copy(source: pathlib.Path, to: pathlib.Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(source, to, symlinks=True)


def changed_data(scratch: pathlib.Path) -> pathlib.Path:
    """openreg-gen's own data with ten other templates."""
    data = scratch / "data"
    for folder in ("templates", "specs"):
        shutil.copytree(peers.ROOT / folder, data / folder)
    shutil.copy(peers.ROOT / "generator/render/renderer.py", data)
    for name in CHANGED:
        append(data / "templates" / f"{name}.j2", "the template's")
    return data


def copier_tree(tree: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """A tree like ours made by copier from release 1 of a template, edited; release 2 has ten other files."""
    source, made = scratch / "template", scratch / "copier_tree"
    peers.like_tree(tree, source, "name", ".jinja")
    (source / "copier.yml").write_text("name: {type: str, default: openreg}\n")
    (source / "{{ _copier_conf.answers_file }}.jinja").write_text("{{ _copier_answers|to_nice_yaml }}")

    def commit(folder, *tag):
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["commit", "-q", "-m", "release"],
            *([["tag", *tag]] if tag else []),
        ):
            subprocess.run([*GIT, *words], cwd=folder, check=True)

    commit(source, "v1")
    run(peers.copier("copy", "--quiet", "--defaults", "--vcs-ref", "v1", f"git+file://{source}", made))
    edit(made)
    commit(made)
    for name in CHANGED:
        append(source / (name.replace("openreg", "{{ name }}") + ".jinja"), "the template's")
    commit(source, "v2")
    return made


def incremental(table: Table, name: str, spec: pathlib.Path, scratch: pathlib.Path, op: str) -> None:
    """Builds a tree, adds an operator, builds again: units compiled and seconds."""
    tree = scratch / f"built_{name}"
    run([GENERATOR, "new", "openreg", "--spec", spec, "--out", tree])
    build = tree / "build"
    run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DOPENREG_BUILD_TESTS=OFF"])

    def ninja() -> tuple[int, float]:
        start = time.perf_counter()
        compiled = subprocess.run(
            ["cmake", "--build", build, "--", "-v"], check=True, capture_output=True, text=True
        ).stdout
        return len(re.findall(r" -c \S+\.(?:cpp|cc|c)$", compiled, re.MULTILINE)), time.perf_counter() - start

    units, seconds = ninja()
    run([GENERATOR, "add", op, "-C", tree])
    again, less = ninja()
    table.note(f"{name}: build of all, units", str(units))
    table.note(f"{name}: build of all, seconds", f"{seconds:.1f}")
    table.note(f"{name}: after add {op}, units", str(again))
    table.note(f"{name}: after add {op}, seconds", f"{less:.1f} ({seconds / less:.1f}x less)")


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    specs = [("openreg", peers.ROOT / "specs/openreg.yaml", "nonzero")]
    if (full := peers.ROOT / "specs/full.yaml").exists():
        specs.append(("full", full, "_cdist_forward"))
    for name, spec, op in specs:
        tree, work = scratch / name, scratch / "work"
        run([GENERATOR, "new", "openreg", "--spec", spec, "--out", tree])
        table.measure(f"{name}: generate, nothing changed", lambda t=tree: run([GENERATOR, "generate", "-C", t]), runs)

        def add(tree=tree, work=work, op=op):
            fresh_copy(tree, work)
            return run([GENERATOR, "add", op, "-C", work])

        table.measure(f"{name}: add {op}", add, runs)

    tree, work = scratch / "openreg", scratch / "work"
    data, edited = changed_data(scratch), scratch / "edited"
    fresh_copy(tree, edited)
    edit(edited)

    def ours():
        fresh_copy(edited, work)
        return run([GENERATOR, "generate", "-C", work], env={"OPENREG_GEN_DATA": data}, codes=(1,))

    made = copier_tree(tree, scratch)

    def theirs():
        fresh_copy(made, work)
        return run(peers.copier("update", "--quiet", "--defaults", work), cwd=work)

    what = "10 templates changed, 5 edits, 1 conflict"
    median = table.measure(f"openreg: generate, {what}", ours, runs)
    table.measure(f"  copier update, {what}", theirs, runs, against=median)
    if os.environ.get("OPENREG_BENCHMARK_BUILD") != "0":
        for name, spec, op in specs:
            incremental(table, name, spec, scratch, op)
