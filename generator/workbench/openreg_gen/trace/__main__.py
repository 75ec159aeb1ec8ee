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

from .. import device, protocol
from . import page, terminal
from .code import Code, CodeError, expression, parse_shape, script
from .make import trace

OK, NO, BAD_INPUT, ENVIRONMENT, OWN_FAULT = 0, 1, 2, 3, 4


def parser() -> argparse.ArgumentParser:
    command = os.environ.get("OPENREG_GEN_COMMAND")
    made = argparse.ArgumentParser(
        prog=f"{command} trace" if command else "python -m openreg_gen.trace",
        description="Show how each call of an expression or a script reaches a backend's kernels.",
        epilog="In an expression you can use torch, F and nn; free names such as a and b become tensors on the device. "
        "A script's own arguments come after --.",
    )
    made.add_argument("code", metavar="CODE", help="an expression ('torch.relu(a + b)'), or a Python file")
    device.add_arguments(made)
    made.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="[NAME=]2x3[:DTYPE]",
        help="the shape of an expression's tensors, or of one (default: 4x4, float32); may be given more than once",
    )
    made.add_argument(
        "--grad", action="store_true", help="an expression's tensors require gradients (default: if it calls backward)"
    )
    made.add_argument(
        "--most", type=_positive, default=2000, metavar="N", help="stop the code after N calls (default: %(default)s)"
    )
    made.add_argument("--html", type=Path, metavar="FILE", help="write a page with a timeline and the source")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the trace as JSON")
    made.add_argument(
        "--all", action="store_true", help="also print skipped keys, and operators that only change views"
    )
    made.add_argument("--quiet", action="store_true", help="print only the answers, without the tree")
    return made


def _positive(word: str) -> int:
    if not word.isdigit() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"{word} is not a number of calls")
    return int(word)


def _code(args: argparse.Namespace, words: Sequence[str], kind: str) -> Code:
    """The code to trace. Raises CodeError."""
    path = Path(args.code)
    if args.code.endswith(".py") or ("\n" not in args.code and len(args.code) < 256 and path.is_file()):
        if args.shape or args.grad:
            raise CodeError("--shape and --grad are for expressions", f"leave them out to trace the script {path}")
        return script(path, words)
    if words:
        raise CodeError(
            f"{' '.join(words)}: an expression takes no arguments", "quote the whole expression for the shell"
        )
    return expression(args.code, kind, dict(parse_shape(word) for word in args.shape), args.grad)


def _fail(text: str, hint: str, code: int) -> int:
    print(f"error: {text}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Returns 0 for a trace, 1 if the code failed, 2 for bad input, 3 for a device that does not answer."""
    words = list(sys.argv[1:] if argv is None else argv)
    at = words.index("--") if "--" in words else len(words)
    args = parser().parse_args(words[:at])
    try:
        kind = device.open_device(args.device, args.package)
        workbench = protocol.of(kind)
    except device.DeviceError as error:
        return _fail(str(error), "", ENVIRONMENT)
    except protocol.ProtocolError as error:
        return _fail(str(error), "docs/reference/workbench.md describes the protocol", ENVIRONMENT)
    try:
        code = _code(args, words[at + 1 :], kind)
    except CodeError as error:
        return _fail(str(error), error.hint, BAD_INPUT)
    except device.DeviceError as error:
        return _fail(str(error), "a script as CODE makes its own tensors", ENVIRONMENT)
    made = trace(code, kind, workbench, args.most)
    for path, text in ((args.json, json.dumps), (args.html, page.render)):
        if path is not None:
            try:
                path.write_text(text(made.json()))
            except OSError as error:
                return _fail(f"{path}: {error.strerror}", "name a file in an existing folder", BAD_INPUT)
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in terminal.lines(made, everything=args.all, tree=not args.quiet, colours=colours):
        print(line)
    return NO if made.error else OK


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = OK
    except KeyboardInterrupt:
        status = 130
    except Exception:
        traceback.print_exc()
        status = _fail(
            "the trace itself failed; this is a bug in openreg-gen", "report it with the lines above", OWN_FAULT
        )
    sys.exit(status)
