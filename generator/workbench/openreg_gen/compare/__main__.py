"""The command: `openreg-gen compare`, or `python -m openreg_gen.compare`."""

import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import arguments, command, device
from .findings import Difference
from .mode import EVERY_STEP, compare


def _tell(difference: Difference) -> None:
    print(f"differs: {difference.place}: {difference.op}", file=sys.stderr)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments.parse("compare", words)
    if (options.rtol is None) != (options.atol is None):
        command.fail("--rtol and --atol go together", "give both, or neither")
    command.check_script(options.script)
    dump, json_file = Path(str(command.check_file(str(options.out)))), command.check_file(options.json)
    kind = device.open_device(options.device, options.package)
    mode = compare(
        kind,
        options.rtol,
        options.atol,
        raise_on_first=options.first,
        steps=options.steps or EVERY_STEP,
        modules=options.modules,
        sample=options.every,
        twice=options.twice,
        dump=dump,
        package=options.package,
        report=_tell,
    )
    # The summary comes after the mode has ended, which takes the time; also by sys.exit().
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: print(mode.result, file=sys.stderr))
        stack.callback(lambda: command.put(json_file, json.dumps(mode.result.json(), indent=1)))
        with mode, command.ending_well(), command.output_apart(json_file):
            command.run_script(options.script, options.arguments)
    if mode.result.nothing:
        return command.Exit.ENVIRONMENT if mode.result.uncopied else command.Exit.NO
    return command.Exit.NO if mode.result.differences else command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
