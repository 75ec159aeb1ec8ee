"""`python -m openreg_gen.adopt.place --plan FILE --tree DIR`: moves an owner's code into a tree that was just rendered.

It writes owned files, files of its own below csrc/adopted and PACKAGE/adopted, and one line of PACKAGE/__init__.py, which is
shared.
"""

import argparse
import json
import pathlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..exits import Exit, Parser, fail
from .scan import closing, masked, split_arguments


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = Parser(prog="python -m openreg_gen.adopt.place", description=__doc__)
    parser.add_argument("--plan", required=True, metavar="FILE", type=pathlib.Path)
    parser.add_argument("--tree", required=True, metavar="DIR", type=pathlib.Path)
    return parser.parse_args(words)


def owned_files(tree: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files of operators, by their mark: "aten::relu"."""
    found = {}
    for path in (tree / "csrc").rglob("*.cpp"):
        mark = re.search(r"\[openreg-gen ([\w]+::[\w.]+)\]", path.read_text()[:1000])
        if mark:
            found[mark[1]] = path
    return found


def signature_of(text: str, mask: str) -> tuple[int, int, int, int]:
    """Of the function that an owned file has: where its line begins, its parameters, its body's braces."""
    for found in re.finditer(r"^(?!\s|//|#|struct|namespace|\})[^\n;{}]*?\b\w+\(", mask, re.MULTILINE):
        opening = found.end() - 1
        end = closing(mask, opening)
        brace = re.match(r"\s*\{", mask[end + 1 :]) if end >= 0 else None
        if brace:
            first = end + brace.end()
            return found.start(), opening, first, closing(mask, first)
    raise ValueError("no function")


_SYMINTS = (
    (r"(?:c10|at)::OptionalSymIntArrayRef", "at::OptionalIntArrayRef"),
    (r"(?:c10|at)::SymIntArrayRef", "at::IntArrayRef"),
    (r"(?:c10|at)::SymInt\b", "int64_t"),
)


def with_code(text: str, kernel: Mapping[str, Any]) -> str:
    """The owned file's text, in which the generated function calls the owner's. Raises ValueError if it has another form."""
    mask = masked(text)
    start, opening, first, last = signature_of(text, mask)
    end = closing(mask, opening)
    parameters = split_arguments(text[opening + 1 : end])
    if len(parameters) != kernel["arguments"]:
        raise ValueError(f"takes {len(parameters)} arguments, and your function {kernel['arguments']}")
    listed, names = _named(parameters)
    head = f"{text[start : opening + 1]}{listed})"
    if not kernel["symint"]:
        for pattern, plain in _SYMINTS:
            head = re.sub(pattern, plain, head)
    body = f" {{\n  return {kernel['call']}({', '.join(names)});\n}}"
    before = _without_start(text[:start])
    moved = f"{{SPACE}}\n\n{kernel['text']}\n\n}}  // namespace {kernel['space']}\n\n" if kernel["text"] else ""
    moved = moved.replace("{SPACE}", f"namespace {kernel['space']} {{")
    outer = re.search(r"^namespace [\w:]+ \{\n", before, re.MULTILINE)
    if outer is None:
        raise ValueError("has no namespace")
    before = before[: outer.start()] + moved + before[outer.start() :]
    return _with_includes(before, kernel["includes"]) + head + body + text[last + 1 :]


def _named(parameters: Sequence[str]) -> tuple[str, list[str]]:
    """The parameters, with a name for those that a starter doesn't use."""
    listed, names = [], []
    for number, each in enumerate(parameters):
        found = re.fullmatch(r".*[\s&*>](\w+)", each)
        name = found[1] if found and not each.endswith((" double", " bool", " int64_t")) else f"a{number}"
        names.append(name)
        listed.append(each if found and name == found[1] else f"{each} {name}")
    return ", ".join(listed), names


def _without_start(text: str) -> str:
    """Without the comment about what the kernel starts as, which is true no more."""
    return re.sub(r"(?:^//[^\n]*\n)+\Z", "", text, flags=re.MULTILINE)


def _with_includes(text: str, includes: Sequence[str]) -> str:
    lines = [f"#include {each}" for each in includes if f"#include {each}" not in text]
    if not lines:
        return text
    last = list(re.finditer(r"^#include [^\n]*\n", text, re.MULTILINE))[-1]
    return text[: last.end()] + "\n".join(lines) + "\n" + text[last.end() :]


def place(plan: Mapping[str, Any], tree: pathlib.Path) -> list[str]:
    """Returns what could not be placed."""
    owned, wrong = owned_files(tree), []
    for kernel in plan["kernels"]:
        path = owned.get(kernel["mark"])
        if path is None:
            wrong.append(f"{kernel['op']}: the tree has no file for it")
            continue
        try:
            path.write_text(with_code(path.read_text(), kernel))
        except ValueError as error:
            wrong.append(f"{kernel['op']}: {path.relative_to(tree)} {error}")
    for name, text in plan["files"].items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if plan["python"]:
        wrong += _place_python(plan["python"], tree)
    return wrong


def _place_python(modules: Mapping[str, str], tree: pathlib.Path) -> list[str]:
    entries = [path for path in tree.glob("*/__init__.py") if "_chosen" in path.read_text()]
    if len(entries) != 1:
        return ["kernels in Python: the tree has no package that imports them"]
    folder = entries[0].parent / "adopted"
    folder.mkdir(exist_ok=True)
    names = ", ".join(sorted(modules))
    (folder / "__init__.py").write_text(
        f'"""Kernels in Python, moved by `openreg-gen new --from`."""\n\nfrom . import {names}  # noqa: F401\n'
    )
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    entry = entries[0].read_text().rstrip("\n")
    entries[0].write_text(entry + "\n    from . import adopted  # noqa: F401  # kernels in Python\n")
    return []


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    wrong = place(json.loads(given.plan.read_text()), given.tree)
    if wrong:
        fail(
            "not everything could be moved:\n  " + "\n  ".join(wrong),
            "move these by hand; the rest is in its place",
            Exit.NO,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
