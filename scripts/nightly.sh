#!/usr/bin/env bash
# Runs tests that take too long for CI, or need more than CI's machine has. Each stage replaces its row of tests/nightly.md: commit it.
# Usage: scripts/nightly.sh [STAGE ...]   default: all, in this order, which takes a night:
#          slow        tests that are marked nightly, since they take too long for CI: of the command, of ports, of two backends,
#                      of faults in each example
#          soak        the device and the allocators under the address sanitizer; the runtime's C++ tests under both sanitizers, with
#                      eight threads on two devices for a minute
#          sanitized   the command under the address and undefined behaviour sanitizers: its unit tests, and tests that run it as a
#                      process. Each file is compiled alone, not in units, so it must include what it uses
#          sanitized_trees  the C++ of two trees under the same sanitizers, leaks included: all Python tests of minimal and of the
#                      spec of generated_example; planted faults
#          sanitized_opencl  the same of the tree of specs/opencl.yaml, on PoCL
#          races       every test of generated_example under the sanitizer of streams and memory, which may report nothing
#          failing     each call that generated_example makes of its device fails once, with each error; each allocation and thread of
#                      its device library (tests/failing)
#          schedules   the simulated device in orders by seed (OPENREG_SCHEDULE): tests of streams, the allocator and graphs; planted
#                      races, and how many seeds find them
#          kinds       libraries of trees of other kinds: a direct allocator, no fallback, features off; all structured operators compile
#          owned       the tree of specs/full.yaml: training, each operator, hand-written ones
#          libraries   transformers, Lightning and others, from PyPI, and all networks of transformers (docs/guides/libraries.md)
#          second      a tree of another name: what a name is part of
#          external    every test of a whole tree on the port that behaves like a card
#          vulkan      the port to Vulkan (tests/external/vulkan) on Mesa's driver for CPUs: the ladder, kernels, operators, training
#          compiler    OpenVINO as a graph compiler (tests/external/openvino): the ladder, the tests of the tree, networks that train
#          compiler_sweep  a sample of the sweep on it
#          book        every chapter of the book
#          exercises   every exercise of the book, with its planted solutions
#          components_1, components_2  a minimal tree with one component more: each of them, half in each stage
#          release_2_14, release_2_15  another PyTorch, 2.14.1 and 2.15.0: all tests of generated_example
#          release_trees  2.15.0 with other trees: the large, the direct and the external one
#          workflows   component ci: the steps of a tree's workflows, as GitHub would run them; every command of AGENTS.md.
#                      TORCH_INDEX: where pip finds PyTorch; TORCH_NIGHTLY_INDEX: where it finds the nightly build
#          arm         aarch64 in QEMU: the command's unit tests; a minimal tree is compiled for PyTorch's wheel, tested and trains
#          debian      Python 3.13 and g++ 14, of Debian 13: a minimal tree and generated_example are built and tested
#          opencl      the tree of specs/opencl.yaml on Intel's driver for CPUs
#          opencl_sweep  the whole sweep on it
#          clients     every tool of the workbench on four backends of other makers (docs/guides/foreign-backends.md)
#          try_standard, try_full, try_opencl  `openreg-gen try` on the operators of three trees: an hour each, from where the last
#                      part ended. TRY: another place, such as full:mul.out
#          sweep_openreg, sweep_full  all of PyTorch's samples in all modes, on generated_example and on the tree of specs/full.yaml;
#                      SWEEP: other arguments of the sweep. Its results are kept in build/, and a run that was stopped continues from there
source "$(dirname "$0")/stages.sh"
export OPENREG_GEN_JUNIT=nightly-
logs=$build/nightly

# A stage of CI with arguments, whose tests count as this stage's.
of_ci() { OPENREG_GEN_STAGE=$stage "$root/scripts/test.sh" --stage "$@"; }

stage_slow() {
  export OPENREG_GEN_NIGHTLY=1
  pytests "$python" -m nightly --dist load "$root/tests" --ignore "$root/tests/built"
  local backend
  backend=$(backend_python "$work/venv_slow")
  step "Building generated_example"
  install_tree "$backend" "$root/generated_example"
  step "A fault in each example of generated_example"
  pytests "$backend" -m nightly --dist load "$root/tests/workbench/test_planted_faults.py"
  built_tests "$backend" "$root/generated_example" outside_gloo outside_gloo_groups outside_pluggable outside_pluggable_use
}

