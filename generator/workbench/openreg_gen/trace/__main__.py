"""`openreg-gen trace CODE --device NAME`, or `python -m openreg_gen.trace`: see docs/reference/trace.md."""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

# Kineto and the allocator read these when torch is loaded, which the modules below do.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else it prints "USDT:" lines on standard error
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # else it warns about memory that was allocated before the trace

from .. import arguments, command, device, protocol
from . import page, terminal
from .code import Code, CodeError, expression, parse_shape, script
from .make import trace


def _code(args: argparse.Namespace, kind: str) -> Code:
    """The code to trace. Raises CodeError."""
    path = Path(args.code)
    if args.code.endswith(".py") or ("\n" not in args.code and len(args.code) < 256 and path.is_file()):
        if args.shape or args.grad:
            raise CodeError("--shape and --grad are for expressions", f"leave them out to trace the script {path}")
        return script(path, args.arguments)
    if args.arguments:
        raise CodeError(
            f"{' '.join(args.arguments)}: an expression takes no arguments", "quote the whole expression for the shell"
        )
    return expression(args.code, kind, dict(parse_shape(word) for word in args.shape), args.grad)


def main(words: Sequence[str] | None = None) -> int:
    """Returns 0 for a trace, 1 if the code failed; ends the process with 2 for bad input, with 3 for a device that does not answer."""
    args = arguments.parse("trace", words)
    files = {"html": command.check_file(args.html), "json": command.check_file(args.json)}
    kind = device.open_device(args.device, args.package)
    try:
        workbench = protocol.of(kind)
    except protocol.ProtocolError as error:
        command.fail(str(error), "docs/reference/workbench.md describes the protocol", command.Exit.ENVIRONMENT)
    try:
        code = _code(args, kind)
    except CodeError as error:
        command.fail(str(error), error.hint)
    except device.DeviceError as error:
        command.fail(str(error), "a script as CODE makes its own tensors", command.Exit.ENVIRONMENT)
    with command.output_apart(*files.values()):
        made = trace(code, kind, workbench, args.limit)
    command.put(files["html"], page.render(made.json()) if files["html"] else "")
    command.put(files["json"], json.dumps(made.json()))
    if "-" not in files.values():
        colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        for line in terminal.lines(made, everything=args.all, tree=not args.quiet, colours=colours):
            print(line)
    return command.Exit.NO if made.error else command.Exit.DONE


if __name__ == "__main__":
    try:
        command.run(main)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        traceback.print_exc()
        command.fail(
            "the trace itself failed; this is a bug in openreg-gen",
            "report it with the lines above",
            command.Exit.FAULT,
        )
