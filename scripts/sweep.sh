#!/usr/bin/env bash
# Renders kernels of all operators that can have them and checks that they compile: nothing is linked, installed or kept.
# usage: scripts/sweep.sh          all structured operators as `structured`
#        scripts/sweep.sh opencl   all operators, `structured` or `native`, on an OpenCL device: their launchers, and, where
#                                  clang is installed, their starting kernels in OpenCL C
set -euo pipefail
cd "$(dirname "$0")/.."

generator="${OPENREG_GEN:-build/openreg-gen}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

"$generator" ops --json > "$scratch/ops.json"
python - "$scratch" "${1:-}" "$generator" <<'PYTHON'
import json
import pathlib
import subprocess
import sys

scratch = pathlib.Path(sys.argv[1])
ops = json.loads((scratch / "ops.json").read_text())["ops"]
structured = sorted(op["op"] for op in ops if op["class"] == "structured" and op["kind"] == "out")
lines = ["backend: {name: sweep}", "profile: full"]
if sys.argv[2] == "opencl":
    native = [op["op"] for op in ops if op["class"] == "native" and op["kind"] in ("functional", "inplace")]
    lines += ["device: {api: opencl}", "ops:", *(f"  {op}: structured" for op in structured)]
    lines += [f"  {op}: native" for op in native]
    # What each backend has a kernel of already is refused.
    spec = scratch / "all.yaml"
    spec.write_text("\n".join(lines) + "\n")
    check = subprocess.run([sys.argv[3], "check", "--json", spec], capture_output=True, check=False)
    refused = {each["line"] for each in json.loads(check.stdout)["diagnostics"] if each["code"] == "E0209"}
    lines = [line for number, line in enumerate(lines, 1) if number not in refused]
else:
    lines += ["ops:", *(f"  {op}: structured" for op in structured)]
(scratch / "sweep.yaml").write_text("\n".join(lines) + "\n")
PYTHON

"$generator" new sweep --spec "$scratch/sweep.yaml" --out "$scratch/tree" > /dev/null
# One unit includes all kernels and registrations: PyTorch's headers, nearly all of the cost, are read once.
python - "$scratch" "${1:-}" <<'PYTHON'
import pathlib
import shutil
import subprocess
import sys

import torch

scratch = pathlib.Path(sys.argv[1])
csrc = scratch / "tree/csrc"
if sys.argv[2] == "opencl":
    kernels = [path for path in sorted((csrc / "aten/native").glob("*.cpp")) if "call_kernel(" in path.read_text()]
    sources = kernels
else:
    sources = sorted((csrc / "aten/native").glob("*.cpp"))
    kernels = sources = [path for path in sources if "_STRUCTURED_KERNEL(" in path.read_text()]
unit = scratch / "sweep.cpp"
unit.write_text("".join(f'#include "{source.relative_to(csrc)}"\n' for source in sources))
include = pathlib.Path(torch.__file__).parent / "include"
system = [flag for path in (include, include / "torch/csrc/api/include") for flag in ("-isystem", path)]
device = scratch / "tree/third_party/sweep/include"
flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
failed = subprocess.run(["g++", *flags, "-I", csrc, "-I", device, *system, unit], check=False).returncode
print(f"{len(kernels)} kernels", "do not compile" if failed else "compile")

clang = shutil.which("clang") or shutil.which("clang-14")
if sys.argv[2] == "opencl" and clang is not None:
    folder = scratch / "tree/torch_sweep/opencl"
    files = [folder / "types.cl", *sorted((folder / "kernels").glob("*.cl"))]
    program = scratch / "sweep.cl"
    program.write_text("".join(f'#line 1 "{path.name}"\n{path.read_text()}\n' for path in files))
    flags = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Wno-macro-redefined"]
    for dtype in ("bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64"):
        failed |= subprocess.run([clang, *flags, f"-DT_{dtype}", program], check=False).returncode
    print(f"{len(files) - 1} kernels in OpenCL C", "do not compile" if failed else "compile")
sys.exit(failed)
PYTHON
