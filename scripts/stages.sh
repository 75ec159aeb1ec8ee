# Runs stages of tests, each in a separate process. If one fails, the next ones still run. test.sh and nightly.sh
# source it, and define a function stage_NAME for each stage. Sets: stages (their names), work (a temporary folder), junit.
# If `logs` is set, that folder keeps what each stage prints.
# shellcheck shell=bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
stages=$(sed -n 's/^stage_\([a-z0-9_]*\)() {.*/\1/p' "$0")
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} MAX_JOBS=${MAX_JOBS:-$(nproc)}
export OPENREG_GEN=$generator
work=${OPENREG_GEN_WORK:-}
junit=$build/junit

# is_stage NAME
is_stage() { grep -qxF -- "$1" <<<"$stages"; }

# Sets `spent` to the processor seconds of all that ended so far; `times` answers for the shell that it runs in.
count_processor_seconds() {
  times >"$work/times"
  spent=$(awk 'NR == 2 { split($1 $2, part, /[ms]/); printf "%d", 60 * (part[1] + part[3]) + part[2] + part[4] }' "$work/times")
}

# run_stage NAME [ARGUMENT ...]: sets `status`, `seconds` and `processor`. The stage is a process, because bash ignores `set -e` in a
# function that is called in a condition.
run_stage() {
  local start=$SECONDS before
  count_processor_seconds
  before=$spent
  mkdir -p "$junit"
  rm -f "$junit/${OPENREG_GEN_JUNIT:-}$1".*.xml
  echo 0 >"$work/status"
  if [ -n "${logs:-}" ]; then
    mkdir -p "$logs"
    { "$BASH" "$0" --stage "$@" 2>&1 || echo $? >"$work/status"; } | tee "$logs/$1.log"
  else
    "$BASH" "$0" --stage "$@" || echo $? >"$work/status"
  fi
  read -r status <"$work/status"
  [ "$status" -ne 130 ] || exit 130  # Ctrl-C
  count_processor_seconds
  seconds=$((SECONDS - start)) processor=$((spent - before))
}

# in_stage ARGUMENT ...: with `--stage NAME`, this is the process of one stage: it runs the stage and exits. Else it makes `work`.
in_stage() {
  if [ "${1:-}" = --stage ]; then
    stage=$2
    find_python
    "stage_$stage" "${@:3}"
    exit
  fi
  work=$(mktemp -d)
  export OPENREG_GEN_WORK=$work
  trap 'rm -rf "$work"' EXIT
}

# run_stages NAME ...: runs all of them, each with `arguments`; exits with 1 if one failed. Calls after_stage NAME OUTCOME, if defined.
run_stages() {
  local name took='' failed=() outcome
  for name in "$@"; do
    run_stage "$name" "${arguments[@]}"
    outcome=passed
    [ "$status" -eq 0 ] || { outcome=FAILED; failed+=("$name"); step "Stage $name failed"; }
    took+=$(printf '\n%8d s %8d processor seconds  %-6s  %s' "$seconds" "$processor" "$outcome" "$name")
    [ "$(type -t after_stage)" != function ] || after_stage "$name" "$outcome" || failed+=("$name")
  done
  step "Time of each stage, what it installs included$took"
  echo "JUnit files: $junit"
  if [ ${#failed[@]} -ne 0 ]; then
    step "Failed: ${failed[*]}; again:"
    for name in "${failed[@]}"; do echo "  scripts/$(basename "$0") $name${arguments[*]:+ ${arguments[*]}}"; done
    exit 1
  fi
  step "All stages passed: $*"
}

# sweep PYTHON DEVICE [OPTION ...]: the workbench's sweep, of this source tree.
sweep() {
  PYTHONPATH=$root/generator/workbench${PYTHONPATH:+:$PYTHONPATH} "$1" -m openreg_gen.sweep --device "${@:2}"
}

# The next JUnit file of this stage; OPENREG_GEN_STAGE: of the nightly stage that this one is a part of.
next_junit() {
  local number=1 name=${OPENREG_GEN_JUNIT:-}${OPENREG_GEN_STAGE:-$stage}
  while [ -e "$junit/$name.$number.xml" ]; do number=$((number + 1)); done
  junit_file=$junit/$name.$number.xml
}

# glibc fills memory as soon as it is freed, so that what reads it afterwards fails each time, in each process of a test.
filled="GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=165"

# pytests PYTHON ARGUMENT ...: pytest on all cores. The tests of a file run in one process, because they count what happens in
# it; --dist says otherwise.
pytests() { pytest_alone "$1" -n "$(nproc)" --dist loadfile "${@:2}"; }
pytest_alone() {
  next_junit
  # shellcheck disable=SC2086
  env $filled PYTHONHASHSEED=0 "$1" -m pytest -q --junitxml "$junit_file" "${@:2}"
}

# built_tests PYTHON TREE [NAME ...]: tests of what is the same in each tree, on one that is installed: those of the files
# tests/built/test_NAME.py, or all of them.
built_tests() {
  local name files=()
  for name in "${@:3}"; do files+=("$root/tests/built/test_$name.py"); done
  [ ${#files[@]} -ne 0 ] || files=("$root/tests/built")
  TREE=$2 pytests "$1" "${files[@]}"
}

# ctests BUILD_FOLDER [ARGUMENT ...]
ctests() {
  next_junit
  # shellcheck disable=SC2086
  env $filled ctest --test-dir "$1" --output-on-failure --output-junit "$junit_file" "${@:2}"
}

# order_by_seed PYTHON TREE SEEDS OF_THE_RUNTIME OF_PYTHON: C++ and Python tests of streams, allocators and graphs, in so many orders each.
order_by_seed() {
  local seeds=$root/tests/schedule/seeds.py
  "$1" "$seeds" "$2" device allocator --seeds "$3" &&
    "$1" "$seeds" "$2" runtime --seeds "$4" &&
    "$1" "$seeds" "$2" tests/test_streams.py tests/test_graphs.py --seeds "$5" --limit 600
}

# An option of install_tree: compiles in two thirds of the time. The trees of most nightly stages are built as users build.
quick="-DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG'"

# install_tree PYTHON TREE [OPTION ...]: builds a tree into a Python environment, with options of its CMake build.
# Paths are relative to the tree: what two trees have in common is compiled once.
install_tree() {
  CCACHE_BASEDIR=$2 CMAKE_ARGS="${*:3}" "$1" -m pip install -q --disable-pip-version-check --no-build-isolation -e "$2"
}