# PyTorch's libraries are not instrumented.
stage_soak() {
  local sanitizer tree=$work/soak
  of_ci device address
  of_ci allocator address
  cp -r "$root/generated_example" "$tree"
  for sanitizer in address thread; do
    step "The runtime under the $sanitizer sanitizer, eight threads on two devices for a minute"
    cmake -S "$tree" -B "$work/soak-$sanitizer" -G Ninja -DOPENREG_SANITIZE=$sanitizer -DOPENREG_BUILD_TESTS=ON \
      -DOPENREG_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPython_EXECUTABLE="$python" >/dev/null
    CCACHE_BASEDIR=$tree cmake --build "$work/soak-$sanitizer" --target openreg_runtime_tests
    next_junit
    OPENREG_SOAK_SECONDS=60 TSAN_OPTIONS=atexit_sleep_ms=20 timeout 1200 \
      "$work/soak-$sanitizer/tests/cpp/openreg_runtime_tests" --gtest_output="xml:$junit_file"
  done
}

# strace stops LeakSanitizer, and a command that is killed leaks.
stage_sanitized() {
  local folder=$build/sanitized name files=()
  step "The command under sanitizers, each file alone"
  cmake -S "$root" -B "$folder" -G Ninja -DOPENREG_GEN_SANITIZE=ON -DOPENREG_GEN_WERROR=ON -DOPENREG_GEN_TESTS=ON -DCMAKE_UNITY_BUILD=OFF \
    -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DPython3_EXECUTABLE="$python" >/dev/null
  CCACHE_BASEDIR=$root cmake --build "$folder"
  step "Unit tests of the command under sanitizers"
  ctests "$folder" -j "$(nproc)"
  step "The command as a process under sanitizers"
  for name in add api_drift audit_report command_line coverage custom_ops device_names drift explain generate migrate new random_lives \
    regeneration safety selections user_templates workbench; do
    files+=("$root/tests/test_$name.py")
  done
  OPENREG_GEN=$folder/openreg-gen ASAN_OPTIONS=detect_leaks=0 pytests "$python" "${files[@]}"
}

# under_sanitizers TREE [TEST ...]: step `sanitize` of component ci, as owners run it, but for the environment and the options.
under_sanitizers() {
  local tree=$1 status=0
  overlay "$python" "$tree/build/ci/venv"
  step "Tests of $(basename "$tree"), whose C++ is built with sanitizers"
  CMAKE_ARGS="-DOPENREG_UNITY_BUILD=ON -DMYCL_UNITY_BUILD=ON $quick" CCACHE_BASEDIR=$tree timeout 3000 bash "$tree/ci/steps.sh" sanitize "${@:2}" || status=1
  next_junit
  cp "$tree/build/ci/sanitized.xml" "$junit_file"
  return "$status"
}

stage_sanitized_trees() {
  local tree=$work/sanitized/minimal status=0
  "$generator" new openreg --profile minimal --out "$tree" >/dev/null
  "$generator" add component ci -C "$tree" >/dev/null
  under_sanitizers "$tree" || status=1
  step "Planted faults"
  CMAKE_ARGS="-DOPENREG_UNITY_BUILD=ON $quick" "$python" "$root/tests/sanitizers/planted.py" "$tree" || status=1
  tree=$work/sanitized/openreg
  "$generator" new openreg --spec "$root/specs/openreg.yaml" --out "$tree" >/dev/null
  under_sanitizers "$tree" || status=1
  return "$status"
}

# What a driver keeps until the process ends is not the tree's.
stage_sanitized_opencl() {
  local tree=$work/sanitized/opencl
  install_packages opencl-headers ocl-icd-opencl-dev pocl-opencl-icd
  "$generator" new mycl --device opencl --out "$tree" >/dev/null
  "$generator" add component ci -C "$tree" >/dev/null
  export LEAKS="libpocl libOpenCL libLLVM libclang libhwloc" MYCL_PLATFORM="Portable Computing Language"
  under_sanitizers "$tree"
}

stage_races() {
  local backend
  backend=$(backend_python "$root/.venv/openreg")
  export OPENREG_GEN_NIGHTLY=1 OPENREG_GEN_DEVICE=openreg
  step "Building generated_example as users do, with warnings as errors"
  install_tree "$backend" "$root/generated_example" -DOPENREG_WERROR=ON
  step "Planted races"
  pytests "$backend" "$root/tests/workbench/test_sanitize.py"
  step "All tests of generated_example under the sanitizer of streams and memory"
  PYTHONPATH=$root/generator/workbench pytests "$backend" -p openreg_gen.sanitize.pytest_plugin --show-capture=no "$root/generated_example/tests"
}

