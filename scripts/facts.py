"""Writes the tables of facts about PyTorch's releases, from the releases themselves; docs/guides/next-pytorch.md says when.

    scripts/facts.py operators 2.13=DIR 2.14=DIR 2.15=DIR    generator/releases/op_releases.cpp
    scripts/facts.py in_tree 2.13=DIR 2.14=DIR               generator/catalog/in_tree_rows.cpp
    scripts/facts.py stubs 2.13=DIR 2.14=DIR                 generator/catalog/dispatch_stubs.cpp
    scripts/facts.py amp 2.13=DIR 2.14=DIR                   nothing: it only compares

DIR: a release's environment or the folder that holds its package; for `operators` also its declarations (see
`openreg-gen check --against`). `stubs` and `amp` read headers, which must say the same in all releases named. `in_tree`
reads the machine code of a package from pip (scripts/stub_calls.py); an operator that several releases have must call the
same in them. `--check` writes nothing, and fails if a table is not what would be written. For `operators` the command must
be built: build/openreg-gen, or $OPENREG_GEN.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("OPENREG_GEN", ROOT / "build/openreg-gen")


def supported():
    """The first and the last supported release, as the generator has them."""
    text = (ROOT / "generator/releases/releases.h").read_text()
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
        for row in json.loads(rows.stdout)["ops"]:
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
// Written by scripts/facts.py; see docs/guides/next-pytorch.md.
#include "releases/releases.h"

#include <algorithm>
#include <iterator>

namespace openreg_gen {
namespace {

// clang-format off
constexpr OpRelease kOperatorReleases[] = {
ROWS
};
// clang-format on

}  // namespace

const OpRelease* find_op_release(std::string_view op) {
  const auto at = std::ranges::lower_bound(kOperatorReleases, op, {}, &OpRelease::op);
  return at != std::end(kOperatorReleases) && at->op == op ? &*at : nullptr;
}

}  // namespace openreg_gen
"""


def arguments(text, begin):
    """The arguments of a macro, from behind its opening parenthesis; commas inside of parentheses divide nothing."""
    depth, found, word = 1, [], ""
    for letter in text[begin:]:
        depth += (letter in "(<") - (letter in ")>")
        if depth == 0:
            return [*found, " ".join(word.split())]
        if letter == "," and depth == 1:
            found.append(" ".join(word.split()))
            word = ""
        else:
            word += letter
    return []


def headers(folder):
    """ATen's, of an environment, of a folder that holds the package, or of the package."""
    found = [*folder.glob("lib/python*/site-packages/torch/include/ATen"), *folder.glob("torch/include/ATen")]
    include = [*found, folder / "include/ATen"][0]
    return include if include.is_dir() else sys.exit(f"{folder}: no PyTorch headers")


def agreed(releases, read, in_all=True):
    """What `read` finds in the releases; ends where one says something else than those before it, of what both have or, if
    `in_all`, of anything."""
    found = None
    for release, folder in releases.items():
        other = read(pathlib.Path(folder))
        found = found or other
        names = found | other if in_all else found.keys() & other.keys()
        differ = sorted(name for name in names if other.get(name) != found.get(name))
        if differ:
            sys.exit("PyTorch {}.{} says something else of: ".format(*release) + ", ".join(differ))
        found = found | other
    return found


def grouped(facts):
    """Rows {fact, ..., "name name"}: the names that have the same facts share one."""
    names = {}
    for name, fact in sorted(facts.items()):
        names.setdefault(fact, []).append(name)
    rows = []
    for fact, its in sorted(names.items()):
        head = "    {" + ", ".join(f'"{each}"' for each in fact)
        lines = textwrap.wrap(" ".join(its), 110, break_long_words=False, break_on_hyphens=False)
        separator = ", " if len(lines) == 1 and len(head) + len(lines[0]) + 6 <= 120 else ",\n     "
        rows.append(head + separator + ' "\n     '.join(f'"{line}' for line in lines) + '"},')
    return "\n".join(rows)


def declared_stubs(folder):
    """Each DispatchStub of ATen/native: the header that declares it, and its function's type where that has a name."""
    native = headers(folder) / "native"
    found = {}
    for header in sorted(native.rglob("*.h")):
        text = header.read_text()
        for at in re.finditer(r"^DECLARE_DISPATCH\(", text, re.M):
            kind, name = arguments(text, at.end())
            found[name] = (
                header.relative_to(native).with_suffix("").as_posix(),
                kind if re.fullmatch(r"\w+", kind) else "",
            )
    return found


