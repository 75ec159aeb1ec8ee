"""The command: `openreg-gen upstream`, or `python -m openreg_gen.upstream`."""

import argparse
import importlib.util
import runpy
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import arguments, command, device
from . import configure, discover, native


def check(given: argparse.Namespace) -> None:
    """Refuse arguments that don't fit together."""
    modes = [name for name in ("discover", "last", "merge") if getattr(given, name)]
    if given.file is None and not modes:
        command.fail(
            "neither FILE.py nor --discover CHECKOUT is given", "name one of PyTorch's test files, or its checkout"
        )
    if len(modes) > 1:
        command.fail(f"--{modes[0]} and --{modes[1]} exclude each other", "give one of them")
    if given.file is not None and modes:
        hint = (
            f"give --merge {given.file}: once for each folder"
            if given.merge
            else f"--select {given.file} chooses a file"
        )
        command.fail(f"{given.file}: --{modes[0]} takes no FILE.py", hint)
    if given.arguments and given.file is None:
        command.fail(
            f"{shlex.join(given.arguments)}: what is behind -- goes to one test file", "name FILE.py, or use --select"
        )
    if given.json is not None and given.file is not None:
        command.fail("--json is for all files", "--discover runs them; a test file itself has no --json")
    if given.write_exclusions and given.exclusions is None:
        command.fail(
            "--write-exclusions needs a file", "add --exclusions FILE: the tree's spec, or a YAML file of its own"
        )
    if given.reason is not None and not given.reason.strip():
        command.fail("--reason is empty", "say why the tests can't pass, such as --reason 'the device pins nothing'")


def main(words: Sequence[str] | None = None) -> int:
    given = arguments.parse("upstream", words)
    given.json = command.check_file(given.json)
    check(given)
    if given.file is not None:
        return one_file(given)
    kind = device.find_device(given.device, given.package)
    check_packages()
    return discover.main(given, kind)


def check_packages() -> None:
    if not all(importlib.util.find_spec(name) for name in ("numpy", "expecttest")):
        command.fail(
            f"{sys.executable} has not all that PyTorch's tests need",
            "install them: pip install numpy expecttest",
            command.Exit.ENVIRONMENT,
        )


def without_report() -> None:
    """With CI set, PyTorch's run_tests writes a report by a package that few have; without it, it only runs the tests."""
    from torch.testing._internal import common_utils

    if importlib.util.find_spec("xmlrunner") is None:
        common_utils.IS_CI = False


def one_file(given: argparse.Namespace) -> int:
    path = Path(given.file).resolve()
    if not path.is_file():
        command.fail(f"{path}: no such file", "PyTorch's tests are in its repository, not in its wheel")
    kind = device.open_device(given.device, given.package)
    check_packages()
    workbench = configure(kind, native(kind) if given.native else None, given.cuda)
    without_report()
    for _, test, reason in workbench.excluded:
        print(f"excluded: {test}: {reason}", file=sys.stderr)
    sys.argv = [given.file, *given.arguments]
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name="__main__")
    return command.Exit.DONE


if __name__ == "__main__":
    command.run(main)
