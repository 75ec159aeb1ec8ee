"""Runs one call that `openreg-gen compare` wrote, alone, and says whether it still differs.

openreg-gen replay [--pytest test_FILE.py] FILE
"""

import json
from collections.abc import Sequence

import torch

from . import arguments, command, device
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


def main(words: Sequence[str] | None = None) -> int:
    options = arguments.parse("replay", words)
    json_file = command.check_file(options.json)
    say = print if json_file != "-" else lambda _: None
    try:
        stored = load(options.file)
        package = options.package or stored.package
        kind = device.open_device(options.device or stored.device, package)
        say(_told(stored, kind))
        if options.pytest is not None:
            for path in test_of(stored, kind, package, options.pytest):
                say(f"wrote {path}")
        found = replay(stored, kind)
    except (OSError, StoreError) as error:
        command.fail(str(error))
    reference = "from run to run" if stored.twice else "from the CPU's result"
    answer = {"op": stored.op, "device": kind, "twice": stored.twice, "differs": found is not None}
    command.put(json_file, json.dumps({**answer, "difference": "" if found is None else str(found)}, indent=1))
    if found is None:
        say(f"it no longer differs {reference}" + (f", in {_RUNS} runs" if stored.twice else ""))
        return command.Exit.DONE
    say(f"it still differs {reference}: {found}")
    if options.pytest is not None:
        say(f"Next: python -m pytest {options.pytest}")
    return command.Exit.NO


if __name__ == "__main__":
    command.run(main)
