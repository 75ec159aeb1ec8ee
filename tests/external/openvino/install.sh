#!/usr/bin/env bash
# Makes a tree with the OpenVINO port and installs it into a Python environment that has PyTorch.
# Usage: install.sh TREE [OPTION ...]    options of the tree's CMake build
# PYTHON: the environment's Python (python); OPENREG_GEN: the command (openreg-gen)
set -euo pipefail
here=$(dirname "$(readlink -f "$0")") tree=$1
source=$tree/third_party/mybackend python=${PYTHON:-python}
"$python" -m pip install -q --disable-pip-version-check -r "$here/requirements.txt"
"${OPENREG_GEN:-openreg-gen}" new mybackend --spec "$here/../../../specs/openvino.yaml" --out "$tree" >/dev/null
cp "$here/../host_port.cpp" "$source/src/port.cpp"
cp "$here/executables.cpp" "$source/src"
cp "$here/compiler.py" "$tree/torch_mybackend"
cat "$here/openvino.cmake" >>"$source/CMakeLists.txt"
CCACHE_BASEDIR=$tree CMAKE_ARGS="${*:2}" "$python" -m pip install -q --disable-pip-version-check --no-build-isolation -e "$tree"
