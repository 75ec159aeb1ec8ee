"""`openreg-gen lint-cuda`: shows what is found, and fixes what is mechanical."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..exits import Exit, Parser, fail, program
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
        words = f"{options.prog} --fix {'--yes ' if options.fix else ''}{shlex.join(options.path)}"
        print(f"Next:\n  {words}")


def main(arguments: Sequence[str] | None = None) -> int:
    prog = program("lint-cuda") if "OPENREG_GEN_COMMAND" in os.environ else program("lint_cuda")
    parser = Parser(
        prog=prog,
        description="Find code that only runs on CUDA, and suggest what runs on each backend.",
        epilog="A comment `# lint-cuda: off` silences its line. Exit codes: 0 nothing is left, 1 something is, 2 bad input.",
    )
    parser.add_argument("path", nargs="+", metavar="PATH", help="a Python file, or a folder")
    parser.add_argument("--fix", action="store_true", help="show the difference that fixes what is mechanical")
    parser.add_argument(
        "-y", "--yes", action="store_true", help="with --fix: write it; without this, a terminal is asked"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    options = parser.parse_args(arguments, argparse.Namespace(prog=prog))
    for path in options.path:
        if not Path(path).exists():
            fail(f"no such file or folder: {path}")
    if options.yes and not options.fix:
        parser.error("--yes goes with --fix")
    files = [examine(path) for path in fix.python_files(options.path)]
    for file in files:
        if file.error:
            print(f"error: {file.path} is not Python: {file.error}", file=sys.stderr)
    changed = [file for file in files if any(found.edits for found in file.found)]
    if options.fix and not options.json:
        for file in changed:
            text = fix.difference(str(file.path), file.text, file.fixed)
            print(fix.coloured(text) if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text, end="")
    written = options.fix and agreed(options, len(changed))
    if written:
        for file in changed:
            fix.write(file.path, file.fixed, file.encoding)
    fixes = sum(bool(found.edits) for file in files for found in file.found)
    left = [found for file in files for found in file.found if not (written and found.edits)]
    if options.json:
        print(as_json(files, left, written))
    else:
        report(files, left, fixes, written, options)
    if any(file.error for file in files):
        return Exit.INPUT
    return Exit.NO if any(not found.note for found in left) else Exit.DONE


if __name__ == "__main__":
    raise SystemExit(int(main()))
