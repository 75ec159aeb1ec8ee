"""Chooses what CI runs of scripts/test.sh. The files that a change touches decide, never the date.

    choose.py stages        names of stages, on one line: .ci/run
    choose.py components    names of components, one per line, two at most: scripts/test.sh components

It prints the reasons to the standard error. Both lists depend only on the paths that differ from the base of the change, which is

- the commit that OPENREG_GEN_BASE in the environment names;
- on a branch, the commit at which it left origin/main;
- on main, refs/ci/green: the last commit of which every stage passed. `.ci/run` writes it, and .github/workflows/ci.yml keeps it
  in the repository.

If there is none (a shallow checkout, no git, no green commit before this one), everything runs.
"""

import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGES = [
    "command",
    "format",
    "rendered",
    "example",
    "sample",
    "device",
    "allocator",
    "components",
    "second",
    "external",
    "opencl",
    "package",
    "book",
]
ALWAYS = ("command", "format")
MOST_COMPONENTS = 1
# What a path asks for besides ALWAYS; the first row that fits counts. A path that none fits asks for everything.
RULES = (
    ("docs/book/* scripts/book.py scripts/exercises.py tests/exercises/*", ["book"], "the book"),
    ("templates/lessons/* generator/workbench/openreg_gen/learn/*", ["rendered", "package", "book"], "exercises"),
    ("templates/* generated_example/* tests/golden/* specs/*.yaml", STAGES, "trees"),
    (
        "scripts/lib.sh scripts/stages.sh scripts/test.sh scripts/choose.py scripts/requirements.txt .ci/*",
        STAGES,
        "how tests run",
    ),
    (
        "generator/workbench/* tests/workbench/* tests/minimal_differences.json",
        ["rendered", "example", "sample", "components", "opencl", "package"],
        "the workbench",
    ),
    (
        "generator/* CMakeLists.txt CMakePresets.json pyproject.toml specs/*.json",
        ["rendered", "package"],
        "the command, not its trees",
    ),
    ("tests/built/*", ["example", "second", "external", "opencl"], "tests"),
    (
        "tests/external/vulkan/* tests/external/openvino/* tests/external/graph_compiler/*",
        [],
        "tests",
    ),  # of scripts/nightly.sh
    ("tests/external/* tests/test_external*.py tests/ports.py", ["external"], "tests"),
    ("tests/failing/* tests/schedule/*", ["example"], "tests"),
    ("tests/test_package.py scripts/wheel.sh", ["package"], "tests"),
    ("tests/owned_ops/* scripts/sweep.sh", ["opencl"], "tests"),
    ("scripts/regenerate.sh scripts/golden.py", ["rendered"], "tests"),
    ("tests/* scripts/* benchmarks/*", [], "tests"),
    ("docs/* .github/* .devcontainer/* *.md LICENSE .gitignore .clang-format", [], "texts"),
)


def stages_for(paths: list[str]) -> tuple[list[str], list[str]]:
    """Stages in their order, and why, a line per group of paths."""
    wanted, groups = set(ALWAYS), collections.defaultdict(list)
    for path in paths:
        for patterns, stages, about in RULES:
            if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns.split()):
                wanted.update(stages)
                groups[about].append(path)
                break
        else:
            wanted.update(STAGES)
            groups["unknown"].append(path)
    why = [
        f"{about}: {found[0]}" + (f" and {len(found) - 1} more" if found[1:] else "") for about, found in groups.items()
    ]
    return [stage for stage in STAGES if stage in wanted], why


def components_for(changed: dict[str, set[str]], names: list[str]) -> list[tuple[str, str]]:
    """changed: components that each changed path is of, or names in code. Those of most paths first."""
    counts = collections.Counter(name for of in changed.values() for name in of)
    ranked = sorted((name for name in names if counts[name]), key=lambda name: (-counts[name], names.index(name)))
    return [(name, f"{counts[name]} of the changed files") for name in ranked[:MOST_COMPONENTS]]


def expanded(pattern: str) -> list[str]:
    """a.{h,cpp} stands for a.h and a.cpp."""
    match = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if not match:
        return [pattern]
    return [pattern[: match.start()] + word + pattern[match.end() :] for word in match[1].split(",")]


