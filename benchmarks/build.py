"""Building the generated tree: clean, and again after an edit of one kernel; without ccache, on all cores."""

import os
import pathlib
import sys

from measure import Table, run

GENERATOR = os.environ.get("OPENREG_GEN", "openreg-gen")


def largest_units(log: pathlib.Path, count: int) -> list[tuple[float, str]]:
    """(seconds, object) of the slowest translation units, from ninja's log."""
    units = {}
    for line in log.read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        if output.endswith((".o", ".gch")):
            units[output] = (int(end) - int(start)) / 1000
    return sorted(((s, o) for o, s in units.items()), reverse=True)[:count]


def benchmark(table: Table, scratch: pathlib.Path, runs: int) -> None:
    tree = scratch / "torch_mybackend"
    run([GENERATOR, "new", "mybackend", "--out", tree])
    where = scratch / "build"
    env = {"CCACHE_DISABLE": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    run(["cmake", "-S", tree, "-B", where, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"], env=env)

    def make():
        return run(["cmake", "--build", where], env=env)

    clean = make()
    table.note(f"clean build, {os.cpu_count()} cores, no ccache", f"{clean.wall:.1f}")
    for seconds, output in largest_units(where / ".ninja_log", 5):
        name = output.split(".dir/")[-1]
        table.note(f"  {name}", f"{seconds:.1f}")
    kernel = min((tree / "csrc/aten/native").glob("*.cpp"))

    def edit():
        kernel.write_text(kernel.read_text() + "\n")
        return make()

    table.measure(f"rebuild after editing {kernel.name}", edit, min(runs, 3), against=clean.wall)
    table.measure("rebuild, nothing changed", make, runs)
