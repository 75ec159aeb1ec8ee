# The stage `debian` of scripts/nightly.sh, which sources it: Python 3.13, g++ 14 and CMake 3.31, as Debian 13 has them, on a machine
# that has others. Debian 13 is unpacked in build/debian13, with PyTorch from pip: 7 GB of disk. Trees that the command renders here are
# built and tested there. Needs root or sudo, as chroot does.
# shellcheck shell=bash
folder=$build/debian13
sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)

# in_debian COMMAND ...: mounts end with the command.
in_debian() {
  "${sudo[@]}" unshare --mount bash -c '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    exec chroot "$0" env -i HOME=/root LANG=C.UTF-8 PATH=/root/venv/bin:/usr/bin:/usr/sbin CCACHE_SLOPPINESS="$1" CCACHE_NOHASHDIR=1 "${@:2}"' \
    "$folder" "$CCACHE_SLOPPINESS" "$@"
}

make_debian() {
  local file
  install_packages debootstrap
  [ ! -e "$folder/done" ] || return 0
  step "Debian 13 into $folder"
  "${sudo[@]}" rm -rf --one-file-system "$folder"
  "${sudo[@]}" debootstrap --variant=minbase --include=ca-certificates,ccache,cmake,g++,git,libgtest-dev,mold,ninja-build,python3-dev,python3-venv \
    trixie "$folder" http://deb.debian.org/debian >"$build/debian13.log"
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || "${sudo[@]}" cp -L "$file" "$folder$file"
  done
  "${sudo[@]}" cp "$root/scripts/requirements.txt" "$folder/root"
  step "PyTorch $torch_version for its Python"
  in_debian python3 -m venv /root/venv
  in_debian pip install -q --disable-pip-version-check -c /root/requirements.txt "torch==$torch_version" numpy expecttest hypothesis jinja2 \
    pytest pytest-timeout pytest-xdist pyyaml setuptools wheel
  "${sudo[@]}" touch "$folder/done"
}

# test_in_debian TREE PREFIX FOLDER [TEST ...]: with warnings as errors. A process holds one backend: the tree is taken out at the end.
test_in_debian() {
  local inside=/root/$1 status=0
  step "Building $1 with Python 3.13 and g++ 14"
  "${sudo[@]}" rm -rf "$folder$inside"
  "${sudo[@]}" cp -r "$3" "$folder$inside"
  in_debian env CCACHE_BASEDIR="$inside" CMAKE_ARGS="-D${2}_WERROR=ON -D${2}_UNITY_BUILD=ON" MAX_JOBS="$MAX_JOBS" \
    pip install -q --disable-pip-version-check --no-build-isolation -e "$inside"
  step "Testing $1 with Python 3.13"
  in_debian python "$inside/examples/train_mlp.py"
  in_debian bash -c 'cd "$1" && python -m pytest -q -n "$(nproc)" --dist loadfile --junitxml junit.xml "${@:2}"' bash "$inside" "${@:4}" || status=$?
  next_junit
  cp "$folder$inside/junit.xml" "$junit_file"
  in_debian pip uninstall -q -y "$1"
  return "$status"
}

make_debian
"$generator" new mybackend --profile minimal --out "$work/torch_mybackend" >/dev/null
test_in_debian torch_mybackend MYBACKEND "$work/torch_mybackend" tests
mkdir "$work/example"
(cd "$root" && git ls-files -z generated_example | xargs -0 cp --parents -t "$work/example")
test_in_debian torch_openreg OPENREG "$work/example/generated_example" tests
