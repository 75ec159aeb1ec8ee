"""A spec of 2,500 operators, and the queries that read the catalogue: costs that grow with the number of operators."""

import importlib.util
import itertools
import json
import os
import pathlib
import shutil
import subprocess

from measure import Table, run

GENERATOR = os.environ.get("OPENREG_GEN", "openreg-gen")
COUNT = 2500
NATIVE = pathlib.Path(__file__).resolve().parent.parent / "templates" / "csrc" / "aten" / "native"
FOLDER = "torchgen/packaged/ATen/native"


def write_spec(path: pathlib.Path) -> None:
    """Names COUNT operators, each with a strategy that fits; those that have a default with `override`."""

    def answer_of(*argv):
        return json.loads(subprocess.run([GENERATOR, *argv], check=True, capture_output=True, text=True).stdout)

    path.write_text('backend: {name: mybackend}\nops: ["@minimal"]\n')
    minimal = {left["op"] for left in answer_of("check", path, "--json")["selections"][0]["left"]}
    # Kernels of these would have files that differ from the minimal set's in letter case only.
    taken = minimal | {path.name.split(".")[0].lower() for path in NATIVE.glob("*.cpp.j2")}
    lines = ["backend: {name: mybackend}", "ops:"]
    for op in [op for op in answer_of("ops", "--json")["ops"] if op["op"] not in taken][:COUNT]:
        override = ", override: true" if op["class"] == "composite" else ""
        lines.append(f"  {op['op']}: {{strategy: native{override}}}")
    path.write_text("\n".join(lines) + "\n")


def declarations(folder: pathlib.Path) -> pathlib.Path:
    """The installed PyTorch's declarations as a folder of their own: another PyTorch, as far as the command can see."""
    torch = pathlib.Path(importlib.util.find_spec("torch").origin).parent
    (folder / FOLDER).mkdir(parents=True)
    for name in ("native_functions.yaml", "tags.yaml"):
        shutil.copy(torch.parent / FOLDER / name, folder / FOLDER / name)
    return folder


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    spec, tree = scratch / "large.yaml", scratch / "large"
    numbers = itertools.count()
    write_spec(spec)
    new = [GENERATOR, "new", "mybackend", "--spec", spec, "--out"]

    def fresh():
        # A folder each: ext4 takes seconds to make thousands of files where as many were deleted just before.
        return run([*new, scratch / f"out{next(numbers)}"])

    table.measure(f"new, {COUNT} operators", fresh, runs)
    run([*new, tree])
    table.measure("  generate, nothing changed", lambda: run([GENERATOR, "generate", "-C", tree]), runs)
    table.measure("  check SPEC", lambda: run([GENERATOR, "check", spec]), runs)
    other = declarations(scratch / "torch-2.13.0")
    table.measure("  check SPEC --against DIR", lambda: run([GENERATOR, "check", spec, "--against", other]), runs)
    table.measure("ops show add.Tensor", lambda: run([GENERATOR, "ops", "show", "add.Tensor"]), runs)
    table.measure("ops diff DIR DIR", lambda: run([GENERATOR, "ops", "diff", other, other]), runs)
    table.measure("ops coverage", lambda: run([GENERATOR, "ops", "coverage"]), runs)
