"""`python -m openreg_gen.adopt.place --plan FILE --tree DIR`: moves an owner's code into a tree that was just rendered.

It writes owned files, files of its own below csrc/adopted and PACKAGE/adopted, and one line of PACKAGE/__init__.py, which is
shared.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
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


def texts(plan: Mapping[str, Any], tree: pathlib.Path) -> tuple[dict[pathlib.Path, str], list[str]]:
    """The files to write, and what could not be placed. Writes nothing."""
    owned, wrong = owned_files(tree), []
    out: dict[pathlib.Path, str] = {}
    for kernel in plan["kernels"]:
        path = owned.get(kernel["mark"])
        if path is None:
            wrong.append(f"{kernel['op']}: the tree has no file for it")
            continue
        try:
            out[path] = with_code(path.read_text(), kernel)
        except ValueError as error:
            wrong.append(f"{kernel['op']}: {path.relative_to(tree)} {error}")
    out |= {tree / name: text for name, text in plan["files"].items()}
    if plan["python"]:
        wrong += _python_texts(plan["python"], tree, out)
    return out, wrong


def write_all(files: Mapping[pathlib.Path, str]) -> None:
    """Write all of the files or none: first beside their places, then one rename per file. An error undoes everything."""
    folders: list[pathlib.Path] = []
    renamed: list[pathlib.Path] = []
    try:
        for path, text in files.items():
            for each in reversed([each for each in path.parents if not each.exists()]):
                each.mkdir()
                folders.append(each)
            _beside(path, "new").write_text(text)
            if path.exists():
                shutil.copymode(path, _beside(path, "new"))
                os.link(path, _beside(path, "old"))
        for path in files:
            _beside(path, "new").replace(path)
            renamed.append(path)
    except BaseException:
        for path in renamed:
            if _beside(path, "old").exists():
                _beside(path, "old").replace(path)
            else:
                path.unlink()
        _remove_parts(files)
        for each in reversed(folders):
            each.rmdir()
        raise
    _remove_parts(files)


def _beside(path: pathlib.Path, part: str) -> pathlib.Path:
    return path.with_name(f".{path.name}.{part}")


def _remove_parts(files: Mapping[pathlib.Path, str]) -> None:
    for path in files:
        for part in ("new", "old"):
            _beside(path, part).unlink(missing_ok=True)


def _python_texts(modules: Mapping[str, str], tree: pathlib.Path, out: dict[pathlib.Path, str]) -> list[str]:
    entries = [path for path in tree.glob("*/__init__.py") if "_chosen" in path.read_text()]
    if len(entries) != 1:
        return ["kernels in Python: the tree has no package that imports them"]
    folder = entries[0].parent / "adopted"
    names = ", ".join(sorted(modules))
    out[folder / "__init__.py"] = (
        f'"""Kernels in Python, moved by `openreg-gen new --from`."""\n\nfrom . import {names}  # noqa: F401\n'
    )
    for name, text in modules.items():
        out[folder / f"{name}.py"] = text
    entry = entries[0].read_text().rstrip("\n")
    out[entries[0]] = entry + "\n    from . import adopted  # noqa: F401  # kernels in Python\n"
    return []


def main(words: Sequence[str] | None = None) -> int:
    given = arguments(words)
    files, wrong = texts(json.loads(given.plan.read_text()), given.tree)
    try:
        write_all(files)
    except OSError as error:
        fail(
            f"{error.filename or given.tree}: {error.strerror or error}: none of your code was moved",
            f"free some space or fix the permissions, delete {given.tree}, and repeat the command",
            Exit.ENVIRONMENT,
        )
    if wrong:
        fail(
            "not everything could be moved:\n  " + "\n  ".join(wrong),
            "move these by hand; the rest is in its place",
            Exit.NO,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
