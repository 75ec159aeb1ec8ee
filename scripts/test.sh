#!/usr/bin/env bash
# Every test, from nothing: the command, bad specs, goldens, generated_example (equality, build, tests, sanitizers),
# a second backend in an empty folder, the external port, formatting and warnings of emitted files. If a stage fails, the next
# ones still run. .ci/run runs the stages for a change; scripts/nightly.sh has the long ones.
# Usage: scripts/test.sh [STAGE ...]   default: all, in this order:
#          command format rendered example sample device allocator components second external opencl package book
#        scripts/test.sh release VERSION [all|trees [PYTHON]]
#          generated_example with another PyTorch (default: 2.14.1), from pip; with `all` its C++ tests, too, and all Python tests, not only
#          those of what differs between releases; with `trees` the large, the direct and the external tree. PYTHON: another
#          interpreter than python3
#        scripts/test.sh opencl pocl|intel [sweep]
#          the tree of specs/opencl.yaml on one of two drivers for CPUs: Debian's PoCL, or Intel's, 700 MB from pip; with CLBlast,
#          what CI leaves out: the tests of each operator and all subjects of the sweep's sample; with `sweep` only the whole sweep
#        scripts/test.sh components NAME ...|half 1|half 2
#          minimal is built from nothing, without a compiler cache, and tested; then minimal trees with one component more:
#          those that are named; default: the one that the change touches most (scripts/choose.py). With `half 2` no more than
#          the second half of all components
#        scripts/test.sh book chapters|exercises
#          every chapter, or every exercise with its planted solutions, not only those that the change touches
#        scripts/test.sh external all
#          every test of a whole tree runs on the port that behaves like a card
#        scripts/test.sh second all
#          the second backend is built in place and tested, too
source "$(dirname "$0")/stages.sh"

# test_tree TREE VENV PREFIX [OPTION ...]: builds a tree with warnings as errors and its C++ tests on, into a Python environment
# of its own; runs all its tests, but for what pytest's options leave out.
test_tree() {
  local tree=$1 backend
  backend=$(backend_python "$2")
  step "Building $(basename "$tree")"
  install_tree "$backend" "$tree" "-D${3}_WERROR=ON" "-D${3}_BUILD_TESTS=ON" "-D${3}_UNITY_BUILD=ON" "$quick"
  if [ -d "$tree/tests/cpp" ]; then
    step "C++ tests of $(basename "$tree")"
    ctests "$tree/build" -j "$(nproc)"
  fi
  step "Python tests of $(basename "$tree")"
  pytests "$backend" "$tree/tests" "${@:4}"
}

stage_command() {
  step "Unit tests of the command"
  ctests "$build" -j "$(nproc)"
  install_packages chromium strace  # a real browser for the coverage page; strace kills runs at their write calls
  "$root/scripts/site.sh"  # tests/test_site.py looks at the documentation in a browser
  step "The command as a process"
  # Those that build trees or run on one are stages of their own; those of the workbench are of `example`.
  pytests "$python" "$root/tests" --ignore-glob "$root/tests/test_external*.py" --ignore "$root/tests/test_package.py" \
    --ignore "$root/tests/built" --ignore "$root/tests/workbench"
}

stage_format() {
  step "Formatting of the command's C++ and of what is emitted"
  (cd "$root" && git ls-files -z 'generator/*.cpp' 'generator/*.h' 'tests/*_test.cpp' | xargs -0 clang-format --dry-run -Werror)
  step "Types and formatting of the workbench"
  (cd "$root" && "$python" -m mypy && ruff format --check -q generator/workbench tests scripts benchmarks)
  ruff check -q "$root/generator" "$root/tests" "$root/benchmarks" "$root/scripts"
  local kind trees=("$root/generated_example" "$(second_tree)")
  for kind in "allocator: {device: direct}" "allocator: {expandable_segments: true}" "fallback: none" "device: {api: external}" "device: {api: opencl}"; do
    trees+=("$work/kind${#trees[@]}")
    (echo "backend: {name: openreg}"; echo "profile: full"; echo "$kind"; sed -n '/^ops:/,$p' "$root/specs/openreg.yaml") >"$work/kind.yaml"
    "$generator" new openreg --spec "$work/kind.yaml" --out "${trees[-1]}" >/dev/null
  done
  "$generator" new lessons --lesson 31 --out "$work/formatted" >/dev/null
  (cd "$work/formatted" && ruff check . && ruff format --check .)
  for tree in "${trees[@]}"; do
    (cd "$tree" && find third_party csrc torch_* tests -path '*/build' -prune -o \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print0 |
      xargs -0 clang-format --dry-run -Werror)
    (cd "$tree" && ruff check . && ruff format --check .)
    "$python" "$root/scripts/check_gil.py" "$tree"
  done
}