def stubs(releases):
    """The DispatchStubs that the tables of in_tree_rows.cpp and stubs.cpp name, as the headers declare them."""
    names = set()
    for table in ("in_tree_rows", "stubs"):
        text = (ROOT / f"generator/catalog/{table}.cpp").read_text()
        names |= {word for quoted in re.findall(r'"([^"]*)"', text) for word in quoted.split()}
        for row in re.findall(r'"BASE_stub",([^}]*)', text):
            names |= {op.split(".")[0] + "_stub" for op in re.findall(r"[\w.]+", row)}
    declared = agreed(releases, lambda folder: {k: v for k, v in declared_stubs(folder).items() if k in names})
    return STUBS.replace("ROWS", grouped(declared))


STUBS = """\
// Written by scripts/facts.py; see docs/guides/next-pytorch.md.
#include "catalog/stubs.h"

#include "base/text.h"

#include <map>

namespace openreg_gen {
namespace {

struct Family {
  std::string_view name, fn_type, names;
};

// clang-format off
constexpr Family kStubs[] = {
ROWS
};
// clang-format on

}  // namespace

const Stub* declared_stub(std::string_view name) {
  static const auto declared = [] {
    std::map<std::string_view, Stub> out;
    for (const auto& [family, fn_type, names] : kStubs)
      for (const std::string_view each : words_of(names)) out[each] = {each, family, fn_type};
    return out;
  }();
  const auto at = declared.find(name);
  return at == declared.end() ? nullptr : &at->second;
}

}  // namespace openreg_gen
"""


def in_tree(releases):
    """The DispatchStubs that the kernels call which PyTorch's devices share."""
    try:
        from stub_calls import stub_calls
    except ModuleNotFoundError as error:
        sys.exit(f"{error}: pip install capstone pyelftools pyyaml")
    calls = agreed(
        releases, lambda folder: stub_calls(headers(folder.resolve()).parents[2], declared_stubs(folder)), in_all=False
    )
    return IN_TREE.replace("ROWS", in_tree_rows(calls))


def in_tree_rows(calls):
    """BASE_stub stands for the one that is named as the operator: most kernels call that one alone."""
    named = {op: op.split(".")[0] + "_stub" for op in calls}
    return grouped({op: ("BASE_stub" if its == [named[op]] else " ".join(its),) for op, its in calls.items()})


IN_TREE = """\
// Written by scripts/facts.py; see docs/guides/next-pytorch.md.
#include "catalog/stubs.h"

#include "base/text.h"

#include <map>

namespace openreg_gen {
namespace {

struct Calls {
  std::string_view stubs, ops;  // BASE is an operator's name without overload: abs.out calls abs_stub
};

// clang-format off
constexpr Calls kCalls[] = {
ROWS
};
// clang-format on

}  // namespace

const std::string* find_in_tree_stubs(std::string_view op) {
  static const auto known = [] {
    std::map<std::string_view, std::string> out;
    for (const auto& [stubs, ops] : kCalls) {
      for (const std::string_view each : words_of(ops))
        replace_all(out[each] = stubs, "BASE", each.substr(0, each.find('.')));
    }
    return out;
  }();
  const auto at = known.find(op);
  return at == known.end() ? nullptr : &at->second;
}

}  // namespace openreg_gen
"""
POLICIES = {
    "AT_FORALL_LOWER_PRECISION_FP": "lower_precision_fp",
    "AT_FORALL_FP32": "fp32",
    "AT_FORALL_FP32_SET_OPT_DTYPE": "fp32_set_opt_dtype",
    "AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE": "fp32_append_dtype",
    "AT_FORALL_PROMOTE": "promote",
}


def autocast_rules(folder):
    """Operator -> policy, of the lists in ATen/autocast_mode.h."""
    text = (headers(folder) / "autocast_mode.h").read_text().replace("\\\n", " ")
    found = {"binary_cross_entropy": "banned"}  # which no list has: CUDA registers it by hand
    for macro, policy in POLICIES.items():
        body = re.search(rf"^#define {macro}\(_\)(.*)$", text, re.M)[1]
        for at in re.finditer(r"(?<!\w)_\(", body):
            words = arguments(body, at.end())
            if policy == "fp32_append_dtype":
                found[words[1].strip('"')] = policy  # a function, then the operator's name
            else:
                found[".".join(words)] = policy
    return found


def amp(releases):
    """No table: the catalogue has the lists. But a tree is rendered from those of one release, for all."""
    agreed(releases, autocast_rules)


TABLES = {
    "operators": (operators, "releases/op_releases.cpp"),
    "in_tree": (in_tree, "catalog/in_tree_rows.cpp"),
    "stubs": (stubs, "catalog/dispatch_stubs.cpp"),
    "amp": (amp, None),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("releases", nargs="+", metavar="RELEASE=DIR")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    releases = {}
    for word in args.releases:
        release, _, folder = word.partition("=")
        releases[tuple(map(int, release.split(".")))] = folder
    make, name = TABLES[args.table]
    text = make(releases)
    if name is None:
        return
    path = ROOT / "generator" / name
    if not args.check:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path} is not what these releases say: run this without --check")


if __name__ == "__main__":
    main()
