// What `generate`, `add` and `remove` share: one run over a tree, from its spec to its files.
#pragma once

#include "cli/common.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

namespace openreg_gen {

struct GenerateOptions {
  std::string folder, torch;
  std::string what = "generate";  // the verb, for `undo` and `status`
  bool dry_run = false, diff = false, check = false, json = false;
  bool force = false, ours = false, theirs = false;
  std::vector<std::string> disown;  // paths in the tree
  bool writes() const { return !dry_run && !diff && !check; }
};

/// A spec that is to take the place of the tree's, and what is said about it: lines for people, keys for --json.
struct EditedSpec {
  std::string text, said;
  nlohmann::json told = nlohmann::json::object();
};
/// Gets the spec as it is, valid. None: what is wrong was printed, and the run ends with Exit::BadInput.
using EditSpec = std::function<std::optional<EditedSpec>(const Inputs& inputs)>;

/// Renders the tree again; with `edit`, from the edited spec, which is then written in the same run as its files: all
/// of it or nothing, and `undo` takes both back. Exit::No if files are in the way, if there are conflicts, or if
/// --check found something. Throws Failure.
Exit generate(const GenerateOptions& options, const EditSpec& edit = {});

/// -C, --torch, --dry-run, --diff, --json, and what decides between an owner's edits and the render: --ours, --theirs,
/// --force.
void add_generate_options(CLI::App& verb, const std::shared_ptr<GenerateOptions>& options);

}  // namespace openreg_gen
