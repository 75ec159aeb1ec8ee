"""Each allocation of a tree's device library fails once, and each start of a thread (device_library.cpp).

device_library.py TREE [--mode MODE] [--work DIR]: a tree with a simulated device whose functions begin with `or`, as specs/openreg.yaml
says. The library and the test are built with the address sanitizer, which sees leaks; the test runs with each way of isolating memory,
or with one, and with `debug` as memory is debugged. Returns 1 if there were problems.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# What a scenario needs: a function of the API.
PARTS = {
    "HAS_HOST_MEMORY": "MallocHost",
    "HAS_GRAPHS": "GraphLaunch",
    "HAS_ACTIVITIES": "ActivityEnable",
    "HAS_GEMM": "Gemm",
    "HAS_VIRTUAL_MEMORY": "MemCreate",
    "HAS_IPC": "IpcGetMemHandle",
}
MODES = ("auto", "mprotect", "off", "debug")
FLAGS = ["-std=c++20", "-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def build(tree: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    (device,) = (tree / "third_party").iterdir()
    headers = "".join(header.read_text() for header in sorted((device / "include").iterdir()))
    found = [f"-D{name}" for name, function in PARTS.items() if re.search(rf"\bor{function}\(", headers)]
    unit = folder / "device.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sorted((device / "src").glob("*.cpp"))))
    include = [f"-I{device / 'include'}", f"-I{device / 'src'}", f"-D{device.name.upper()}_BUILDING_DEVICE"]
    program = folder / "device_library"
    test = pathlib.Path(__file__).with_suffix(".cpp")
    # -rdynamic: the library's threads are made by the test's pthread_create.
    command = ["g++", *FLAGS, *found, *include, "-rdynamic", "-o", program, unit, test, "-ldl", "-lpthread"]
    subprocess.run(command, check=True, timeout=600)
    return program


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--work", type=pathlib.Path)
    given = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        program = build(given.tree.resolve(), pathlib.Path(folder))
        for mode in [given.mode] if given.mode else MODES:
            kind = {"OPENREG_MEMORY_DEBUG": "1"} if mode == "debug" else {"OPENREG_ISOLATION": mode}
            print(f"== {mode}", flush=True)
            environment = {**os.environ, **kind, "OPENREG_DEVICE_COUNT": "2"}
            status |= subprocess.run([program], env=environment, timeout=1800).returncode
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
