#!/usr/bin/env bash
# Renders all structured operators of the installed PyTorch as `structured` kernels and checks that they compile.
# usage: scripts/sweep.sh [SHARD/SHARDS], such as 1/8; default: all. Nothing is installed; objects are not kept.
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

"$generator" new sweep --spec "$scratch/sweep.yaml" --out "$scratch/tree" > /dev/null
cmake -S "$scratch/tree" -B "$scratch/build" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DPython_EXECUTABLE="$(command -v python)" > /dev/null
python - "$scratch" <<'PYTHON'
import json
import pathlib
import shlex
import subprocess
import sys

scratch = pathlib.Path(sys.argv[1])
commands = json.loads((scratch / "build/compile_commands.json").read_text())
kernels = {path.stem for path in (scratch / "tree/csrc/aten/native").glob("*.cpp")
           if path.with_suffix(".h").exists() and path.stem[0].islower() or path.stem[0] == "_"}
failed = 0
for command in commands:
    source = pathlib.Path(command["file"])
    if source.parent.name != "native" and not source.name.startswith("RegisterStructured_"):
        continue
    if source.parent.name == "native" and source.stem not in kernels:
        continue
    argv = [word for word in shlex.split(command["command"]) if word not in ("-c",)]
    argv = argv[: argv.index("-o")] + argv[argv.index("-o") + 2 :] + ["-fsyntax-only", "-O0"]
    run = subprocess.run(argv, cwd=command["directory"], capture_output=True, text=True)
    failed += run.returncode != 0
    print("ok  " if run.returncode == 0 else "FAIL", source.name, flush=True)
    if run.returncode != 0:
        print(run.stderr)
sys.exit(failed != 0)
PYTHON
