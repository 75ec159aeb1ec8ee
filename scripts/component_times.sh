#!/usr/bin/env bash
# Measures the build time of each source of a tree: processor seconds of its compilation alone, without a compiler cache. Writes
# templates/build_seconds.json, by template; the table in a tree's README adds them up per component.
# Takes some minutes on all cores. Run it by hand after changes that make builds slower or faster.
# Usage: scripts/component_times.sh
source "$(dirname "$0")/lib.sh"
build_command
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1
for tree in minimal full; do
  spec=$work/$tree.yaml
  if [ "$tree" = full ]; then cp "$root/specs/openreg.yaml" "$spec"; else kind_spec minimal >"$spec"; fi
  "$generator" new openreg --spec "$spec" --out "$work/$tree" >/dev/null
  # A launcher of its own keeps the tree's CMake from taking the compiler cache.
  cmake -S "$work/$tree" -B "$work/$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=env \
    -DPython_EXECUTABLE="$python" >/dev/null
done
"$python" "$root/scripts/component_times.py" "$root/templates/build_seconds.json" "$work/minimal" "$work/full"