stage_rendered() {
  step "generated_example/ and tests/golden/ against fresh renders"
  "$root/scripts/regenerate.sh" --check
  "$generator" generate -C "$root/generated_example" --check
}

stage_example() {
  # What takes longest of it runs with other releases of PyTorch: scripts/nightly.sh release_2_14 release_2_15.
  test_tree "$root/generated_example" "$root/.venv/openreg" OPENREG \
    --deselect tests/test_compile_models.py::test_several_processes_share_a_cache \
    --deselect tests/test_distributed_training.py::test_compiled_collectives
  step "Tests of what is the same in each tree"
  local name names=()
  for name in "$root"/tests/built/test_*.py; do
    name=$(basename "$name" .py)
    [ "$name" = test_distributed_upstream ] || names+=("${name#test_}")
  done
  built_tests "$root/.venv/openreg/bin/python" "$root/generated_example" "${names[@]}"
  step "Orders by seed: a sample"
  order_by_seed "$root/.venv/openreg/bin/python" "$root/generated_example" 10 4 2
  step "Tests of the workbench on generated_example"
  pytests "$root/.venv/openreg/bin/python" "$root/tests/workbench"
}

# release_trees RELEASE BASE NAME: trees of other kinds than generated_example/, with the PyTorch of interpreter BASE.
release_trees() {
  local release=$1 base=$2 name=$3 kind backend tree
  local spec=$work/direct.yaml
  kind_spec direct >"$spec"
  for kind in direct full; do
    tree=$work/release/$release/$kind
    [ "$kind" = direct ] || spec=$root/specs/full.yaml
    "$generator" new openreg --spec "$spec" --torch "$root/.venv/torch-$name" --out "$tree" >/dev/null
    overlay "$base" "$work/venv_release_$kind"
    backend=$work/venv_release_$kind/bin/python
    step "Building the $kind tree with PyTorch $release"
    install_tree "$backend" "$tree" -DOPENREG_WERROR=ON -DOPENREG_UNITY_BUILD=ON
    step "Python tests of the $kind tree with PyTorch $release"
    pytests "$backend" --dist load "$tree/tests"
  done
  step "The external port with PyTorch $release"
  PATH=$root/.venv/torch-$name/bin:$PATH VIRTUAL_ENV=$root/.venv/torch-$name pytests "$base" "$root"/tests/test_external*.py
}

# The very files of generated_example/ with another release of PyTorch, in an environment of its own that is kept in .venv/.
# pip gives a build for CUDA there, of some gigabytes; it needs neither a GPU nor a toolkit.
stage_release() {
  local release=${1:-2.14.1} release_tests=${2:-} release_python=${3:-python3}
  local name base folder=$work/release/$release backend
  local fresh=$folder/fresh tree=$folder/generated_example
  name=$release-$("$release_python" -c 'import sys; print("py{}.{}".format(*sys.version_info))')
  base=$root/.venv/torch-$name/bin/python
  if ! { [ -x "$base" ] && torch_version=$release has_torch "$base"; }; then
    step "Installing PyTorch $release for $("$release_python" -V) into $root/.venv/torch-$name"
    "$release_python" -m venv "$root/.venv/torch-$name"
    pip_install "$base" "torch==$release" numpy jinja2 expecttest hypothesis pytest pytest-timeout pytest-xdist pyyaml setuptools wheel
  fi
  if [ "$release_tests" = trees ]; then
    release_trees "$release" "$base" "$name"
    return
  fi
  step "generated_example/ against what is rendered for PyTorch $release"
  mkdir -p "$folder"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard generated_example | xargs -0 cp --parents -t "$folder")
  "$generator" new openreg --spec "$root/specs/openreg.yaml" --torch "$root/.venv/torch-$name" --out "$fresh" >/dev/null
  diff -r -x .openreg-gen "$fresh" "$tree"
  backend=$root/.venv/openreg-$name/bin/python
  overlay "$base" "$root/.venv/openreg-$name"
  step "Building generated_example with PyTorch $release"
  local build_tests=OFF
  [ "$release_tests" = all ] && build_tests=ON
  install_tree "$backend" "$tree" -DOPENREG_WERROR=ON -DOPENREG_BUILD_TESTS=$build_tests -DOPENREG_UNITY_BUILD=ON
  if [ $build_tests = ON ]; then
    step "C++ tests of generated_example with PyTorch $release"
    ctests "$tree/build" -j "$(nproc)"
  fi
  step "Python tests of generated_example with PyTorch $release"
  local tests=("$tree"/tests/test_{scripts,device,module,streams,memory,allocator,host_memory,minimal_set,operators,amp,compile,profiler,graphs,graphed_work,distributed,distributed_errors,distributed_training}.py)
  [ "$release_tests" = all ] && tests=("$tree/tests")
  pytests "$backend" "${tests[@]}"
  local built=(package build module streams random serialization dlpack memory_api host_code dynamo amp profiler surface)
  [ "$release_tests" = all ] && built=()
  built_tests "$backend" "$tree" "${built[@]}"
}

