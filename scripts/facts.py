"""Writes the tables of facts about PyTorch's releases, from the releases themselves; docs/releases.md says when.

    scripts/facts.py operators 2.13=DIR 2.14=DIR 2.15=DIR    generator/catalog/op_releases.cpp

DIR: a release's installed package or environment, or its declarations (see `openreg-gen check --against`). `--check`
writes nothing, and fails if a table is not what would be written. The command must be built: build/openreg-gen, or
$OPENREG_GEN.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen")


def supported():
    """The first and the last supported release, as the generator has them."""
    text = (ROOT / "generator/catalog/releases.h").read_text()
    ends = [re.search(rf'k{end}TorchQuoted = "\\"([0-9.]+)\\""', text)[1] for end in ("Oldest", "Newest")]
    return [tuple(map(int, end.split("."))) for end in ends]


def operators(releases):
    """In which releases an operator is declared, where that is not all of them."""
    first, last = supported()
    wanted = [(first[0], minor) for minor in range(first[1], last[1] + 1)]
    if sorted(releases) != wanted:
        sys.exit("name each supported release once: " + " ".join(f"{a}.{b}=DIR" for a, b in wanted))
    names = {}
    for release, folder in releases.items():
        rows = subprocess.run([COMMAND, "ops", "*", "--json", "--torch", folder], check=True, stdout=subprocess.PIPE)
        for row in json.loads(rows.stdout):
            names.setdefault(row["op"], []).append(release)
    lines = []
    for name, present in sorted(names.items()):
        since, until = min(present), max(present)
        if len(present) != until[1] - since[1] + 1:
            sys.exit(f"{name} is in {present}: a table of first and last releases can't say that")
        ends = ["" if since == first else "{}.{}".format(*since), "" if until == last else "{}.{}".format(*until)]
        if any(ends):
            lines.append('    {{"{}", "{}", "{}"}},'.format(name, *ends))
    return OPERATORS.replace("ROWS", "\n".join(lines))


OPERATORS = """\
// Written by scripts/facts.py; see docs/releases.md.
#include "catalog/releases.h"

#include <algorithm>
#include <iterator>

namespace openreg_gen {
namespace {

constexpr OpRelease kOperatorReleases[] = {
ROWS
};

}  // namespace

const OpRelease* find_op_release(std::string_view op) {
  const auto at = std::ranges::lower_bound(kOperatorReleases, op, {}, &OpRelease::op);
  return at != std::end(kOperatorReleases) && at->op == op ? &*at : nullptr;
}

}  // namespace openreg_gen
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["operators"])
    parser.add_argument("releases", nargs="+", metavar="RELEASE=DIR")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    releases = {}
    for word in args.releases:
        release, _, folder = word.partition("=")
        releases[tuple(map(int, release.split(".")))] = folder
    path, text = ROOT / "generator/catalog/op_releases.cpp", operators(releases)
    if not args.check:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path} is not what these releases say: run this without --check")


if __name__ == "__main__":
    main()