# In as many processes as there are processors.
stage_failing() {
  local backend part parts running=() status=0
  backend=$(backend_python "$root/.venv/openreg")
  step "Building generated_example"
  install_tree "$backend" "$root/generated_example"
  step "Each call of the device fails once"
  parts=$(nproc)
  for ((part = 1; part <= parts; part++)); do
    "$backend" "$root/tests/failing/each_call.py" "$root/generated_example" --part "$part/$parts" &
    running+=($!)
  done
  for part in "${running[@]}"; do wait "$part" || status=1; done
  step "Each allocation of a device library fails once"
  (echo "profile: minimal"; echo "backend: {name: openreg, api_prefix: or}") >"$work/small.yaml"
  "$generator" new openreg --spec "$work/small.yaml" --out "$work/small" >/dev/null
  "$python" "$root/tests/failing/device_library.py" "$root/generated_example" || status=1
  "$python" "$root/tests/failing/device_library.py" "$work/small" --mode off || status=1
  return "$status"
}

stage_schedules() {
  local backend status=0
  backend=$(backend_python "$root/.venv/openreg")
  step "Building generated_example"
  install_tree "$backend" "$root/generated_example" -DOPENREG_BUILD_TESTS=ON -DOPENREG_UNITY_BUILD=ON "$quick"
  step "Tests of streams, the allocator and graphs in orders by seed"
  order_by_seed "$backend" "$root/generated_example" 1000 200 20 || status=1
  step "Planted races"
  "$python" "$root/tests/schedule/races.py" "$root/generated_example" || status=1
  return "$status"
}

# What the libraries share with generated_example/, the compiler cache has.
stage_kinds() {
  local kind tree
  for kind in direct fallback_none without_features; do
    tree=$work/kinds/$kind
    mkdir -p "$work/kinds"
    kind_spec "$kind" >"$work/kinds/$kind.yaml"
    "$generator" new openreg --spec "$work/kinds/$kind.yaml" --out "$tree" >/dev/null
    step "Building a tree of the kind '$kind'"
    cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOPENREG_WERROR=ON -DOPENREG_UNITY_BUILD=ON \
      -DPython_EXECUTABLE="$python" >/dev/null
    CCACHE_BASEDIR=$tree cmake --build "$tree/build"
    echo "figures: $kind builds"
  done
  step "Kernels of all structured operators"
  "$root/scripts/sweep.sh" | sed 's/^[0-9]* kernels/figures: &/'
}

stage_owned() {
  local tree=$work/owned backend
  cat "$root/specs/full.yaml" "$root/tests/owned_ops/ops.yaml" >"$work/full.yaml"
  "$generator" new openreg --spec "$work/full.yaml" --out "$tree" >/dev/null
  cp "$root"/tests/owned_ops/custom_*.cpp "$tree/csrc/aten/native/"
  backend=$(backend_python "$work/venv_owned")
  step "Building the tree of specs/full.yaml, as on a machine without nlohmann/json.hpp"
  install_tree "$backend" "$tree" -DOPENREG_WERROR=ON -DOPENREG_UNITY_BUILD=ON -DNLOHMANN_JSON=
  step "Training and operators of specs/full.yaml"
  pytests "$backend" "$tree"/tests/test_{training,operators,autograd,gemm,reductions,minimal_set,custom_ops,attention}.py "$root/tests/owned_ops/owned_ops.py"
  built_tests "$backend" "$tree" host_code shared_memory
}

stage_libraries() {
  local backend
  backend=$(backend_python "$root/.venv/libraries")
  step "Installing the libraries into $root/.venv/libraries"
  pip_install "$backend" -c <(echo "torch==$torch_version") -r "$root/tests/libraries/requirements.txt"
  step "Building generated_example"
  install_tree "$backend" "$root/generated_example"
  step "Libraries on generated_example"
  pytest_alone "$backend" "$root/tests/libraries/libraries.py"
  step "Networks of transformers on generated_example"
  sweep "$backend" openreg 'transformers.*' --dtype float32 --dtype bfloat16 --out "$build/networks.jsonl"
}

