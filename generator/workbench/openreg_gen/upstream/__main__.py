"""The command: `openreg-gen upstream`, or `python -m openreg_gen.upstream`."""

import argparse
import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import command, device
from . import configure, discover, native
from .files import HARDWARE
from .triage import CATEGORIES

EXAMPLES = """\
examples:
  {0} --device mine pytorch/test/test_torch.py -k pin_memory     one file, in this process
  {0} --device mine --discover pytorch                           all files for devices, in worker processes
  {0} --device mine --discover pytorch --select 'test_ops.py::test_out*'
  {0} --device mine --discover pytorch --shard 1/4 --results shard1
  {0} --device mine --discover pytorch --exclusions mine.yaml --resume
  {0} --device mine --last --exclusions mine.yaml --write-exclusions --category crash --reason 'ticket 12'

As a plugin of pytest: OPENREG_GEN_DEVICE=NAME pytest -p openreg_gen.upstream FILE.py

Exit codes: 0 no test fails that isn't excluded, 1 one does, or an exclusion is no longer needed, 2 a bad argument,
3 the device can't be used, or the run was interrupted.
"""


def shard(text: str) -> tuple[int, int]:
    index, mark, count = text.partition("/")
    if not (mark and index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text} is not a shard; write 1/4 for the first of four")
    return int(index), int(count)


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return int(text)


def parser() -> command.Parser:
    p = command.Parser(
        prog=command.program("upstream"),
        description="Run PyTorch's own test files on a backend: one file, or all that make tests for devices.",
        epilog=EXAMPLES.format(command.program("upstream")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    device.add_arguments(p)
    p.add_argument("--native", action="store_true", help="only operators that the backend lists in `operators`")
    p.add_argument("--cuda", action="store_true", help="also tests that are written for CUDA alone")
    p.add_argument("file", metavar="FILE.py", nargs="?", help="a test file of PyTorch's repository")
    p.add_argument("options", nargs=argparse.REMAINDER, help="of one file, unittest's options: -k pin_memory, -v")

    many = p.add_argument_group("all files")
    many.add_argument("--discover", type=Path, metavar="CHECKOUT", help="run the files below a checkout of PyTorch")
    many.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="GLOB",
        help="files or tests: test_ops.py, 'test_out*', 'test_ops.py::test_out*'",
    )
    many.add_argument(
        "--hw-classification",
        dest="hardware",
        nargs="+",
        default=[],
        type=str.upper,
        choices=HARDWARE,
        metavar="HARDWARE",
        help=f"only classes that are marked so, in releases that mark them: {', '.join(HARDWARE)}",
    )
    many.add_argument("--shard", type=shard, default=(1, 1), metavar="I/N", help="the I-th of N parts of the tests")
    many.add_argument(
        "--jobs",
        type=positive,
        default=len(os.sched_getaffinity(0)),
        metavar="N",
        help="worker processes; default: %(default)s",
    )
    many.add_argument("--timeout", type=float, default=120, metavar="S", help="of a test, in seconds; default: 120")
    many.add_argument("--results", type=Path, metavar="DIR", help="the folder of all runs; default: upstream-NAME")
    many.add_argument("--resume", action="store_true", help="go on with the run that was interrupted")
    many.add_argument("--last", action="store_true", help="run nothing, and report the last run again")
    many.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="run nothing, and make one run of the shards in these folders",
    )
    many.add_argument(
        "--against", type=Path, metavar="RESULTS", help="also compare with a results.json, of another release say"
    )
    many.add_argument("--no-retry", action="store_true", help="don't run tests that newly fail a second time")
    many.add_argument(
        "--shown", type=positive, default=10, metavar="N", help="tests per list in the terminal; default: 10"
    )

    left_out = p.add_argument_group("exclusions")
    left_out.add_argument(
        "--exclusions",
        type=Path,
        metavar="FILE",
        help="YAML with tests.exclude: the tree's spec, or a file; default: what the backend was built with",
    )
    left_out.add_argument(
        "--skip-excluded", action="store_true", help="don't run excluded tests to see whether they pass"
    )
    left_out.add_argument("--write-exclusions", action="store_true", help="add the tests that failed to FILE")
    left_out.add_argument(
        "--category", action="append", default=[], choices=list(CATEGORIES), metavar="CATEGORY", help="only those"
    )
    left_out.add_argument(
        "--reason", metavar="TEXT", help="the reason of all entries that are added; without it you write each"
    )
    return p


def check(given: argparse.Namespace) -> None:
    """Refuse arguments that don't fit together."""
    modes = [name for name in ("discover", "last", "merge") if getattr(given, name)]
    if given.file is None and not modes:
        command.fail(
            "neither FILE.py nor --discover CHECKOUT is given", "name one of PyTorch's test files, or its checkout"
        )
    if len(modes) > 1:
        command.fail(f"--{modes[0]} and --{modes[1]} exclude each other", "give one of them")
    if given.file is not None and modes:
        command.fail(f"{given.file}: --{modes[0]} takes no FILE.py", f"--select {given.file} chooses a file")
    if given.write_exclusions and given.exclusions is None:
        command.fail(
            "--write-exclusions needs a file", "add --exclusions FILE: the tree's spec, or a YAML file of its own"
        )
    if given.reason is not None and not given.reason.strip():
        command.fail("--reason is empty", "say why the tests can't pass, such as --reason 'the device pins nothing'")


def main(arguments: Sequence[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    check(given)
    if given.file is not None:
        return one_file(given)
    kind = device.find_device(given.device, given.package)
    check_packages()
    return discover.main(given, kind)


def check_packages() -> None:
    if not all(importlib.util.find_spec(name) for name in ("numpy", "expecttest")):
        command.fail(
            f"{sys.executable} has not all that PyTorch's tests need",
            "install them: pip install numpy expecttest",
            command.Exit.ENVIRONMENT,
        )


def without_report() -> None:
    """With CI set, PyTorch's run_tests writes a report by a package that few have; without it, it only runs the tests."""
    from torch.testing._internal import common_utils

    if importlib.util.find_spec("xmlrunner") is None:
        common_utils.IS_CI = False


def one_file(given: argparse.Namespace) -> int:
    path = Path(given.file).resolve()
    if not path.is_file():
        command.fail(f"{path}: no such file", "PyTorch's tests are in its repository, not in its wheel")
    kind = device.open_device(given.device, given.package)
    check_packages()
    workbench = configure(kind, native(kind) if given.native else None, given.cuda)
    without_report()
    for _, test, reason in workbench.excluded:
        print(f"excluded: {test}: {reason}", file=sys.stderr)
    sys.argv = [given.file, *given.options]
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name="__main__")
    return command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
