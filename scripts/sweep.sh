#!/usr/bin/env bash
# Renders all structured operators of the installed PyTorch as `structured` kernels and checks that they compile.
# usage: scripts/sweep.sh [SHARD/SHARDS], such as 1/8; default: all. Syntax only: nothing is linked, installed or kept.
set -euo pipefail
cd "$(dirname "$0")/.."

shard="${1:-1/1}"
generator="${OPENREG_GEN:-build/openreg-gen}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

"$generator" ops --json > "$scratch/ops.json"
python - "$scratch" "$shard" <<'PYTHON'
import json
import pathlib
import sys

scratch = pathlib.Path(sys.argv[1])
shard, shards = map(int, sys.argv[2].split("/"))
ops = json.loads((scratch / "ops.json").read_text())
structured = sorted(op["op"] for op in ops if op["class"] == "structured" and op["kind"] == "out")
ours = structured[shard - 1 :: shards]
print(f"{len(ours)} of {len(structured)} structured operators")
lines = ["backend: {name: sweep}", "ops:"] + [f"  {op}: structured" for op in ours]
(scratch / "sweep.yaml").write_text("\n".join(lines) + "\n")
PYTHON

"$generator" new sweep --profile full --spec "$scratch/sweep.yaml" --out "$scratch/tree" > /dev/null
# One unit includes the kernels and registrations of a shard: PyTorch's headers, nearly all of the cost, are read once.
python - "$scratch" <<'PYTHON'
import pathlib
import subprocess
import sys

import torch

scratch = pathlib.Path(sys.argv[1])
csrc = scratch / "tree/csrc"
headers = sorted((csrc / "aten/native").glob("*.h"))
kernels = [header.with_suffix(".cpp") for header in headers if "struct " in header.read_text()]
kernels = [kernel for kernel in kernels if kernel.exists() and "::impl(" in kernel.read_text()]
sources = kernels + sorted((csrc / "aten").glob("RegisterStructured*.cpp"))
unit = scratch / "sweep.cpp"
unit.write_text("".join(f'#include "{source.relative_to(csrc)}"\n' for source in sources))
include = pathlib.Path(torch.__file__).parent / "include"
system = [flag for path in (include, include / "torch/csrc/api/include") for flag in ("-isystem", path)]
device = scratch / "tree/third_party/sweep/include"
flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
run = subprocess.run(["g++", *flags, "-I", csrc, "-I", device, *system, unit], check=False)
print(f"{len(kernels)} kernels", "compile" if run.returncode == 0 else "do not compile")
sys.exit(run.returncode)
PYTHON