# What CI has, too, with more of it.
stage_second() { of_ci second all; }
stage_external() { of_ci external all; }
stage_book() { of_ci book chapters; }
stage_exercises() { of_ci book exercises; }
stage_components_1() { of_ci components half 1; }
stage_components_2() { of_ci components half 2; }
stage_opencl() { of_ci opencl intel; }
stage_opencl_sweep() { of_ci opencl intel sweep; }
stage_release_2_14() { of_ci release 2.14.1 all; }
stage_release_2_15() { of_ci release 2.15.0 all; }
stage_release_trees() { of_ci release 2.15.0 trees; }

# What can't run here, scripts/workflows.py names.
stage_workflows() {
  local tree=$work/workflows/tree
  export PATH=$build:$PATH PYTHON=${PYTHON:-$(command -v python3)}
  "$generator" new mybackend --profile minimal --out "$tree" >/dev/null
  "$generator" add component ci -C "$tree" >/dev/null
  local run=("$python" "$root/scripts/workflows.py" run --tree "$tree" --set "vars.TORCH_INDEX=${TORCH_INDEX:-}")
  "${run[@]}" wheels --matrix torch=2.13 --matrix "python=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  "${run[@]}" nightly --set "vars.TORCH_NIGHTLY_INDEX=${TORCH_NIGHTLY_INDEX:-}"
  "${run[@]}" pull_request --matrix torch=2.13
  "${run[@]}" relay
  step "Every command of AGENTS.md"
  VIRTUAL_ENV=$tree/build/ci/venv PATH=$tree/build/ci/venv/bin:$PATH TREE=$tree pytest_alone "$python" "$root/tests/agents_commands.py"
}

stage_arm() { source "$root/scripts/arm.sh"; }
stage_debian() { source "$root/scripts/debian.sh"; }