# The thread sanitizer, or one that is named: scripts/nightly.sh soak runs the address sanitizer.
stage_device() {
  local sanitizer=${1:-thread}
  step "The simulated device under the $sanitizer sanitizer"
  cmake -S "$root/generated_example/third_party/openreg" -B "$work/$sanitizer" -G Ninja \
    -DOPENREG_SANITIZE="$sanitizer" -DOPENREG_BUILD_TESTS=ON -DOPENREG_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
  cmake --build "$work/$sanitizer"
  # By default ThreadSanitizer sleeps for a second at each exit.
  TSAN_OPTIONS=atexit_sleep_ms=20 ctests "$work/$sanitizer" -j "$(nproc)"
}

# PyTorch has no sanitized build, so the allocators are tested with c10 and the simulated device alone.
stage_allocator() {
  local sanitizer=${1:-thread}
  step "The allocators under the $sanitizer sanitizer"
  cmake -S "$root/generated_example/tests/cpp/allocator" -B "$work/allocator-$sanitizer" -G Ninja \
    -DOPENREG_SANITIZE="$sanitizer" -DCMAKE_UNITY_BUILD=ON -DOPENREG_UNITY_BUILD=ON -DPython_EXECUTABLE="$python" >/dev/null
  cmake --build "$work/allocator-$sanitizer"
  TSAN_OPTIONS=atexit_sleep_ms=20 ctests "$work/allocator-$sanitizer"
}

# The tree of `openreg-gen new mybackend`, typed in an empty folder.
second_tree() {
  if [ ! -e "$work/empty" ]; then
    mkdir "$work/empty"
    (cd "$work/empty" && "$generator" new mybackend >/dev/null)
  fi
  echo "$work/empty/torch_mybackend"
}

