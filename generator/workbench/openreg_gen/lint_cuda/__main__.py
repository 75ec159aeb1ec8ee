"""`openreg-gen lint-cuda`: shows what is found, and fixes what is mechanical."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import arguments
from ..exits import USAGE, Exit, check_file, complain, fail, program, put
from . import fix
from .accelerator import DEFINITION
from .find import Finding, all_edits, find
from .fit import fitted


@dataclass
class File:
    """A file with what was found in it."""

    path: Path
    text: str = ""
    encoding: str = "utf-8"
    found: Sequence[Finding] = ()
    error: str = ""

    @property
    def fixed(self) -> str:
        return fitted(fix.edited(self.text, all_edits(self.found)), self.text)


def examine(path: Path) -> File:
    """Read a file; a file that is not Python gets an error."""
    try:
        text, encoding = fix.read(path)
        return File(path, text, encoding, find(text, str(path)))
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        return File(path, error=f"{line}{error.msg if isinstance(error, SyntaxError) else error}")


def shown(found: Finding) -> str:
    """The line of a finding."""
    mark = " [fix]" if found.edits else " [note]" if found.note else ""
    advice = found.write if found.note else f"use {found.write}".replace("use nothing: ", "leave it out: ")
    return f"{found.path}:{found.line}:{found.column}: {found.found}: {advice}{mark}"


def as_json(files: Sequence[File], left: Sequence[Finding], written: bool) -> str:
    rows = [
        {
            "path": found.path,
            "line": found.line,
            "column": found.column,
            "found": found.found,
            "write": found.write,
            "note": found.note,
            "fix": bool(found.edits),
        }
        for file in files
        for found in file.found
    ]
    errors = [{"path": str(file.path), "error": file.error} for file in files if file.error]
    return json.dumps({"findings": rows, "errors": errors, "left": len(left), "written": written}, indent=2)


def agreed(options: argparse.Namespace, count: int) -> bool:
    """Whether to write: --yes, or the answer at a terminal."""
    if options.yes or not count:
        return bool(count)
    if options.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return input(f"Write {_counted(count, 'file')}? [y/N] ").strip().lower() in ("y", "yes")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def report(
    files: Sequence[File], left: Sequence[Finding], fixes: int, written: bool, options: argparse.Namespace
) -> None:
    """The lines of people."""
    for found in left:
        print(shown(found))
    if any("DEVICE" in found.write for found in left):
        print(f"DEVICE is {DEFINITION}")
    notes = sum(found.note for found in left)
    parts = [_counted(len(left) - notes, "place"), *([_counted(notes, "note")] if notes else [])]
    if written:
        print(f"fixed {_counted(fixes, 'place')}; {', '.join(parts)} left")
    elif left:
        print(f"{', '.join(parts)} in {_counted(len({each.path for each in left}), 'file')}; {fixes} can be fixed")
    else:
        print(f"nothing in {_counted(len(files), 'file')} says cuda")
    if fixes and not written:
        words = f"{program('lint-cuda')} --fix {'--yes ' if options.fix else ''}{shlex.join(map(str, options.path))}"
        print(f"Next:\n  {words}")


def main(words: Sequence[str] | None = None) -> int:
    options = arguments.parse("lint-cuda", words)
    json_file = check_file(options.json)
    for path in options.path:
        if not path.exists():
            fail(f"no such file or folder: {path}")
    if options.yes and not options.fix:
        fail("--yes goes with --fix", named=USAGE)
    files = [examine(path) for path in fix.python_files(options.path)]
    for file in files:
        if file.error:
            complain(f"{file.path} is not Python: {file.error}")
    changed = [file for file in files if any(found.edits for found in file.found)]
    if options.fix and json_file != "-":
        for file in changed:
            text = fix.difference(str(file.path), file.text, file.fixed)
            print(fix.coloured(text) if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text, end="")
    written = options.fix and agreed(options, len(changed))
    if written:
        for file in changed:
            fix.write(file.path, file.fixed, file.encoding)
    fixes = sum(bool(found.edits) for file in files for found in file.found)
    left = [found for file in files for found in file.found if not (written and found.edits)]
    put(json_file, as_json(files, left, written))
    if json_file != "-":
        report(files, left, fixes, written, options)
    if any(file.error for file in files):
        return Exit.INPUT
    return Exit.NO if any(not found.note for found in left) else Exit.DONE


if __name__ == "__main__":
    raise SystemExit(int(main()))