def rows_of(text: str) -> dict[str, tuple[str | None, dict]]:
    """{"templates/csrc/Gemm.cpp.j2": ("gemm", what templates.yaml says of it)}."""
    import yaml  # .ci/run asks for stages before it is installed

    out = {}
    for group in yaml.safe_load(text):
        shared = {key: value for key, value in group.items() if key != "files"}
        folder = "" if group.get("folder", ".") == "." else group["folder"] + "/"
        for name, about in group.get("files", {group.get("template"): {}}).items():
            row = shared | (about if isinstance(about, dict) else {"about": about})
            for each in expanded(name):
                first = (row.get("component") or "").split()[:1]
                path = f"templates/{folder}{each.removesuffix('.j2')}.j2"
                # {kernel.*} stands for the words of each language of kernels that has such a template.
                found = [path]
                if "{kernel." in path:
                    types = ROOT.glob("templates/package/*/types.*.j2")
                    words = [(one.parent.name, one.name.split(".")[1]) for one in types]
                    found = [path.replace("{kernel.folder}", a).replace("{kernel.extension}", b) for a, b in words]
                    found = [one for one in found if (ROOT / one).is_file()]
                out |= dict.fromkeys(found, (first[0] if first else None, row))
    return out


def all_components() -> list[str]:
    """In the order of component.cpp."""
    return re.findall(r'\{\.name = "(\w+)"', (ROOT / "generator/spec/component.cpp").read_text())


def touched_components(paths: list[str], base: str) -> dict[str, set[str]]:
    """A template is of the component of its row, or of those that it asks for with `has.NAME`."""
    table = "templates/templates.yaml"
    rows, before = rows_of((ROOT / table).read_text()), rows_of(git("show", f"{base}:{table}") or "[]")
    out = {}
    for path in paths:
        component = (rows.get(path) or before.get(path) or (None,))[0]
        if component:
            out[path] = {component}
        elif path.startswith("templates/") and path.endswith(".j2") and (ROOT / path).is_file():
            out[path] = set(re.findall(r"\bhas\.(\w+)", (ROOT / path).read_text()))
        elif path == "generator/spec/component.cpp":
            lines = git("diff", "--unified=0", base, "--", path) or ""
            out[path] = set(re.findall(r'^[-+].*\.name = "(\w+)"', lines, re.MULTILINE))
        elif path == table:
            differ = [name for name in rows.keys() | before.keys() if rows.get(name) != before.get(name)]
            out[path] = {of[name][0] for of in (rows, before) for name in differ if name in of and of[name][0]}
    return out


def some_of_commit(all_of_them: list, most: int = MOST_COMPONENTS) -> list:
    """Some, in their order: others for each commit, always the same ones for the same commit."""
    start, count = int((git("rev-parse", "HEAD") or "0")[:8], 16), len(all_of_them)
    return [all_of_them[i] for i in sorted({(start + step) % count for step in range(min(most, count))})]


def git(*words: str) -> str | None:
    """What git says, None if it fails."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def base_of_change() -> tuple[str | None, str]:
    """A commit, and which that is; None, and why there is none."""
    if given := os.environ.get("OPENREG_GEN_BASE"):
        return git("rev-parse", "--verify", "-q", f"{given}^{{commit}}"), f"OPENREG_GEN_BASE, {given}"
    head = git("rev-parse", "HEAD")
    if head is None:
        return None, "this is not a git checkout"
    fork = git("merge-base", "HEAD", "origin/main")
    if fork is not None and fork != head:
        return fork, "where the branch left origin/main"
    green = git("rev-parse", "--verify", "-q", "refs/ci/green")
    if green is None:
        return None, "no run of CI recorded a green commit (refs/ci/green)"
    if git("merge-base", "--is-ancestor", green, "HEAD") is None:
        return None, f"the green commit {green[:10]} is not in this history"
    return green, "the last green commit"


def changed_paths(base: str) -> list[str]:
    """Edits that are not committed yet included."""
    differ = git("diff", "--name-only", "--no-renames", "-z", base)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    if differ is None or new is None:
        raise SystemExit("git lists no changes")
    return sorted({path for path in (differ + "\0" + new).split("\0") if path})


def say(text: str) -> None:
    print(text, file=sys.stderr)


def main() -> None:
    what = sys.argv[1]
    base, which = base_of_change()
    if base is None:
        chosen = some_of_commit(all_components()) if what == "components" else []
        say(f"no base to compare with: {which}; so: {' '.join(chosen or STAGES)}")
        print("\n".join(chosen) if chosen else " ".join(STAGES))
        return
    paths = changed_paths(base)
    say(f"{len(paths)} files differ from {base[:10]}, {which}")
    if what == "stages":
        stages, why = stages_for(paths)
        say("\n".join(why))
        say(f"so: {' '.join(stages)}")
        print(" ".join(stages))
        return
    chosen = components_for(touched_components(paths, base), all_components())
    for name, why in chosen:
        say(f"component {name}: {why}")
    if not chosen:
        say("the change touches no component")
    print("".join(f"{name}\n" for name, _ in chosen), end="")


if __name__ == "__main__":
    main()
