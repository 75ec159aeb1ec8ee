"""Shared by the tools as programs: their names, their errors and exit codes, and how they run a user script."""

import argparse
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from . import device, protocol
from .exits import Exit, Parser, fail, program

__all__ = [
    "Exit",
    "Parser",
    "add_script",
    "check_script",
    "ending_well",
    "fail",
    "program",
    "reported",
    "run",
    "run_script",
]


@contextmanager
def reported() -> Iterator[None]:
    """A device that can't be examined is an error of the environment, and no traceback."""
    try:
        yield
    except (device.DeviceError, protocol.ProtocolError) as error:
        fail(str(error), code=Exit.ENVIRONMENT)


def run(main: Callable[[], int]) -> NoReturn:
    """End the process with what `main` returns."""
    with reported():
        raise SystemExit(int(main()))


def add_script(parser: argparse.ArgumentParser) -> None:
    """The script that a tool runs, and the script's own arguments, which follow it."""
    parser.add_argument("script", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")


def check_script(path: str) -> None:
    """Refuse a script that is not there, before anything else happens."""
    if not Path(path).is_file():
        fail(f"no such script: {path}")


@contextmanager
def ending_well() -> Iterator[None]:
    """A script that ends itself without an error, by sys.exit() or sys.exit(0), ends the block: its tool has the last word."""
    try:
        yield
    except SystemExit as end:
        if end.code not in (None, 0):
            raise


def run_script(path: str, arguments: list[str]) -> None:
    """Run a script as `python PATH ARGUMENTS...` does. What it raises, SystemExit included, passes through."""
    sys.argv = [path, *arguments]
    sys.path[0] = str(Path(path).absolute().parent)
    runpy.run_path(path, run_name="__main__")
