#!/usr/bin/env bash
# Measures the command beside its peers, and what it renders; prints one table. Usage: benchmarks/run.sh [GROUP ...]
# groups: command build import ops allocator regenerate (default: all)
source "$(dirname "$0")/../scripts/lib.sh"
build_command
bench=$(backend_python "$root/.venv/bench")
"$bench" -c 'import copier, cookiecutter' 2>/dev/null ||
  "$bench" -m pip install -q --disable-pip-version-check copier cookiecutter
OPENREG_GEN=$generator PATH=$root/.venv/bench/bin:$PATH "$bench" "$root/benchmarks/run.py" "$@"
