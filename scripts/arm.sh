# The stage `arm` of scripts/nightly.sh, which sources it. The hosts of accelerators are often Arm servers. On a machine that is
# none, this compiles for one, and runs the result in QEMU: the command with its unit tests, then a minimal tree with PyTorch's own
# wheel for aarch64, which is imported, tested and trains. It needs x86-64 with Debian or Ubuntu, and 6 GB of disk. All is in
# build/arm: nothing of another architecture is installed.
# shellcheck shell=bash
[ "$(uname -m)" = x86_64 ] || die "this machine is not x86-64: on aarch64, scripts/test.sh tests all there is"
arm=$build/arm
sysroot=$arm/sysroot site=$arm/site
# Not a Cortex-A72, which is Armv8.0: there PyTorch's wheel stops in a backward pass with an illegal instruction.
emulator=(qemu-aarch64 -cpu neoverse-n1 -L "$sysroot")
debian=(python3 python3-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev libssl-dev libgomp1)
# PyTorch's wheel is built for CUDA, and imports only with CUDA's libraries, which do nothing without a GPU. Where the wheel asks
# for one version, any of the same major version loads.
cuda=(nvidia-cuda-runtime nvidia-cublas nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusparse nvidia-cusolver nvidia-cuda-nvrtc
  nvidia-nvjitlink nvidia-nvtx 'nvidia-cudnn-cu13>=9' 'nvidia-cusparselt-cu13>=0.8' 'nvidia-nccl-cu13>=2.30' 'nvidia-nvshmem-cu13>=3.4')
packages=("torch==$torch_version" numpy pytest filelock typing-extensions sympy mpmath networkx jinja2 markupsafe fsspec pluggy iniconfig
  packaging pygments setuptools expecttest hypothesis sortedcontainers)

# Debian's packages for arm64, unpacked and not installed: their scripts would need a machine that runs them.
make_sysroot() {
  local mirror archive core folder
  install_packages debootstrap qemu-user g++-aarch64-linux-gnu
  [ ! -e "$sysroot/done" ] || return 0
  step "Debian's packages for arm64 into $sysroot"
  rm -rf "$sysroot"
  mkdir -p "$arm"
  (
    # shellcheck source=/dev/null
    source /etc/os-release
    mirror=http://ports.ubuntu.com/ubuntu-ports
    [ "$ID" = ubuntu ] || mirror=$(apt-get indextargets 'Created-By: Packages' --format '$(REPO_URI)' | grep -v security | head -1)
    [ "$ID" = ubuntu ] || components=main
    debootstrap --arch=arm64 --foreign --variant=minbase --components="${components:-main,universe}" \
      --include="$(IFS=,; echo "${debian[*]}")" "$VERSION_CODENAME" "$sysroot" "$mirror" >"$arm/debootstrap.log"
  )
  for archive in "$sysroot"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$archive" "$sysroot"; done
  # Where PyTorch looks for the processor: QEMU answers for files that are below its prefix.
  mkdir -p "$sysroot/proc"
  for core in 0 1; do
    folder=$sysroot/sys/devices/system/cpu/cpu$core/regs/identification
    mkdir -p "$folder"
    echo 0x00000000413fd0c1 >"$folder/midr_el1"  # Neoverse N1, a server's
    printf 'processor\t: %d\nFeatures\t: fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp\n' "$core"
    printf 'CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n'
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
set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator[*]})
CMAKE
}

test_command() {
  step "The command for aarch64"
  cmake -S "$root" -B "$arm/command" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$arm/toolchain.cmake" -DOPENREG_GEN_WERROR=ON -DOPENREG_GEN_TESTS=ON \
    -DCMAKE_UNITY_BUILD=ON -DPython3_EXECUTABLE="$python" >/dev/null
  CCACHE_BASEDIR=$root cmake --build "$arm/command"
  step "Its unit tests in QEMU"
  # posix_spawn() tells its caller of a failure through memory that both share (CLONE_VM), and in QEMU they don't.
  ctests "$arm/command" --timeout 600 -j "$(nproc)" -E '^system\.ChildTest\.NoSuchProgram$'
}

# PyTorch's wheel for aarch64 and what it needs. libcupti has no package for aarch64: the library that takes its place has its
# functions, and each returns an error.
get_pytorch() {
  [ ! -e "$site/done" ] || return 0
  local platform wheel
  local pip=("$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --python-version "$version" -d "$arm/wheels")
  for platform in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014; do pip+=(--platform "${platform}_aarch64"); done
  step "PyTorch $torch_version for aarch64, with its libraries"
  "${pip[@]}" -c "$root/scripts/requirements.txt" "${packages[@]}"
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

# $arm/python: Debian's Python for arm64, in QEMU, with PyTorch and the tree in ARM_TREE. Tests start sys.executable, which the kernel
# can't run: QEMU has to.
write_python() {
  local libraries
  libraries=$(find "$site" -name '*.so*' -path '*nvidia*' -printf '%h\n' | sort -u | tr '\n' ':')
  mkdir -p "$arm/startup"
  echo "import sys; sys.executable = '$arm/python'" >"$arm/startup/sitecustomize.py"
  cat >"$arm/python" <<SH
#!/bin/sh
exec ${emulator[*]} -E LD_LIBRARY_PATH=$libraries$arm/cupti:$site/torch/lib -E PYTHONPATH=$arm/startup:$site:\$ARM_TREE \\
  $sysroot/usr/bin/python$version "\$@"
SH
  chmod +x "$arm/python"
}

# build_tree NAME: the tree in $arm/NAME.
build_tree() {
  local tree=$arm/$1
  cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$arm/toolchain.cmake" -DPython_EXECUTABLE="$arm/python" \
    -DPython_INCLUDE_DIR="$sysroot/usr/include/python$version" -DMYBACKEND_WERROR=ON -DMYBACKEND_UNITY_BUILD=ON >/dev/null
  CCACHE_BASEDIR=$tree cmake --build "$tree/build"
  (cd "$tree" && "$python" setup.py -q egg_info)  # its entry point, by which PyTorch loads it
}

# test_tree NAME TEST ...
test_tree() {
  export ARM_TREE=$arm/$1
  "$arm/python" -c '
import platform, torch, torch_mybackend
assert platform.machine() == "aarch64"
print("PyTorch", torch.__version__, "on", platform.machine(), torch.ones(3, device="mybackend") + 1)'
  (cd "$arm/$1" && pytest_alone "$arm/python" -p no:cacheprovider "${@:2}")
  (cd "$arm/$1" && "$arm/python" -c 'import torch_mybackend, runpy; runpy.run_path("examples/train_mlp.py", run_name="__main__")')
}

make_sysroot
version=$(basename "$(dirname "$(ls -d "$sysroot"/usr/lib/python3.*/os.py)")")
version=${version#python}
write_toolchain
test_command
get_pytorch
write_python
rm -rf "$arm/minimal" "$arm/stubs"
step "A minimal tree for aarch64"
"$generator" new mybackend --profile minimal --out "$arm/minimal" >/dev/null
build_tree minimal
step "It is imported, tested and trains, in QEMU"
test_tree minimal tests
step "Kernels that call functions behind PyTorch's DispatchStubs"
"$generator" new mybackend --profile minimal --out "$arm/stubs" >/dev/null
"$generator" add component loops -C "$arm/stubs" >/dev/null
"$generator" add abs.out sort.values_stable --strategy in_tree -C "$arm/stubs" >/dev/null
build_tree stubs
test_tree stubs tests/test_{minimal_set,streams}.py
