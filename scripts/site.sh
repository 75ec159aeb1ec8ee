#!/usr/bin/env bash
# Builds the documentation as a site that works without a network: build/site/index.html. Warnings are errors.
# Usage: scripts/site.sh
source "$(dirname "$0")/lib.sh"
site=$root/.venv/site
if ! cmp -s "$root/scripts/requirements.txt" "$site/installed.txt"; then
  step "Installing Sphinx into $site"
  python3 -m venv "$site"
  pip_install "$site/bin/python" sphinx furo myst-parser
  cp "$root/scripts/requirements.txt" "$site/installed.txt"
fi
# They need the command and PyTorch; tests/test_site.py looks at them, too.
if [ -x "$generator" ] && [ -x "$root/.venv/tools/bin/python" ]; then
  step "Generated pages"
  VIRTUAL_ENV=$root/.venv/tools OPENREG_GEN=$generator python3 "$root/scripts/site/pages.py" --check
fi
step "Building build/site"
"$site/bin/python" -m sphinx -q -W --keep-going -b html -d "$build/site_doctrees" -c "$root/scripts/site" "$root/docs" "$build/site"
echo "file://$build/site/index.html"
