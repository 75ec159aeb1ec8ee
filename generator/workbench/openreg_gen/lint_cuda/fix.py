"""Makes the edits of findings: the new text, the difference, and the file."""

import ast
import difflib
import os
import tempfile
import tokenize
from collections.abc import Iterable, Sequence
from pathlib import Path

from .source import Edit


def read(path: Path) -> tuple[str, str]:
    """The text of a Python file with its line ends, and its encoding. Raises SyntaxError and UnicodeDecodeError."""
    with path.open("rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
    with path.open(encoding=encoding, newline="") as file:
        return file.read(), encoding


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made. Of two that overlap the first is made."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start >= at:
            parts += [text[at : edit.start], edit.text]
            at = edit.end
    new = "".join([*parts, text[at:]])
    ast.parse(new)  # an edit that breaks a file is a bug, and reaches no file
    return new


def difference(path: str, before: str, after: str) -> str:
    """A unified diff."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", n=1, lineterm="")
    return "".join(line + "\n" for line in lines)


def coloured(diff: str) -> str:
    """A diff for a terminal."""
    colours = {"+": "32", "-": "31", "@": "36"}
    return "".join(_painted(line, colours.get(line[:1])) for line in diff.splitlines(keepends=True))


def _painted(line: str, colour: str | None) -> str:
    if colour is None or line.startswith(("+++", "---")):
        return line
    return f"\033[{colour}m{line.rstrip()}\033[0m\n"


def write(path: Path, text: str, encoding: str) -> None:
    """Replace a file in one step, with the mode that it has."""
    descriptor, part = tempfile.mkstemp(dir=path.resolve().parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding=encoding, newline="") as file:
            file.write(text)
        os.chmod(part, path.stat().st_mode)
        os.replace(part, path.resolve())
    except BaseException:
        os.unlink(part)
        raise


def python_files(paths: Sequence[str]) -> list[Path]:
    """The files, and those of folders, without hidden ones and what is installed or built there."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(name for name in folders if not _left_out(Path(folder), name))
                found.update((Path(folder) / name, None) for name in sorted(names) if name.endswith(".py"))
        else:
            found[path] = None
    return list(found)


def _left_out(folder: Path, name: str) -> bool:
    there = folder / name
    return name.startswith(".") or name in ("__pycache__", "site-packages", "build") or (there / "pyvenv.cfg").exists()
