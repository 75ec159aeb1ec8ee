# Stages of scripts/test.sh for a person: they take too long for CI, or need what it has not. Sourced, not run.
# soak: the runtime under sanitizers. kinds: libraries of other kinds of trees. sweep: all of PyTorch's samples in all modes on two
# trees, which takes hours. libraries: transformers, Lightning and others, from pip. owned: operators as owners write them, in a large tree.
# shellcheck shell=bash disable=SC2154  # sourced: variables are test.sh's

# release_trees BASE NAME: trees of other kinds than generated_example/, with the PyTorch of interpreter BASE.
release_trees() {
  local base=$1 name=$2 kind backend tree
  local spec=$work/direct.yaml
  kind_spec direct >"$spec"
  for kind in direct full; do
    tree=$work/release/$kind
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
  PATH=$root/.venv/torch-$name/bin:$PATH VIRTUAL_ENV=$root/.venv/torch-$name "$base" -m pytest -q "$root/tests/test_external.py"
}

# The runtime, too, for a person: it builds the whole library twice. PyTorch's libraries are not instrumented.
stage_soak() {
  local sanitizer tree=$work/soak
  cp -r "$root/generated_example" "$tree"
  for sanitizer in address thread; do
    step "The runtime under the $sanitizer sanitizer, eight threads on two devices for a minute"
    cmake -S "$tree" -B "$work/soak-$sanitizer" -G Ninja -DOPENREG_SANITIZE=$sanitizer -DOPENREG_BUILD_TESTS=ON \
      -DOPENREG_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPython_EXECUTABLE="$python" >/dev/null
    CCACHE_BASEDIR=$tree cmake --build "$work/soak-$sanitizer" --target openreg_runtime_tests
    OPENREG_SOAK_SECONDS=60 TSAN_OPTIONS=atexit_sleep_ms=20 timeout 1200 "$work/soak-$sanitizer/tests/cpp/openreg_runtime_tests"
  done
}

# The whole sweep, on generated_example and on the tree of specs/full.yaml. Results are kept in build/, and taken up again
# where a run was stopped. SWEEP: its arguments.
stage_sweep() {
  local backend tree=$build/sweep_full status=0
  backend=$(backend_python "$root/.venv/openreg")
  step "Building generated_example and the tree of specs/full.yaml"
  install_tree "$backend" "$root/generated_example"  # takes in what was edited since it was built
  step "The sweep on generated_example"
  # shellcheck disable=SC2086  # several words
  "$backend" -m torch_openreg.testing.sweep --results "$build/sweep_openreg.jsonl" ${SWEEP:---mode all} || status=$?
  [ -e "$tree" ] || "$generator" new openreg --spec "$root/specs/full.yaml" --out "$tree" >/dev/null
  backend=$(backend_python "$root/.venv/full")
  install_tree "$backend" "$tree"
  step "The sweep on the tree of specs/full.yaml"
  # shellcheck disable=SC2086
  "$backend" -m torch_openreg.testing.sweep --results "$build/sweep_full.jsonl" ${SWEEP:---mode all} || status=$?
  return "$status"
}

# Operators of the backend's own, with kernels as an owner would write them, in the large tree; run by a person.
stage_owned() {
  local tree=$work/owned backend
  cat "$root/specs/full.yaml" "$root/tests/owned_ops/ops.yaml" >"$work/full.yaml"
  "$generator" new openreg --spec "$work/full.yaml" --out "$tree" >/dev/null
  cp "$root"/tests/owned_ops/custom_*.cpp "$tree/csrc/aten/native/"
  backend=$(backend_python "$work/venv_owned")
  step "Building the tree of specs/full.yaml"
  install_tree "$backend" "$tree" -DOPENREG_WERROR=ON -DOPENREG_UNITY_BUILD=ON
  step "Training and operators of specs/full.yaml"
  "$backend" -m pytest -q "$tree/tests/test_training.py" "$tree/tests/test_operators.py" "$tree/tests/test_modules.py" \
    "$tree/tests/test_gemm.py" "$tree/tests/test_reductions.py" "$tree/tests/test_custom_ops.py" "$tree/tests/test_attention.py" \
    "$root/tests/owned_ops/owned_ops.py"
}

# Libraries of other kinds of trees than generated_example/; what they share with it, the compiler cache has.
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
  done
}

# Libraries that people use with PyTorch, and each architecture of transformers.
stage_libraries() {
  local backend
  backend=$(backend_python "$root/.venv/libraries")
  step "Installing the libraries into $root/.venv/libraries"
  "$backend" -m pip install -q --disable-pip-version-check -c <(echo "torch==$torch_version") -r "$root/tests/libraries/requirements.txt"
  step "Building generated_example"
  install_tree "$backend" "$root/generated_example"
  step "Libraries on generated_example"
  "$backend" -m pytest -q "$root/tests/libraries/libraries.py"
  step "Networks of transformers on generated_example"
  "$backend" -m torch_openreg.testing.sweep 'transformers.*' --dtype float32 --dtype bfloat16 --results "$build/networks.jsonl"
}
