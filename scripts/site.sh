#!/usr/bin/env bash
# Builds the documentation as a site that works without a network: build/site/index.html. Warnings are errors.
# Usage: scripts/site.sh [--check-only]   --check-only: only looks whether the generated pages are up to date
source "$(dirname "$0")/lib.sh"
site=$root/.venv/site
if [ "${1:-}" != --check-only ]; then
  packages=(sphinx furo myst-parser)
  if ! cmp -s "$root/scripts/requirements.txt" "$site/installed.txt"; then
    step "Installing Sphinx into $site"
    python3 -m venv "$site"
    pip_install "$site/bin/python" "${packages[@]}"
    cp "$root/scripts/requirements.txt" "$site/installed.txt"
  fi
fi
if [ -x "$generator" ] || [ -n "${OPENREG_GEN:-}" ]; then
  step "Generated pages"
  OPENREG_GEN=${OPENREG_GEN:-$generator} python3 "$root/scripts/site/pages.py" --check
fi
[ "${1:-}" != --check-only ] || exit 0
step "Building build/site"
"$site/bin/python" -m sphinx -q -W --keep-going -b html -d "$build/site_doctrees" -c "$root/scripts/site" "$root/docs" "$build/site"
echo "file://$build/site/index.html"
