"""Shared by the tools as programs: their names, their errors and exit codes, and how they run a user script."""

import os
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import NoReturn

from . import device, protocol
from .exits import Exit, Parser, check_file, complain, fail, program, put

__all__ = [
    "Exit",
    "Parser",
    "check_file",
    "check_script",
    "complain",
    "ending_well",
    "fail",
    "output_apart",
    "program",
    "put",
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
    """End the process with what `main` returns; 0 where the reader of standard output has gone, as of `| head`."""
    try:
        with reported():
            code = int(main())
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = int(Exit.DONE)
    raise SystemExit(code)


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


@contextmanager
def output_apart(*files: str | None) -> Iterator[None]:
    """If one of the files of --json or --html is standard output, it stays theirs: what is printed inside goes to standard error."""
    if "-" not in files:
        yield
        return
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)  # of C++, too
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(own, 1)
        os.close(own)


def run_script(path: str, arguments: list[str], own_code: bool = False) -> None:
    """Run a script as `python PATH ARGUMENTS...` does. What it raises passes through, but a script that ends itself with another code
    than 0 ends its tool with 1, as all failures of scripts do; own_code: with its own code."""
    sys.argv = [path, *arguments]
    sys.path[0] = str(Path(path).absolute().parent)
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if own_code or end.code in (None, 0, 1):
            raise
        said = end.code if isinstance(end.code, str) else f"{path} ended itself with exit code {end.code}"
        print(said, file=sys.stderr)
        raise SystemExit(int(Exit.NO)) from end
