"""How the tools end and complain, as programs. Without torch, which takes seconds to import."""

import argparse
import os
import sys
from enum import IntEnum
from typing import NoReturn


class Exit(IntEnum):
    """Exit codes, which are the command's."""

    DONE = 0
    NO = 1
    INPUT = 2
    ENVIRONMENT = 3


class Parser(argparse.ArgumentParser):
    """A parser whose errors are two lines, as the command's are."""

    def error(self, message: str) -> NoReturn:
        fail(message, f"`{self.prog} --help` lists the options")


def program(tool: str) -> str:
    """How a tool calls itself: "openreg-gen record" where the command started it."""
    command = os.environ.get("OPENREG_GEN_COMMAND")
    return f"{command} {tool}" if command else f"python -m openreg_gen.{tool}"


def fail(message: str, hint: str = "", code: Exit = Exit.INPUT) -> NoReturn:
    """Print an error and what to do about it, and end the process with `code`."""
    print(f"error: {message}" + (f"\nhint: {hint}" if hint else ""), file=sys.stderr)
    raise SystemExit(int(code))
