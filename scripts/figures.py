"""Rewrites the counts in README.md and docs/ from real trees: `figure:NAME` between comments.

    figures.py [--check]     --check only compares, and prints what differs

The command is $OPENREG_GEN, by default build/openreg-gen. Sizes are rounded to two digits, so that they change rarely.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.environ.get("OPENREG_GEN", str(ROOT / "build/openreg-gen"))
FIGURE = re.compile(r"(<!-- figure:(\w+) -->)([^<]*)(<!-- end -->)")


def rounded(number: int) -> str:
    digits = len(str(number)) - 2
    return f"{round(number, -digits):,}" if digits > 0 else str(number)


def files_of(tree: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in tree.rglob("*") if path.is_file() and ".openreg-gen" not in path.parts]


def lines(files: Iterable[pathlib.Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in files)


def ported_functions(tree: pathlib.Path) -> int:
    """How many functions of port.cpp are not ported yet."""
    (port,) = tree.glob("third_party/*/src/port.cpp")
    lines = port.read_text(encoding="utf-8").splitlines()
    return sum("return not_ported(__func__" in line for line in lines)


def figures() -> dict[str, str]:
    kinds = {"minimal": ["--profile", "minimal"], "standard": [], "full": ["--profile", "full"]}
    kinds["port"] = ["--device", "external", "--profile", "minimal"]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, words in kinds.items():
            tree = pathlib.Path(folder) / kind
            subprocess.run([COMMAND, "new", "mybackend", *words, "--out", tree], check=True, stdout=subprocess.DEVNULL)
            files = files_of(tree)
            found[f"{kind}_files"] = rounded(len(files))
            found[f"{kind}_lines"] = rounded(lines(files))
            core = ("csrc", "torch_mybackend")
            found[f"{kind}_core"] = rounded(lines(path for path in files if path.relative_to(tree).parts[0] in core))
        found["port_functions"] = str(ported_functions(pathlib.Path(folder) / "port"))
    return found


def pages() -> list[pathlib.Path]:
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in paths if FIGURE.search(path.read_text(encoding="utf-8"))]


def main() -> None:
    found, differing = figures(), []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for _, name, value, _ in FIGURE.findall(text):
            if value != found[name]:
                differing.append(f"{page.relative_to(ROOT)}: {name} is {found[name]}, not {value}")
        if "--check" not in sys.argv[1:]:
            page.write_text(FIGURE.sub(lambda match: match[1] + found[match[2]] + match[4], text), encoding="utf-8")
    print("\n".join(differing))
    sys.exit(1 if differing and "--check" in sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
