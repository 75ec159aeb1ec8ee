"""The command: `openreg-gen sanitize`, or `python -m openreg_gen.sanitize`."""

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import command, device
from .findings import Race
from .mode import Sanitizer

EXAMPLES = """\
examples:
  {0} --device mine train.py --epochs 1         the races, each with both stacks, at the end
  {0} --device mine --first train.py            stops at the first race, with a traceback
  {0} --device mine --json races.json train.py  also as JSON
  {0} --device mine run_tests.py                pytest under it: see docs/reference/workbench.md

Exit codes: 0 no race, 1 a race; otherwise the script's own.
"""


def _count(text: str) -> int:
    if text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: not a number from 1 on")


def parser() -> command.Parser:
    made = command.Parser(
        prog=command.program("sanitize"),
        description="Run a script and report streams that use memory without order, and memory that is reused too early.",
        epilog=EXAMPLES.format(command.program("sanitize")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    device.add_arguments(made)
    made.add_argument("--first", action="store_true", help="stop at the first race, with a traceback")
    made.add_argument(
        "--limit", type=_count, default=20, metavar="N", help="races that are reported; default: %(default)s"
    )
    made.add_argument("--frames", type=_count, default=5, metavar="N", help="lines of each stack; default: %(default)s")
    made.add_argument("--json", metavar="FILE", help="also write the races as JSON; - for stdout")
    command.add_script(made)
    return made


def _tell(race: Race) -> None:
    print(f"race: {race.line}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    command.check_script(options.script)
    json_file = Path(options.json).absolute() if options.json and options.json != "-" else None
    if json_file is not None and not json_file.parent.is_dir():
        command.fail(f"no such folder: {json_file.parent}")
    os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")  # what fused kernels use is not seen
    kind = device.open_device(options.device, options.package)
    sanitizer = Sanitizer(kind, raise_on_first=options.first, limit=options.limit, frames=options.frames, report=_tell)

    def report() -> None:
        print(sanitizer.result, file=sys.stderr)
        if options.json:
            found = {
                "device": kind,
                "calls": sanitizer.result.calls,
                "found": sanitizer.result.found,
                "unseen": {what.name.lower(): count for what, count in sanitizer.result.unseen.items()},
                "races": [race.as_json() for race in sanitizer.result.races],
            }
            text = json.dumps(found, indent=2)
            print(text) if json_file is None else json_file.write_text(text + "\n", encoding="utf-8")

    # The summary comes after the mode has ended, also by sys.exit().
    with contextlib.ExitStack() as stack:
        stack.callback(report)
        if (dynamo := sys.modules.get("torch._dynamo.config")) is not None:
            stack.enter_context(dynamo.patch(disable=True))
        with sanitizer as races:
            command.run_script(options.script, options.arguments)
    return command.Exit.NO if races.found else command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
