# Written by openreg-gen from openreg.yaml.
# Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
"""Run a script and write down the operators it asks of the openreg backend:

    python -m torch_openreg.record [-o FILE] script.py [arguments]

FILE, ops.json if not given, lists each operator with its calls, how many fell back to the CPU, and what that cost. It is
what `ops: ["@model:FILE"]` in a spec and `openreg-gen add --from FILE` take. A summary goes to stderr.
"""

import argparse
import contextlib
import runpy
import sys
from pathlib import Path

import torch

import torch_openreg


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m torch_openreg.record",
        description="Run a script and write down the operators it asks of the openreg backend.",
    )
    parser.add_argument("-o", "--output", default="ops.json", metavar="FILE", help="default: ops.json")
    parser.add_argument("script", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    options = parser.parse_args(arguments)
    if not Path(options.script).is_file():
        parser.error(f"there is no script {options.script}")
    output = Path(options.output).absolute()  # the script may change the folder
    if not output.parent.is_dir():
        parser.error(f"there is no folder {output.parent}")
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = str(Path(options.script).absolute().parent)
    recorded = torch.get_device_module("openreg").record(output)
    # The summary is printed once the recording has ended, also by sys.exit(), and only if it has begun.
    with contextlib.ExitStack() as stack, recorded as recording:
        stack.callback(lambda: print(f"{recording}\nwritten to {output}", file=sys.stderr))
        runpy.run_path(options.script, run_name="__main__")
    return 0


if __name__ == "__main__":
    assert torch_openreg is not None  # it registered the device
    raise SystemExit(main())
