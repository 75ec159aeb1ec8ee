// openreg-gen remove OP...: removes operators from the tree's spec in place, then renders the tree.
#include "cli/generate.h"
#include "cli/verb.h"
#include "edit/choose.h"
#include "edit/spec_edit.h"

#include <algorithm>

namespace openreg_gen {
namespace {

struct RemoveOptions {
  GenerateOptions generate;
  std::vector<std::string> ops;
};

void declare(CLI::App& app, Invocation& call, RemoveOptions& options) {
  app.add_option("OP", options.ops, "As in the spec: abs.out, or the name of a custom operator");
  app.callback([&app, &options] {
    if (app.get_subcommands().empty() && options.ops.empty()) throw CLI::RequiredError("OP");
  });
  options.generate.what = "remove";
  options.generate.add_to(app, call);
}

std::optional<EditedSpec> remove_ops(Invocation& call, const RemoveOptions& options, const ResolvedSpec& resolved) {
  const Spec& spec = resolved.spec;
  Diagnostics diagnostics;
  std::vector<Removal> removals;
  for (const std::string& word : options.ops)
    if (auto one = choose_removal(word, resolved, diagnostics)) removals.push_back(std::move(*one));
  if (call.report_errors(diagnostics, spec)) return std::nullopt;
  // Custom operators from the last one on, so that the indices hold; each once.
  std::ranges::sort(removals, [](const Removal& a, const Removal& b) {
    return std::pair(a.custom, a.name) > std::pair(b.custom, b.name);
  });
  const auto again = std::ranges::unique(
      removals, [](const Removal& a, const Removal& b) { return a.custom == b.custom && a.name == b.name; });
  removals.erase(again.begin(), again.end());
  EditedSpec edited{spec.text};
  edited.json["removed"] = nlohmann::json::array();
  for (const Removal& one : removals) {
    edited.text = one.custom ? without_custom_op(edited.text, spec.path, *one.custom)
                             : without_op(edited.text, spec.path, one.name);
    edited.report("removed", {{"op", one.name}}, "remove " + one.name);
  }
  return edited;
}

}  // namespace

Verb remove_component_verb();  // in component.cpp

Verb remove_verb() {
  return {"remove",
          "Remove operators or components from a backend: from its spec, then from its files",
          with_options<RemoveOptions>(declare, run_edit<remove_ops, RemoveOptions>),
          {"remove abs.out maximum.out", "remove component examples"},
          {remove_component_verb()}};
}

}  // namespace openreg_gen
