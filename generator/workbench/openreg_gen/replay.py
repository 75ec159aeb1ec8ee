"""Runs one call that `openreg-gen compare` wrote, alone, and says whether it still differs.

openreg-gen replay FILE [--pytest test_FILE.py]
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from . import command, device
from .compare import references, rules, values
from .compare.judge import Found, Outcomes, Verdict, found_in
from .compare.pytest_file import test_of
from .compare.stored import StoredCall, StoreError, load

_RUNS = 100  # of a call that differed from its own second run


def run(stored: StoredCall, kind: str) -> Outcomes:
    """The outcomes of the call on a device, copied to the CPU."""
    call, func = stored.call(kind), stored.func
    found = rules.outcomes(func, call, references.run(func, *call) if kind == "cpu" else func(*call[0], **call[1]))
    return [(what, values.on_host(value)) for what, value in found]


def replay(stored: StoredCall, kind: str) -> Found | None:
    """Run the call on the device and on the CPU, or again and again on the device; return what differs."""
    with torch.no_grad():
        stored.restore()
        expected = run(stored, kind if stored.twice else "cpu")
        for _ in range(_RUNS if stored.twice else 1):
            before = stored.call("cpu")
            found = found_in(stored.func, before, run(stored, kind), expected, stored.tolerance, stored.twice)
            for each in found:
                if each.judged.verdict not in (Verdict.ROUNDING, Verdict.REFERENCE):
                    return each
    return None


def _told(stored: StoredCall, kind: str) -> str:
    where = stored.module or stored.line or "in no module"
    arguments = rules.described(stored.func, stored.call(kind))
    versions = ", ".join(f"{name} {version}" for name, version in stored.versions.items())
    return (
        f"{stored.op}({', '.join(arguments)})\n"
        f"  found in step {stored.step}, {stored.phase}, {where}; seed {stored.seeds['torch']}; {versions}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.Parser(
        prog=command.program("replay"),
        description="Run one call that `openreg-gen compare` wrote to a file, and say whether it still differs.",
        epilog="Exit codes: 0 it no longer differs, 1 it does, 2 the file can't be read, 3 there is no such device.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the file; compare's --dump names it")
    device.add_arguments(parser, required=False)
    parser.add_argument("--pytest", type=Path, metavar="TEST", help="write the call as a test that needs only PyTorch")
    options = parser.parse_args(arguments)
    try:
        stored = load(options.file)
        package = options.package or stored.package
        kind = device.open_device(options.device or stored.device, package)
        print(_told(stored, kind))
        if options.pytest is not None:
            for path in test_of(stored, kind, package, options.pytest):
                print(f"wrote {path}")
        found = replay(stored, kind)
    except (OSError, StoreError) as error:
        command.fail(str(error))
    reference = "from run to run" if stored.twice else "from the CPU's result"
    if found is None:
        print(f"it no longer differs {reference}" + (f", in {_RUNS} runs" if stored.twice else ""))
        return command.Exit.DONE
    print(f"it still differs {reference}: {found}")
    if options.pytest is not None:
        print(f"Next: python -m pytest {options.pytest}")
    return command.Exit.NO


if __name__ == "__main__":
    command.run(main)
