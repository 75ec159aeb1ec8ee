"""Writes the pages of docs/ that derive from the command and from generated_example/.

    pages.py [--check]      --check writes nothing; exit code 1 if a page is not up to date

The command is $OPENREG_GEN, by default build/openreg-gen. docs/reference/spec.md and diagnostics.md are written by the command's
own tests (OPENREG_GEN_UPDATE=1).
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import ported_functions  # noqa: E402

COMMAND = os.environ.get("OPENREG_GEN", str(ROOT / "build/openreg-gen"))
NOTE = "<!-- Written by scripts/site/pages.py; do not edit. -->\n"


def run(*words, cwd=None):
    return subprocess.run([COMMAND, *words], check=True, capture_output=True, text=True, cwd=cwd).stdout


def subcommands(text):
    """The verbs that a help text lists."""
    sections = re.findall(r"^(?!Positionals|Options|Examples)\w+:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  (\S+)", "".join(sections), re.M)


def rows_of(section):
    """(name, words) of the lines of a section; a long name has its words on the next line."""
    rows = []
    for line in section.splitlines():
        if match := re.match(r"  (\S.*?)(?:  +(\S.*))?$", line):
            rows.append([match[1], match[2] or ""])
        elif line.strip():
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
    return rows


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def verb_section(words, level):
    """What `--help` says of one verb, as Markdown."""
    text = run(*words, "--help")
    about, usage = text.split("\n", 2)[:2]
    yield f"{level} {' '.join(['openreg-gen', *words]) if words else 'The command'}\n\n{cell(about).rstrip('.')}.\n"
    yield f"```text\n{usage.removeprefix('Usage: ')}\n```\n"
    for title, section in re.findall(r"^(\w+):\n((?:  .*\n)+)", text, re.M):
        if title == "Examples":
            examples = "".join(line[2:] + "\n" for line in section.splitlines())
            yield f"```text\n{examples}```\n"
            continue
        rows = [(name, about) for name, about in rows_of(section) if name != "-h,--help"]
        if silent := [name for name, about in rows if not about]:
            sys.exit(f"{' '.join(words)}: --help says nothing of {', '.join(silent)}, or its name is too long")
        if rows:
            head = {"Positionals": "argument", "Options": "option", "Subcommands": "verb"}.get(title, title)
            yield f"| {head} | what it does |\n|---|---|"
            yield "\n".join(f"| `{name.replace('|', chr(92) + '|')}` | {cell(about)} |" for name, about in rows) + "\n"
    if exits := re.search(r"^(Exit codes: .*(?:\n.*)*)", text, re.M):
        yield cell(" ".join(exits[1].split())) + "\n"
    for verb in subcommands(text):
        if verb != "help":
            yield from verb_section([*words, verb], "##" if not words else "###")


def verbs():
    head = (
        "# Verbs\n\nWhat `openreg-gen VERB --help` and `openreg-gen help VERB` print. All verbs have one form:\n\n"
        "```text\nopenreg-gen VERB [options] SUBJECT|SCRIPT [-- ARGUMENTS]\n```\n\n"
        "Options stand anywhere before `--`. `--json` prints [JSON](diagnostics.md#for-programs) instead of the text, `--json=FILE` writes it to\n"
        "a file, too; so does `--html`. `-o FILE` is where a result is kept, `--baseline` an earlier result, `--against` another PyTorch, `--limit` the\n"
        "most of something. The device is that of the backend that is installed, if `--device` names no other. What replaces files of yours shows a\n"
        "difference, and writes with `--yes`. `test`, `completion` and `help` have no `--json`, and `schema` prints nothing else; pytest itself\n"
        "reports the tests that ran: `openreg-gen test -- --junitxml=report.xml`.\n"
    )
    return "\n".join([head, *verb_section([], "##")])


def component_list():
    rows = json.loads(run("components", "--json"))["components"]
    lines = [
        "# List of components\n",
        "`openreg-gen components` prints this table with the files and lines of each. [Components](components.md) explains profiles.\n",
        "| component | purpose | smallest profile | needs |",
        "|---|---|---|---|",
    ]
    for row in rows:
        needs = ", ".join(f"`{name}`" for name in row["needs"])
        lines.append(f"| `{row['name']}` | {row['about']} | {row['profile']} | {needs} |")
    return "\n".join(lines) + "\n"


def read_in_code():
    """Names of variables that generated_example/ and the command read; those of the backend begin with NAME_."""
    names = set()
    example = ROOT / "generated_example"
    for folder in ("csrc", "third_party/openreg/src", "torch_openreg"):
        for path in (example / folder).rglob("*"):
            if path.suffix in (".cpp", ".h", ".py"):
                text = path.read_text(encoding="utf-8")
                reads = r"(?:getenv\(|number\(|environ(?:\.get\(|\[))\"(OPENREG_[A-Z_]+)\""
                names |= {name.replace("OPENREG_", "NAME_", 1) for name in re.findall(reads, text)}
    for path in (ROOT / "generator").rglob("*.cpp"):
        names |= set(re.findall(r"environment\(\"(OPENREG_GEN_[A-Z_]+|NO_COLOR)\"", path.read_text(encoding="utf-8")))
    return names


def environment():
    groups = json.loads((ROOT / "scripts/site/environment.json").read_text(encoding="utf-8"))
    known = {name for group in groups.values() for name in group}
    missing = read_in_code() - known
    if missing:
        sys.exit(f"scripts/site/environment.json lacks {', '.join(sorted(missing))}")
    lines = [
        "# Environment variables\n",
        "`NAME` is `backend.name` of the spec in upper case. A tree has the variables of its components: `openreg-gen explain MYBACKEND_LOG_FALLBACK`,",
        "in a tree, says what reads one, or that nothing does. OpenCL trees have [more](opencl.md#which-devices).",
    ]
    for title, group in groups.items():
        lines += [f"\n## {title}\n", "| variable | what it does |", "|---|---|"]
        lines += [f"| `{name}` | {about} |" for name, about in group.items()]
    return "\n".join(lines) + "\n"


def without_header(text):
    return re.sub(r"\A<!--.*?-->\s*", "", text, count=1, flags=re.S)


def integration():
    text = without_header((ROOT / "generated_example/docs/integration.md").read_text(encoding="utf-8"))
    title, rest = text.split("\n", 1)
    return (
        f"{title}\n\nThis page is `docs/integration.md` of the reference backend; each full tree has its own.\n{rest}"
    )


def port():
    with tempfile.TemporaryDirectory() as folder:
        run("new", "mychip", "--device", "external", cwd=folder)
        tree = pathlib.Path(folder) / "torch_mychip"
        text, functions = without_header((tree / "docs/porting.md").read_text(encoding="utf-8")), ported_functions(tree)
    title, rest = text.split("\n", 1)
    start = (
        "# Port your device\n\n"
        "`openreg-gen new mychip --device external` renders a backend around a device library that you write, and a ladder of\n"
        f"tests that says which function is next. `--profile minimal` is the quickest start: {functions} functions in one file are enough to\n"
        "train a network. The rest of this page is `docs/porting.md` of such a tree, here for a device called mychip.\n\n"
        "Give it an environment of its own, or uninstall the quick start's backend first: a process has one slot for a backend, and the\n"
        "scripts that name none get the first that is found. [Several backends in one environment](several-backends.md) has the ways to choose.\n\n"
        "```sh\nopenreg-gen new mychip --device external --profile minimal\ncd torch_mychip\n```\n"
    )
    return start + "\n## " + title.lstrip("# ") + "\n" + re.sub(r"(?m)^## ", "### ", rest)


def words():
    """The book's list of words: each term of the glossary with its first sentence, its files and its chapter."""
    glossary = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")
    lines = [
        "# Words, messages, the map\n",
        "## Words\n",
        "The [glossary](../reference/glossary.md) says more of each word, and `openreg-gen explain WORD` says it in your terminal. In paths, `NAME`",
        "is the backend's name, `PACKAGE` its package.\n",
        "| word | what it is | where it lives | chapter |",
        "|---|---|---|---|",
    ]
    for names, text, see in re.findall(r"^## (.*)\n\n((?:.+\n)+)\nSee: ((?:.+\n?)+)", glossary, re.M):
        see = " ".join(see.split())
        first = re.match(r".*?[.](?= |$)", " ".join(text.split()))[0]
        files = ", ".join(re.findall(r"`[^`]+`", see))
        chapter = re.search(r"\[chapter (\d+) of the book\]\(\.\./book/([^)]+)\)", see)
        lines.append(f"| {names} | {cell(first)} | {files} | {f'[{chapter[1]}]({chapter[2]})' if chapter else ''} |")
    lines += [
        "\n## Messages\n",
        "Every message of the command has a code; [diagnostics](../reference/diagnostics.md) lists them with their meanings, and",
        "`openreg-gen explain E0203` prints one. PyTorch's own messages stand in the chapters where they come up.",
        "\n## The map\n",
        "![Layers of a backend](../concepts/layers.svg)\n",
        "[Layers](../concepts/layers.md) describes them. Each tree's README follows one call from top to bottom, then lists files from the bottom up.",
    ]
    return "\n".join(lines) + "\n"


