"""The command: `openreg-gen sanitize`, or `python -m openreg_gen.sanitize`."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence

from .. import arguments, command, device
from .findings import Race
from .mode import Sanitizer


def _tell(race: Race) -> None:
    print(f"race: {race.line}", file=sys.stderr)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments.parse("sanitize", words)
    command.check_script(options.script)
    json_file = command.check_file(options.json)
    os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")  # what fused kernels use is not seen
    kind = device.open_device(options.device, options.package)
    sanitizer = Sanitizer(kind, raise_on_first=options.first, limit=options.limit, frames=options.frames, report=_tell)

    def report() -> None:
        print(sanitizer.result, file=sys.stderr)
        if json_file is not None:
            found = {
                "device": kind,
                "calls": sanitizer.result.calls,
                "found": sanitizer.result.found,
                "unseen": {what.name.lower(): count for what, count in sanitizer.result.unseen.items()},
                "races": [race.as_json() for race in sanitizer.result.races],
            }
            command.put(json_file, json.dumps(found, indent=2))

    # The summary comes after the mode has ended, also by sys.exit().
    with contextlib.ExitStack() as stack:
        stack.callback(report)
        if (dynamo := sys.modules.get("torch._dynamo.config")) is not None:
            stack.enter_context(dynamo.patch(disable=True))
        with sanitizer as races, command.output_apart(json_file):
            command.run_script(options.script, options.arguments)
    return command.Exit.NO if races.found else command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
