// Shared by `generate`, `add`, `remove` and `disown`: one run over a tree, from its spec to its files.
#pragma once

#include "cli/invocation.h"
#include "diag/failure.h"

#include <functional>

namespace openreg_gen {

struct GenerateOptions : Preview {
  std::string what = "generate";  // the verb, for `undo` and `status`
  bool check = false;
  bool force = false, ours = false, theirs = false;
  std::vector<std::string> disown;  // paths in the tree
  bool writes() const { return Preview::writes() && !check; }
  /// The options that the verbs share: all members except `check` and those that are not options.
  void add_to(CLI::App& verb, Invocation& call);
};

/// A spec that replaces the tree's, and what is reported about it.
struct EditedSpec {
  std::string text;
  std::string summary{};                           // lines for people
  nlohmann::json json = nlohmann::json::object();  // keys for --json
  std::vector<std::string> ops{};                  // whose tests are to be run next
  /// A line for people, an object for tools.
  void report(const char* list, nlohmann::json object, const std::string& line) {
    summary += line + "\n";
    json[list].push_back(std::move(object));
  }
};
/// Gets the current, valid spec. None: errors were printed, and the run ends with Exit::BadInput.
using EditSpec = std::function<std::optional<EditedSpec>(const ResolvedSpec& resolved)>;

/// Renders the tree again; with `edit`, from the edited spec, which is then written together with its files: all
/// or nothing, and `undo` reverts both. Exit::No if files are in the way, if there are conflicts, or if
/// --check found something. Throws Failure.
/// `fixes`: errors that the edit may end, so a spec without others is edited, too.
Exit generate(Invocation& call, const GenerateOptions& options, const EditSpec& edit = {},
              const std::vector<std::string_view>& fixes = {});

/// Runs a verb that edits the spec: with_options<Options>(declare, run_edit<edit, Options>).
template <auto edit, class Options>
Exit run_edit(Invocation& call, const Options& options) {
  return generate(call, options.generate, [&](const ResolvedSpec& resolved) { return edit(call, options, resolved); });
}

}  // namespace openreg_gen
