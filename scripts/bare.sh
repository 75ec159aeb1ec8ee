#!/usr/bin/env bash
# Tries a wheel or a source distribution of the command in a bare environment: it installs, prints its version and help, and
# explains a diagnostic and a topic, all without PyTorch. Usage: scripts/bare.sh FILE
set -euo pipefail
file=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check "$file"
cd "$work"
unset VIRTUAL_ENV OPENREG_GEN_DATA
export PATH=$work/venv/bin:/usr/bin:/bin
openreg-gen --version
openreg-gen --help | head -3
openreg-gen explain E0103
openreg-gen explain guard
openreg-gen new mybackend && { echo "it rendered without PyTorch" >&2; exit 1; } || [ $? -eq 3 ]
echo "works: $(basename "$file")"
