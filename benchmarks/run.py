"""Runs the benchmarks and prints a table. Called by run.sh, which builds the command and installs its peers.

Every figure is a whole process, from start to exit, as the operating system accounts for it; peers run beside the
command, in turn, in the same run, and the ratio of the medians is printed: times differ by machine, ratios less so.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import allocator
import build
import compiling
import importing
import large
import ops
import peers
import regenerate
from measure import Table, run

GENERATOR = os.environ.get("OPENREG_GEN", "openreg-gen")


def command(table: Table, scratch: pathlib.Path, runs: int) -> None:
    tree = scratch / "torch_openreg"
    spec = peers.ROOT / "specs" / "openreg.yaml"
    new = [GENERATOR, "new", "openreg", "--spec", spec, "--out"]
    run([*new, tree])

    def fresh(argv, where):
        shutil.rmtree(where, ignore_errors=True)
        return run(argv, cwd=scratch)

    out = scratch / "out"
    copier = peers.copier_command(tree, scratch)
    cookiecutter = peers.cookiecutter_command(tree, scratch)
    stubs = peers.torchgen_command(scratch)
    ours = table.measure("new, whole tree", lambda: fresh([*new, out], out), runs)
    for name, argv in (("copier copy", copier), ("cookiecutter", cookiecutter)):
        table.measure(f"  {name}, like tree", lambda argv=argv: fresh([*argv, out], out), runs, against=ours)
    table.measure("  torchgen.gen_backend_stubs", lambda: fresh(stubs, out), runs, against=ours)

    run([*new, out])
    table.measure("generate, nothing changed", lambda: run([GENERATOR, "generate", "-C", out]), runs)
    table.measure("generate --check, nothing changed", lambda: run([GENERATOR, "generate", "-C", out, "--check"]), runs)
    table.measure("check SPEC", lambda: run([GENERATOR, "check", spec]), runs)
    table.measure("ops add", lambda: run([GENERATOR, "ops", "add"]), runs)
    large.benchmark(table, scratch, runs)


GROUPS = {
    "command": command,
    "build": build.benchmark,
    "import": importing.benchmark,
    "ops": ops.benchmark,
    "allocator": allocator.benchmark,
    "compile": compiling.benchmark,
    "regenerate": regenerate.benchmark,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"any of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--runs", type=int, default=7, help="counted runs of each command, after one warm-up")
    args = parser.parse_args()
    if unknown := set(args.groups) - GROUPS.keys():
        parser.error(f"unknown group {min(unknown)!r}; there are {', '.join(GROUPS)}")
    for group in args.groups or GROUPS:
        table = Table(group)
        with tempfile.TemporaryDirectory() as scratch:
            GROUPS[group](table, pathlib.Path(scratch), args.runs)
        table.print(sys.stdout)


if __name__ == "__main__":
    main()
