#!/usr/bin/env bash
# The hosts of accelerators are often Arm servers. On a machine that is none, this script compiles for one and runs the result
# in QEMU: the command with its unit tests, then a minimal tree with PyTorch's own wheel for aarch64, which is imported, tested
# and trains. Called by scripts/nightly.sh arm. Everything is in build/arm: nothing of another architecture is installed.
# Usage: scripts/arm.sh       on Debian or Ubuntu with x86; 4 GB of disk
source "$(dirname "$0")/lib.sh"
arm=$build/arm
sysroot=$arm/sysroot site=$arm/site tree=$arm/torch_mybackend
debian=(python3 python3-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev libssl-dev libgomp1)
# What PyTorch's wheel links: it is built for CUDA, and imports only with CUDA's libraries, which do nothing without a GPU. Of
# those that have a pinned version, any with the same major version loads.
cuda=(nvidia-cuda-runtime nvidia-cublas nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusparse nvidia-cusolver nvidia-cuda-nvrtc
  nvidia-nvjitlink 'nvidia-cudnn-cu13>=9' 'nvidia-cusparselt-cu13>=0.8' 'nvidia-nccl-cu13>=2.30' 'nvidia-nvshmem-cu13>=3.4')
packages=("torch==$torch_version" numpy pytest filelock typing-extensions sympy mpmath networkx jinja2 markupsafe fsspec pluggy iniconfig
  packaging pygments setuptools expecttest hypothesis sortedcontainers)

# Debian's packages for arm64, unpacked and not installed: their scripts would need a machine that runs them.
make_sysroot() {
  local mirror release archive
  install_packages debootstrap qemu-user g++-aarch64-linux-gnu
  [ ! -e "$sysroot/done" ] || return 0
  step "Debian's packages for arm64 into $sysroot"
  mirror=$(apt-get indextargets 'Created-By: Packages' --format '$(REPO_URI)' | head -1)
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  rm -rf "$sysroot"
  mkdir -p "$arm"
  debootstrap --arch=arm64 --foreign --variant=minbase \
    --include="$(IFS=,; echo "${debian[*]}")" \
    "$release" "$sysroot" "$mirror" >"$arm/debootstrap.log"
  for archive in "$sysroot"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$archive" "$sysroot"; done
  # Where PyTorch looks for the processor: QEMU answers for files that are below its prefix.
  local core folder
  mkdir -p "$sysroot/proc"
  for core in 0 1; do
    folder=$sysroot/sys/devices/system/cpu/cpu$core/regs/identification
    mkdir -p "$folder"
    echo 0x00000000410fd083 >"$folder/midr_el1"  # Cortex-A72
    printf 'processor\t: %d\nFeatures\t: fp asimd aes pmull sha1 sha2 crc32 cpuid\nCPU implementer\t: 0x41\nCPU architecture: 8\n' "$core"
    printf 'CPU variant\t: 0x0\nCPU part\t: 0xd08\nCPU revision\t: 3\n\n'
  done >"$sysroot/proc/cpuinfo"
  touch "$sysroot/done"
}

write_toolchain() {
  cat >"$arm/toolchain.cmake" <<CMAKE
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $sysroot)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH $sysroot $site)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu cortex-a72 -L $sysroot)
CMAKE
}

test_command() {
  step "The command for aarch64"
  cmake -S "$root" -B "$arm/command" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$arm/toolchain.cmake" -DOPENREG_GEN_TESTS=ON \
    -DCMAKE_UNITY_BUILD=ON -DPython3_EXECUTABLE="$python" >/dev/null
  cmake --build "$arm/command"
  step "Its unit tests in QEMU"
  # gtest's own time limits are those of a machine that is not emulated.
  ctest --test-dir "$arm/command" --output-on-failure --timeout 600 -j "$(nproc)" ${ARM_CTEST:-}
}

# PyTorch's wheel for aarch64 and what it needs. libcupti has no package for aarch64: what takes its place has its functions,
# and each returns an error.
get_pytorch() {
  [ ! -e "$site/done" ] || return 0
  local pip=("$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.11 -d "$arm/wheels")
  local platform wheel
  for platform in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014; do pip+=(--platform "${platform}_aarch64"); done
  pip+=(--platform any)
  step "PyTorch $torch_version for aarch64, with its libraries"
  "${pip[@]}" "${packages[@]}"
  "${pip[@]}" "${cuda[@]}"
  rm -rf "$site"
  mkdir -p "$site" "$arm/cupti"
  for wheel in "$arm"/wheels/*.whl; do "$python" -m zipfile -e "$wheel" "$site"; done
  readelf -W --dyn-syms "$site"/torch/lib/*.so 2>/dev/null | grep -oE 'cupti\w+@libcupti.so.13' | sed 's/@.*/(void) { return 999; }/; s/^/int /' |
    sort -u >"$arm/cupti/cupti.c"
  echo 'libcupti.so.13 { global: cupti*; local: *; };' >"$arm/cupti/versions"
  aarch64-linux-gnu-gcc -shared -fPIC -Wl,-soname,libcupti.so.13 -Wl,--version-script="$arm/cupti/versions" \
    -o "$arm/cupti/libcupti.so.13" "$arm/cupti/cupti.c"
  touch "$site/done"
}

# $arm/python: Debian's Python for arm64, in QEMU, with PyTorch.
write_python() {
  local libraries
  libraries=$(find "$site" -name '*.so*' -path '*nvidia*' -printf '%h\n' | sort -u | tr '\n' ':')
  cat >"$arm/python" <<SH
#!/bin/sh
exec qemu-aarch64 -cpu cortex-a72 -L $sysroot -E LD_LIBRARY_PATH=$libraries$arm/cupti:$site/torch/lib \\
  -E PYTHONPATH=$site:$tree $sysroot/usr/bin/python3.11 "\$@"
SH
  chmod +x "$arm/python"
}

test_tree() {
  step "A minimal tree for aarch64"
  rm -rf "$tree"
  "$generator" new mybackend --profile minimal --out "$tree" >/dev/null
  cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$arm/toolchain.cmake" -DPython_EXECUTABLE="$arm/python" \
    -DPython_INCLUDE_DIR="$sysroot/usr/include/python3.11" -DMYBACKEND_WERROR=ON -DMYBACKEND_UNITY_BUILD=ON >/dev/null
  cmake --build "$tree/build"
  step "It is imported, tested and trains, in QEMU"
  export TORCH_DEVICE_BACKEND_AUTOLOAD=0
  "$arm/python" -c '
import platform, torch, torch_mybackend
assert platform.machine() == "aarch64"
print("PyTorch", torch.__version__, "on", platform.machine(), torch.ones(3, device="mybackend") + 1)'
  # Without those that start processes of their own, which would start what this machine can't run.
  (cd "$tree" && timeout 3000 "$arm/python" -m pytest -q -p no:cacheprovider tests/test_{memory,minimal_set,streams,storage}.py)
  (cd "$tree" && timeout 1200 "$arm/python" -c 'import torch_mybackend, runpy; runpy.run_path("examples/train_mlp.py", run_name="__main__")')
}

find_python
[ "$(uname -m)" = x86_64 ] || die "this machine is not x86_64: on aarch64 run scripts/test.sh"
build_command
make_sysroot
write_toolchain
test_command
get_pytorch
write_python
test_tree
