"""Compiles each C++ source of the trees alone and writes its time, by template: scripts/component_times.sh calls it."""

import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile


failed: list[str] = []


def seconds(command: list[str], folder: str) -> float:
    """Processor time of a command and of all that it starts."""
    process = subprocess.Popen(command, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        failed.append(shlex.join(command))
    return usage.ru_utime + usage.ru_stime


def jobs(tree: pathlib.Path, scratch: pathlib.Path) -> list[tuple[str, list[str], str]]:
    """Path in the tree, command and folder of each compilation; units of several sources are taken apart."""
    found = []
    for entry in json.loads((tree / "build/compile_commands.json").read_text()):
        command = shlex.split(entry["command"])
        source = pathlib.Path(entry["file"])
        sources = [source]
        if "/Unity/" in entry["file"]:
            sources = [pathlib.Path(name) for name in re.findall(r'#include "(.+)"', source.read_text())]
        output = command.index("-o") + 1
        for each in sources:
            own = [*command]
            own[own.index(entry["file"])] = str(each)
            own[output] = str(scratch / f"{len(found)}.o")
            found.append((str(each.relative_to(tree)), own, entry["directory"]))
    return found


def main() -> None:
    measured: dict[str, float] = {}
    for tree in map(pathlib.Path, sys.argv[2:]):
        files = json.loads((tree / ".openreg-gen/manifest.json").read_text())["files"]
        headers = subprocess.run(
            ["ninja", "-C", tree / "build", "-t", "targets", "all"], capture_output=True, text=True, check=True
        )
        headers = [line.split(":")[0] for line in headers.stdout.splitlines() if ".gch:" in line]
        with tempfile.TemporaryDirectory() as scratch:
            for header in headers:  # the others need it; its cost is the build's that asks for it
                measured[files["csrc/CMakeLists.txt"]["template"]] = seconds(
                    ["ninja", "-C", str(tree / "build"), header], str(tree)
                )
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                todo = [job for job in jobs(tree, pathlib.Path(scratch)) if job[0] in files]
                for (path, *_), took in zip(todo, pool.map(lambda job: seconds(*job[1:]), todo), strict=True):
                    if files[path]["class"] != "owned":
                        measured[files[path]["template"]] = round(took, 1)
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    facts = {
        "machine": cpu[1] if cpu else platform.machine(),
        "compiler": compiler,
        "torch": json.loads((tree / ".openreg-gen/manifest.json").read_text())["torch"].split("-")[1],
        "seconds": dict(sorted(measured.items())),
    }
    pathlib.Path(sys.argv[1]).write_text(json.dumps(facts, indent=1) + "\n")
    if failed:
        sys.exit("error: these failed, and their time is that of the failure:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