stage_second() {
  local tree venv=$work/venv_wheel backend left small=$work/small/torch_mybackend
  tree=$(second_tree)
  left=$(grep -rniE --exclude-dir=.openreg-gen 'openreg' "$tree" | grep -viE 'openreg[-_]gen' || true)
  [ -z "$left" ] || die "a tree of another name names openreg: $left"
  if [ "${1:-}" = all ]; then
    "$generator" add component extensions -C "$tree" >/dev/null
    backend=$(backend_python "$work/venv_mybackend")
    step "Building $(basename "$tree"), what \`new\` writes, with component extensions"
    install_tree "$backend" "$tree" -DMYBACKEND_WERROR=ON -DMYBACKEND_UNITY_BUILD=ON "$quick"
    step "Python tests of $(basename "$tree")"
    # What a name is part of: packages, modules, settings, libraries, registrations. All else the first tree has tested.
    pytests "$backend" "$tree"/tests/test_{scripts,cpp_extension,device,profiler,compile}.py
    built_tests "$backend" "$tree" package build module serialization profiler surface layouts
    return
  fi
  step "A wheel of mybackend, of profile minimal, installed and uninstalled"
  "$generator" new mybackend --profile minimal --out "$small" >/dev/null
  "$generator" add component extensions -C "$small" >/dev/null
  overlay "$python" "$venv"
  CCACHE_BASEDIR=$small CMAKE_ARGS=-DMYBACKEND_UNITY_BUILD=ON "$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
    --wheel-dir "$work/wheel" "$small"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps "$work"/wheel/*.whl
  (cd "$work/wheel" && "$venv/bin/python" -c 'import torch; assert torch.ones(3, device="mybackend").sum().item() == 3')
  "$venv/bin/python" -m pip uninstall -q -y torch_mybackend
  left=$(find "$venv" -iname '*mybackend*')
  [ -z "$left" ] || die "uninstalling left: $left"
  (cd "$work/wheel" && "$venv/bin/python" -c 'import torch; assert not hasattr(torch, "mybackend")')
}

# Each of PyTorch's operators, modules and optimizers once; compiled ones are of scripts/nightly.sh sweep_openreg. Access to device memory by copies is that of the stages external
# and opencl; scripts/nightly.sh sweep_full has both.
stage_sample() {
  local backend
  backend=$(backend_python "$root/.venv/openreg")
  install_tree "$backend" "$root/generated_example"  # takes in what was edited since it was built
  step "A sample of the sweep"
  sweep "$backend" openreg --sample --fresh --out "$build/sample.jsonl"
}

stage_external() {
  step "External ports: a tree builds at once, then climbs on host memory and on a port that behaves like a card"
  CARD_TESTS=${1:-} pytests "$python" "$root"/tests/test_external*.py
}

# Intel's OpenCL driver for CPUs, found before all others.
use_intel_opencl() {
  local venv=$root/.venv/opencl-intel
  if [ ! -e "$venv/lib/libintelocl.so" ]; then
    step "Installing Intel's OpenCL driver into $venv"
    python3 -m venv "$venv"
    pip_install "$venv/bin/python" intel-opencl-rt intel-cmplr-lib-rt
  fi
  mkdir "$work/icd"
  echo "$venv/lib/libintelocl.so" >"$work/icd/intel.icd"
  export OCL_ICD_VENDORS=$work/icd/ LD_LIBRARY_PATH=$venv/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# specs/opencl.yaml on a driver for CPUs: the device by the bring-up ladder, then through PyTorch, training last.
stage_opencl() {
  local driver=${1:-pocl} subjects=(once '[a-f]*') build_options=("$quick") longer=() tree=$work/opencl backend said
  [ $# -eq 0 ] || subjects=() build_options=() longer=("$tree/tests/test_operators.py")
  install_packages opencl-headers ocl-icd-opencl-dev
  case $driver in
    pocl) install_packages pocl-opencl-icd; export MYCL_PLATFORM="Portable Computing Language" ;;
    intel) use_intel_opencl; export MYCL_PLATFORM="Intel(R) OpenCL" ;;
    *) die "no such OpenCL driver: $driver; pocl or intel" ;;
  esac
  # CLBlast takes minutes to build its kernels, so CI does without: its test skips.
  [ $# -eq 0 ] || install_packages libclblast1
  backend=$(backend_python "$work/venv_opencl")
  "$generator" new mycl --device opencl --out "$tree" >/dev/null
  "$generator" add component examples graphs distributed compound wider_dtypes -C "$tree" >/dev/null
  "$generator" add hardtanh_ --strategy native -C "$tree" >/dev/null
  if [ "${2:-}" != sweep ]; then
    step "Building the OpenCL device library of minimal"
    "$generator" new mycl --device opencl --profile minimal --out "$work/opencl_minimal" >/dev/null
    cmake -S "$work/opencl_minimal/third_party/mycl" -B "$work/opencl_device" -G Ninja -DMYCL_WERROR=ON >/dev/null
    cmake --build "$work/opencl_device"
  fi
  step "Building the tree of specs/opencl.yaml"
  install_tree "$backend" "$tree" -DMYCL_WERROR=ON -DMYCL_UNITY_BUILD=ON "${build_options[@]}"
  # From here on the driver refuses null pointers, as NVIDIA's does.
  cc -shared -fPIC -o "$work/refuse_null.so" "$root/tests/drivers/refuse_null.c" -lOpenCL
  export LD_PRELOAD=$work/refuse_null.so
  "$python" -c 'import ctypes; assert ctypes.CDLL(None).clSetKernelArgSVMPointer(None, 0, None) == -50'
  if [ "${2:-}" = sweep ]; then
    step "The sweep on OpenCL"
    # shellcheck disable=SC2086  # several words
    sweep "$backend" mycl --out "$build/sweep_opencl_$driver.jsonl" ${SWEEP:-}
    return
  fi
  step "Tests of the tree of specs/opencl.yaml"
  pytests "$backend" --dist load "$tree"/tests/test_{bringup_1_import,bringup_2_memory,bringup_3_streams,bringup_4_operators,bringup_5_autograd}.py \
    "$tree"/tests/test_{programs,gemm,opencl_gemm,opencl_memory,opencl_late,language_kernels,opencl_operators,opencl_training,opencl_compile,opencl_reductions,opencl_graphs,graphs,captures,graphed_work,profiler,device,module,memory,allocator,streams,scripts,as_on_the_cpu,examples,distributed,distributed_works}.py "${longer[@]}"
  built_tests "$backend" "$tree" package module streams random profiler host_code shared_memory surface dtypes
  [ $# -eq 0 ] || built_tests "$backend" "$tree" outside_opencl
  step "Kernels that an owner writes"
  "$root/scripts/sweep.sh" opencl
  TREE=$tree pytest_alone "$backend" "$root/tests/owned_ops/opencl_kernels.py"
  step "A sample of the sweep on OpenCL, with memory of coarse grain, which is all that most GPUs have"
  MYCL_ALLOCATION=coarse sweep "$backend" mycl --sample --fresh --out "$build/sample_opencl.jsonl" "${subjects[@]}"
  step "Training on OpenCL"
  "$backend" "$tree/examples/train_mlp.py"
  step "A machine with another OpenCL driver, which fails"
  mkdir "$work/two_drivers"
  cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors/}"*.icd "$work/two_drivers"
  cc -shared -fPIC -o "$work/broken_platform.so" "$root/tests/drivers/broken_platform.c"
  echo "$work/broken_platform.so" >"$work/two_drivers/a_broken.icd"
  said=$(MYCL_PLATFORM='' OCL_ICD_VENDORS=$work/two_drivers/ "$backend" -c 'import torch; print(torch.ones(2, device="mycl").sum().item())')
  [ "$said" = 2.0 ] || die "one driver takes the other with it: $said"
  step "A machine without OpenCL"
  said=$(OCL_ICD_VENDORS=/nowhere/ "$backend" -c 'import torch; torch.ones(1, device="mycl")' 2>&1) && die "it ran on none"
  [[ $said == *"no OpenCL driver is installed"* ]] || die "what is missing is not said: $said"
  [ $# -ne 0 ] || return 0
  step "Scripts that say cuda, on OpenCL"
  OPENREG_GEN_NIGHTLY=1 OPENREG_GEN_DEVICE=mycl pytests "$backend" "$root/tests/workbench/test_as_cuda.py" -k "not compiled"
}

# needs_of NAME: the components that one needs; without NAME: all components.
needs_of() {
  "$generator" components --json | "$python" -c 'import json, sys; print("\n".join(
    name for c in json.load(sys.stdin)["components"] for name in ([c["name"]] if len(sys.argv) < 2 else c["needs"] if c["name"] == sys.argv[1] else [])))' "$@"
}

# minimal_alone TREE PYTHON: a minimal tree is built from nothing, and all of its tests run.
minimal_alone() {
  local tree=$1 backend=$2 start count
  step "Building minimal from nothing, without a compiler cache: $(find "$tree" -type f -not -path '*/.openreg-gen/*' | wc -l) files"
  start=$SECONDS
  CCACHE_DISABLE=1 install_tree "$backend" "$tree" -DOPENREG_WERROR=ON
  echo "$((SECONDS - start)) s"
  "$backend" "$tree/examples/train_mlp.py"
  pytests "$backend" "$tree/tests"
  count=$(cd "$tree" && "$backend" -m pytest --collect-only -q tests | grep -oE '^[0-9]+ tests collected' | cut -d' ' -f1)
  "$python" "$root/scripts/site/capture.py" --tests "$count"
  built_tests "$backend" "$tree" surface layouts dtypes shared_memory
  step "A sample of the sweep on minimal"
  sweep "$backend" openreg --sample --dtype float32 --fresh --known "$root/tests/minimal_differences.json" --out "$build/sample_minimal.jsonl"
}

# A minimal tree, and minimal trees with one component more, whose tests are those that came or changed with it: the others
# are tested with the component that they are of. If none did, they are those of minimal.
stage_components() {
  local name names start file tree=$work/components/minimal without=$work/components/without backend half all needs tests failed=() chosen=("$@")
  backend=$(backend_python "$work/venv_components")
  "$generator" new openreg --profile minimal --out "$tree" >/dev/null
  mapfile -t all < <(needs_of)
  if [ "${1:-}" = half ]; then
    half=$(((${#all[@]} + 1) / 2))
    chosen=("${all[@]:half * ($2 - 1):half}")
  else
    minimal_alone "$tree" "$backend"
  fi
  if [ ${#chosen[@]} -eq 0 ]; then
    names=$("$python" "$root/scripts/choose.py" components)
    read -rd '' -a chosen <<<"$names" || true
    [ ${#chosen[@]} -eq 0 ] || echo "Again: scripts/test.sh components ${chosen[*]}"
  fi
  for name in "${chosen[@]}"; do
    tree=$work/components/$name
    "$generator" new openreg --profile minimal --out "$tree" >/dev/null
    "$generator" add component "$name" -C "$tree"
    rm -rf "$without"
    "$generator" new openreg --profile minimal --out "$without" >/dev/null
    mapfile -t needs < <(needs_of "$name")
    [ -z "${needs[*]}" ] || "$generator" add component "${needs[@]}" -C "$without" >/dev/null
    tests=()
    while read -r file; do
      cmp -s "$tree/$file" "$without/$file" || tests+=("$tree/$file")
    done < <(cd "$tree" && find tests -name 'test_*.py' | sort)
    step "Building minimal with $name"
    start=$SECONDS
    install_tree "$backend" "$tree" -DOPENREG_WERROR=ON -DOPENREG_BUILD_TESTS=ON -DOPENREG_UNITY_BUILD=ON
    echo "$((SECONDS - start)) s"
    if [ -d "$tree/tests/cpp" ]; then ctests "$tree/build" -j "$(nproc)"; fi
    if [ ${#tests[@]} -eq 0 ]; then mapfile -t tests < <(cd "$work/components/minimal" && find tests -name 'test_*.py' -printf "$tree/%p\n"); fi
    pytests "$backend" "${tests[@]}" || failed+=("$name")  # the others are to be seen, too
  done
  [ ${#failed[@]} -eq 0 ] || die "tests failed in a minimal tree with: ${failed[*]}"
}

stage_package() {
  step "A wheel of the command, in environments of each Python of this machine"
  pytest_alone "$python" "$root/tests/test_package.py"
}

# What of the book a change touches: quotes of all chapters, one of those that differ, and an exercise.
stage_book() {
  local backend tree=$work/lessons touched=()
  [ $# -ne 0 ] || touched=(--touched)
  export OPENREG_GEN=$generator VIRTUAL_ENV=$root/.venv/tools
  if [ "${1:-}" != exercises ]; then
    step "Quotes in the book"
    "$python" "$root/scripts/book.py" --quotes --work "$work/quotes"
    step "Chapters of the book"
    backend=$(backend_python "$work/venv_book")
    "$python" "$root/scripts/book.py" "${touched[@]}" --work "$work/book" --python "$backend"
  fi
  [ "${1:-}" != chapters ] || return 0
  step "Exercises of the book"
  [ "$("$python" "$root/scripts/exercises.py" --list "${touched[@]}")" != "" ] || return 0
  backend=$(backend_python "$work/venv_lessons")
  "$generator" new lessons --lesson 1 --out "$tree" >/dev/null
  install_tree "$backend" "$tree"
  "$backend" "$root/scripts/exercises.py" --tree "$tree" "${touched[@]}"
}

in_stage "$@"
arguments=()
case "${1:-} ${2:-}" in  # a component may be called as a stage is
  "components "?*|"external all"|"second all"|"book all"|"opencl pocl"|"opencl intel"|"release "[0-9]*) arguments=("${@:2}"); set -- "$1" ;;
esac
for name in "$@"; do is_stage "$name" || die "no such stage: $name; there are: ${stages//$'\n'/ }"; done
build_command ON
if [ $# -eq 0 ]; then
  set -- command format rendered example sample device allocator components second external opencl package book
fi
run_stages "$@"