def as_cuda():
    """The table of torch.cuda."""
    sys.path.insert(0, str(ROOT / "generator/workbench"))
    from openreg_gen.cuda_names import ROWS

    same = [name for name, row in ROWS.items() if row.runs == "same"]
    lines = [
        "# Names of torch.cuda\n",
        "For each public name of `torch.cuda` in PyTorch 2.13: what it is while [as_cuda](../guides/cuda-scripts.md) runs a script, and the",
        "generic spelling that `openreg-gen lint-cuda` suggests. `NAME` is your device's type. If your backend's module lacks a name, the",
        "second one that the row gives is taken; without a second one, a call raises `NotImplementedError` with the generic spelling.\n",
        "| torch.cuda. | under as_cuda | generic |",
        "|---|---|---|",
    ]
    for name, row in sorted(ROWS.items()):
        if row.runs != "same":
            lines.append(f"| `{name}` | {_runs(name, row.runs)} | {_generic(row)} |")
    names = ", ".join(f"`{name}`" for name in sorted(same))
    lines.append(
        f"\nImports, types and submodules stay what they are: {names}. Names in the submodules follow the table."
    )
    return "\n".join(lines) + "\n"


_HERE = {
    "nccl": "`is_available()` is False",
    "nvtx": "`range` is `torch.profiler.record_function`; the other functions do nothing",
    "profiler": "its functions do nothing",
    "is_available": "whether there is a device",
    "is_bf16_supported": "whether the device has bfloat16",
}


def _runs(name, runs):
    kind, _, rest = runs.partition(" ")
    if kind == "raises":
        return f"raises: {rest}"
    if kind == "constant":
        return f"`{rest}`"
    if kind == "here":
        return _HERE.get(name, "makes tensors on the device" if name.endswith("Tensor") else f"the device's `{name}`")
    places = [place.split() for place in runs.split(", ")]
    return " or ".join(f"`torch.{'NAME' if where == 'device' else where}.{what}`" for where, what in places)


def _generic(row):
    return (
        f"`{row.write}`" if re.fullmatch(r"[\w.()=, \[\]']+", row.write) and " " not in row.write else cell(row.write)
    )


PAGES = {
    "book/words.md": words,
    "reference/verbs.md": verbs,
    "reference/component-list.md": component_list,
    "reference/cuda-names.md": as_cuda,
    "reference/environment.md": environment,
    "reference/integration.md": integration,
    "guides/port.md": port,
}


def main():
    stale = []
    for name, make in PAGES.items():
        path = ROOT / "docs" / name
        text = NOTE + "\n" + make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"not up to date: {', '.join(stale)}; run scripts/site/pages.py")
    for name in stale:
        print(f"written: docs/{name}")


if __name__ == "__main__":
    main()
