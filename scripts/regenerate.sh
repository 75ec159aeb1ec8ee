#!/usr/bin/env bash
# Renders generated_example/ again from specs/openreg.yaml, and writes the files of other kinds of trees to tests/golden/
# (scripts/golden.py), so that a review sees which trees a change touches, and how. With --check: prints differences and changes
# nothing.
# Usage: scripts/regenerate.sh [--check]
source "$(dirname "$0")/lib.sh"
# Builds the command first: an older one would render old templates.
if [ "${OPENREG_GEN_TOOLS:-}" = "$root" ]; then find_python; else build_command; fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$generator" new openreg --spec "$root/specs/openreg.yaml" --out "$fresh/generated_example" >/dev/null

trees=()
for kind in $kinds; do
  kind_spec "$kind" >"$fresh/$kind.yaml"
  "$generator" new openreg --spec "$fresh/$kind.yaml" --out "$fresh/$kind" >/dev/null
  trees+=("$kind=$fresh/$kind")
done
"$generator" new openreg --spec "$root/specs/full.yaml" --out "$fresh/full" >/dev/null
"$generator" new mycl --device opencl --out "$fresh/mycl" >/dev/null
"$generator" new mybackend --out "$fresh/mybackend" >/dev/null
"$python" "$root/scripts/golden.py" "$fresh/golden" "$fresh/generated_example" "${trees[@]}" \
  --whole "specs/full.yaml=$fresh/full" "new mycl --device opencl=$fresh/mycl" "new mybackend=$fresh/mybackend"

if [ "${1:-}" = --check ]; then
  # What a build leaves behind (build/, lib/, caches) is in the tree's .gitignore and not compared.
  mkdir "$fresh/committed"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard generated_example | xargs -0 -r cp --parents -t "$fresh/committed")
  status=0
  diff -r "$fresh/generated_example" "$fresh/committed/generated_example" ||
    { echo "generated_example/ is not what openreg-gen renders: run scripts/regenerate.sh" >&2; status=1; }
  diff -r "$fresh/golden" "$root/tests/golden" ||
    { echo "other kinds of trees are not those of tests/golden/: run scripts/regenerate.sh" >&2; status=1; }
  [ "$status" -eq 0 ] || exit 1
  echo "generated_example/ and tests/golden/ equal openreg-gen's output, byte for byte"
else
  # Only what changed is written, so that a build of the example stays incremental.
  mkdir -p "$root/generated_example"
  (cd "$root/generated_example" && git ls-files -z . | while IFS= read -r -d '' file; do
    [ -e "$fresh/generated_example/$file" ] || rm -fv "$file"; done)
  (cd "$fresh/generated_example" && find . -type f -print0) | while IFS= read -r -d '' file; do
    cmp -s "$fresh/generated_example/$file" "$root/generated_example/$file" ||
      install -D -m 644 "$fresh/generated_example/$file" "$root/generated_example/$file"
  done
  rm -rf "$root/tests/golden"
  cp -r "$fresh/golden" "$root/tests/golden"
  git -C "$root" status --short generated_example tests/golden
fi
