"""The command: `openreg-gen compare`, or `python -m openreg_gen.compare`."""

import argparse
import contextlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import command, device
from .findings import Difference
from .mode import EVERY_STEP, compare

EXAMPLES = """\
examples:
  {0} --device mine train.py --epochs 1             a summary at the end
  {0} --device mine --first train.py                stops at the first difference, with a traceback
  {0} --device mine --modules 'encoder.*' train.py  only the operators that these modules call
  {0} --device mine --steps 3:5 train.py            only steps 3 and 4
  {0} --device mine --twice train.py                each operator twice on the device, instead of on the CPU

A step ends with optimizer.step(); in a script that doesn't train, with each call of an outermost module.

Exit codes: 0 nothing differs; 1 something does, or no call was compared; 3 the device's tensors can't be copied; otherwise the
script's own.
"""


def _tolerance(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (value := float(text)) < math.inf:
            return value
    raise argparse.ArgumentTypeError(f"{text}: not a number from 0 on")


def _steps(text: str) -> range:
    first, colon, last = text.partition(":")
    if (first.isdigit() or (colon and not first)) and (last.isdigit() or not last):
        begin = int(first or 0)
        found = range(begin, int(last) if last else EVERY_STEP.stop if colon else begin + 1)
        if found:
            return found
    raise argparse.ArgumentTypeError(f"{text}: not steps such as 3, 3:5, 3:")


def _sample(text: str) -> int:
    if text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: not a number from 1 on")


def parser() -> command.Parser:
    made = command.Parser(
        prog=command.program("compare"),
        description="Run a script and compare each operator's result on a device with the CPU's result.",
        epilog=EXAMPLES.format(command.program("compare")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    device.add_arguments(made)
    made.add_argument("--first", action="store_true", help="stop at the first difference, with a traceback")
    made.add_argument(
        "--rtol", type=_tolerance, metavar="X", help="relative tolerance; default: by dtype and sum length"
    )
    made.add_argument("--atol", type=_tolerance, metavar="X", help="absolute tolerance; give both or neither")
    made.add_argument("--steps", type=_steps, default=EVERY_STEP, metavar="N[:M]", help="compare step N, or N to M-1")
    made.add_argument(
        "--modules",
        action="append",
        default=[],
        metavar="GLOB",
        help="compare what these modules call, such as 'encoder.layers.3'; may be given more than once",
    )
    made.add_argument(
        "--sample", type=_sample, default=1, metavar="N", help="per operator and module, compare each N-th call only"
    )
    made.add_argument("--twice", action="store_true", help="compare with a second run on the device, bit by bit")
    made.add_argument(
        "--dump",
        type=Path,
        default=Path("differs.pt"),
        metavar="FILE",
        help="the first call that differs, for replay; default: %(default)s",
    )
    command.add_script(made)
    return made


def _tell(difference: Difference) -> None:
    print(f"differs: {difference.place}: {difference.op}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    if (options.rtol is None) != (options.atol is None):
        command.fail("--rtol and --atol go together", "give both, or neither")
    command.check_script(options.script)
    dump = options.dump.absolute()  # the script may change the folder
    if not dump.parent.is_dir():
        command.fail(f"no such folder: {dump.parent}")
    kind = device.open_device(options.device, options.package)
    mode = compare(
        kind,
        options.rtol,
        options.atol,
        raise_on_first=options.first,
        steps=options.steps,
        modules=options.modules,
        sample=options.sample,
        twice=options.twice,
        dump=dump,
        package=options.package,
        report=_tell,
    )
    # The summary comes after the mode has ended, which takes the time; also by sys.exit().
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: print(mode.result, file=sys.stderr))
        with mode, command.ending_well():
            command.run_script(options.script, options.arguments)
    if mode.result.nothing:
        return command.Exit.ENVIRONMENT if mode.result.uncopied else command.Exit.NO
    return command.Exit.NO if mode.result.differences else command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