# pytest-timeout ends a test that hangs; timeout ends what pytest-timeout cannot.
stage_vulkan() {
  local tree=$work/vulkan source=$work/vulkan/third_party/mybackend backend
  install_packages mesa-vulkan-drivers libvulkan-dev glslang-tools
  backend=$(backend_python "$work/venv_vulkan")
  "$generator" new mybackend --device external --out "$tree" >/dev/null
  sed -i 's/^  api: external.*/&\n  kernels: glsl/' "$tree/mybackend.yaml"
  "$python" "$root/tests/external/vulkan/add_expressions.py" "$root/specs/opencl.yaml" "$tree/mybackend.yaml"
  "$generator" generate -C "$tree" >/dev/null
  cp "$root"/tests/external/vulkan/*.{cpp,h} "$source/src"
  cat "$root/tests/external/vulkan/vulkan.cmake" >>"$source/CMakeLists.txt"
  step "The device library of the Vulkan port, with two devices"
  cmake -S "$source" -B "$work/vulkan_device" -G Ninja -DMYBACKEND_WERROR=ON >/dev/null
  cmake --build "$work/vulkan_device"
  export MYBACKEND_VULKAN_PARTS=2 MYBACKEND_PROGRAM_CACHE=$work/vulkan_programs
  (cd "$tree" && export MYBACKEND_LIBRARY=$work/vulkan_device/libmybackend.so PYTHONPATH=$tree/tests
    pytest_alone "$python" --timeout 120 tests/test_bringup_*.py
    pytest_alone "$python" --timeout 120 --rootdir . "$root/tests/external/vulkan/vulkan_tests.py")
  step "Building the tree of the Vulkan port"
  install_tree "$backend" "$tree" -DMYBACKEND_WERROR=ON -DMYBACKEND_UNITY_BUILD=ON
  step "Tests of the tree of the Vulkan port"
  pytests "$backend" --timeout 600 "$tree"/tests/test_{bringup_1_import,bringup_2_memory,bringup_3_streams,bringup_4_operators,bringup_4b_programs,bringup_5_autograd}.py \
    "$tree"/tests/test_{minimal_set,storage,memory,host_memory,streams,scripts,fallback,language_kernels,operators}.py
  built_tests "$backend" "$tree" package random
  step "Training on Vulkan"
  timeout 600 "$backend" "$tree/examples/train_mlp.py"
}

stage_compiler() {
  local backend example=$root/tests/external/openvino tree=$work/compiler
  export MYBACKEND_GRAPH_CACHE=$work/compiler_graphs
  backend=$(backend_python "$work/venv_compiler")
  step "Installing OpenVINO, and a tree of its port"
  PYTHON=$backend "$example/install.sh" "$tree" -DMYBACKEND_WERROR=ON -DMYBACKEND_UNITY_BUILD=ON
  if [ "${1:-}" = sweep ]; then
    step "A sample of the sweep on OpenVINO"
    sweep "$backend" mybackend --sample --dtype float32 --timeout 600 --fresh --known "$root/tests/minimal_differences.json" \
      --known "$example/known.json" --out "$build/sample_compiler.jsonl"
    return
  fi
  step "Tests of the tree of the OpenVINO port, the ladder included"
  pytest_alone "$backend" --timeout 600 "$tree/tests"
  step "Networks on OpenVINO"
  pytest_alone "$backend" --timeout 600 "$example"/*_tests.py
  step "Training on OpenVINO"
  timeout 600 "$backend" "$tree/examples/train_mlp.py"
}
stage_compiler_sweep() { stage_compiler sweep; }

# The results are in build/clients.json; `night.py table` writes them into the page.
stage_clients() {
  local backend
  install_packages mesa-vulkan-drivers libvulkan1
  command -v clang >/dev/null || command -v clang-14 >/dev/null || install_packages clang
  backend=$(backend_python "$root/.venv/clients")
  step "Installing the clients"
  pip_install "$backend" --no-deps tinygrad torchvulkan
  step "Tests of the workbench on clients"
  OPENREG_GEN_NIGHTLY=1 pytests "$backend" "$root/tests/workbench/test_clients.py" "$root/tests/workbench/test_audit.py"
  step "Each tool on each client"
  "$backend" "$root/tests/workbench/clients/night.py" run
}

# trial TREE NAME WORD ...: three quarters of an hour of `openreg-gen try` on a backend NAME that `new NAME WORD ...` makes
trial() {
  local tree=$build/try_$1 name=$2 place=${TRY:-} backend
  [ -n "$place" ] || place=$("$python" "$root/scripts/try_operators.py" next "$1")
  if [ -e "$tree" ]; then "$generator" generate -C "$tree" >/dev/null; else "$generator" new "${@:2}" --out "$tree" >/dev/null; fi
  backend=$(backend_python "$build/venv_try_$1")
  step "Building the tree"
  install_tree "$backend" "$tree"
  step "Trying its operators from $place on"
  (cd "$work" && PYTHONPATH=$root/generator/workbench "$backend" "$root/scripts/try_operators.py" run "$place" --device "$name")
}
stage_try_standard() { trial standard openreg --profile standard; }
stage_try_full() { trial full openreg --spec "$root/specs/full.yaml"; }
stage_try_opencl() {
  install_packages opencl-headers ocl-icd-opencl-dev pocl-opencl-icd
  trial opencl mycl --device opencl
}

# What SWEEP says is several words.
stage_sweep_openreg() {
  local backend
  backend=$(backend_python "$root/.venv/openreg")
  step "Building generated_example"
  install_tree "$backend" "$root/generated_example"  # takes in what was edited since it was built
  step "Tests of the workbench on generated_example that take too long for CI"
  OPENREG_GEN_NIGHTLY=1 pytests "$backend" -m nightly "$root/tests/workbench"
  step "The sweep on generated_example"
  # shellcheck disable=SC2086
  sweep "$backend" openreg --strict --out "$build/sweep_openreg.jsonl" ${SWEEP:---mode all}
}

stage_sweep_full() {
  local backend tree=$build/sweep_full
  if [ -e "$tree" ]; then
    "$generator" generate -C "$tree" >/dev/null
  else
    "$generator" new openreg --spec "$root/specs/full.yaml" --out "$tree" >/dev/null
  fi
  backend=$(backend_python "$root/.venv/full")
  step "Building the tree of specs/full.yaml"
  install_tree "$backend" "$tree"
  step "Its spec, read from what it registers"
  TREE=$tree OPENREG_GEN_DEVICE=openreg pytest_alone "$backend" "$root/tests/workbench/test_adopt.py" -k comes_back
  step "The sweep on the tree of specs/full.yaml"
  # shellcheck disable=SC2086
  sweep "$backend" openreg --strict --out "$build/sweep_full.jsonl" ${SWEEP:---mode all}
}

after_stage() {
  "$python" "$root/scripts/nightly_table.py" record "$1" "$junit/nightly-$1".*.xml --outcome "$2" --seconds "$seconds" --log "$logs/$1.log"
}

in_stage "$@"
arguments=()
for name in "$@"; do is_stage "$name" || die "no such stage: $name; there are: ${stages//$'\n'/ }"; done
build_command ON
if [ $# -eq 0 ]; then mapfile -t names < <("$python" "$root/scripts/nightly_table.py" stages); set -- "${names[@]}"; fi
run_stages "$@"
