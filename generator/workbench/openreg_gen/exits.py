"""How the tools end and complain, as programs: as the command does. Without torch, which takes seconds to import."""

import argparse
import json
import os
import sys
from enum import IntEnum
from pathlib import Path
from typing import NoReturn


class Exit(IntEnum):
    """Exit codes, which are the command's."""

    DONE = 0
    NO = 1
    INPUT = 2
    ENVIRONMENT = 3
    FAULT = 4


# What `openreg-gen explain` says of an error, by how the process ends.
CODES = {Exit.NO: "E0576", Exit.INPUT: "E0574", Exit.ENVIRONMENT: "E0575", Exit.FAULT: "E0699"}
USAGE = "E0500"
_as_json = False


class Parser(argparse.ArgumentParser):
    """A parser whose errors are two lines, as the command's are."""

    def error(self, message: str) -> NoReturn:
        fail(message, f"`{self.prog} --help` lists the options", named=USAGE)


def program(tool: str) -> str:
    """How a tool calls itself: "openreg-gen record" where the command started it."""
    command = os.environ.get("OPENREG_GEN_COMMAND")
    return f"{command} {tool}" if command else f"python -m openreg_gen.{tool.replace('-', '_')}"


def errors_as_json(wanted: bool) -> None:
    """Whether an error is one JSON object on standard output from now on, as after --json of the command."""
    global _as_json
    _as_json = wanted


def complain(message: str, hint: str = "", code: Exit = Exit.INPUT, named: str = "") -> None:
    """Print an error and what to do about it. named: its code; default: what CODES has."""
    named = named or CODES[code]
    if _as_json:
        row = {"severity": "error", "code": named, "message": message, "hint": hint}
        print(json.dumps({"schema_version": 1, "diagnostics": [{**row, "file": None, "line": None, "column": None}]}))
        return
    colour, plain = ("\x1b[1;31m", "\x1b[0m") if sys.stderr.isatty() and "NO_COLOR" not in os.environ else ("", "")
    print(f"{colour}openreg-gen: error[{named}]:{plain} {message}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)


def fail(message: str, hint: str = "", code: Exit = Exit.INPUT, named: str = "") -> NoReturn:
    """Print an error and what to do about it, and end the process with `code`."""
    complain(message, hint, code, named)
    raise SystemExit(int(code))


def check_file(where: str | None) -> str | None:
    """Refuse a file of --json or --html whose folder isn't there, before anything runs. Returns its absolute path: a script may
    change the folder. "-" is standard output; None stays."""
    if where in (None, "-"):
        return where
    path = Path(str(where)).absolute()
    if not path.parent.is_dir():
        fail(f"no such folder: {path.parent}", "name a file in an existing folder")
    return str(path)


def put(where: str | None, text: str) -> None:
    """Write what --json or --html gives where it says."""
    if where == "-":
        print(text)
    elif where is not None:
        try:
            Path(where).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            fail(f"{where}: {error.strerror}", "name another file")
