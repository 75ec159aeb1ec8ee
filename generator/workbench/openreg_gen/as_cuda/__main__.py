"""`python -m openreg_gen.as_cuda`: runs an unchanged script that says `cuda` on another device."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import command, device
from ..cuda_names import ROWS
from . import as_cuda


class _Table(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        width = max(map(len, ROWS))
        print("\n".join(f"{name:{width}}  {row.runs}" for name, row in sorted(ROWS.items())))
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.Parser(
        prog=command.program("as_cuda"),
        description="Run an unchanged script that says cuda on another device.",
        epilog="The exit code is the script's. For several processes: torchrun -m openreg_gen.as_cuda --device NAME script.py",
    )
    device.add_arguments(parser)
    parser.add_argument("--table", nargs=0, action=_Table, help="print what each name of torch.cuda becomes, and exit")
    parser.add_argument("script", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script, as torchrun passes them")
    options = parser.parse_args(arguments)
    command.check_script(options.script)
    kind = device.find_device(options.device, options.package)
    with as_cuda(options.device or kind, options.package, Path(options.script).absolute().parent):
        command.run_script(options.script, options.arguments, own_code=True)
    return command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
