#!/usr/bin/env bash
# From nothing to a training step: installs what is missing, builds openreg-gen, generates a backend, builds it and
# trains a small network on its device. Usage: scripts/demo.sh [--device KIND] [NAME] (default: emulator, mybackend); the tree
# goes to demo/. --device opencl uses the machine's OpenCL devices. If there are none, it installs PoCL, an OpenCL driver for CPUs.
source "$(dirname "$0")/lib.sh"
device=emulator
if [ "${1:-}" = --device ]; then
  device=${2:?--device needs a kind: emulator, external or opencl}
  shift 2
fi
name=${1:-mybackend}
tree=$root/demo/torch_$name
if [ "$device" = opencl ]; then
  install_packages opencl-headers ocl-icd-opencl-dev clinfo
  clinfo -l | grep -q Device || install_packages pocl-opencl-icd
fi

build_command
if [ -e "$tree" ]; then
  step "Generating: openreg-gen generate -C demo/torch_$name"
  "$generator" generate -C "$tree"
else
  step "Generating: openreg-gen new $name --device $device --out demo/torch_$name"
  "$generator" new "$name" --device "$device" --out "$tree"
fi

step "Building it: pip install --no-build-isolation -e demo/torch_$name"
backend=$(backend_python "$root/demo/venv_$name")
"$backend" -m pip install -q --disable-pip-version-check --no-build-isolation -e "$tree"

step "Training on device '$name'"
"$backend" "$tree/examples/train_mlp.py"
"$backend" "$tree/examples/train_mlp.py" --dtype bfloat16

cat <<DONE

The backend is in $tree. Next:
  source $root/demo/venv_$name/bin/activate
  python -c 'import torch; print(torch.ones(2, device="$name") + 1)'
  python -m pytest $tree/tests
DONE
