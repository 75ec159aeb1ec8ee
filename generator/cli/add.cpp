// openreg-gen add OP..., openreg-gen remove OP...: edits the tree's spec in place, then renders the tree.
#include "cli/cli.h"

#include "cli/generate.h"
#include "cli/report.h"
#include "edit/choose.h"
#include "edit/spec_edit.h"
#include "spec/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace openreg_gen {
namespace {

struct AddOptions {
  std::shared_ptr<GenerateOptions> generate = std::make_shared<GenerateOptions>();
  std::vector<std::string> ops;
  std::string from;
  std::size_t top = std::numeric_limits<std::size_t>::max();
  Wish wish;
};

/// What is wrong with the words of the command line or with the file they name; the spec's own place where it has one.
bool wrong(Diagnostics& diagnostics, const Spec& spec, bool json) {
  if (!diagnostics.has_errors()) return false;
  diagnostics.finish(spec.text);
  return report(diagnostics, json);
}

/// A line for people, an object for tools.
void tell(EditedSpec& edited, const char* list, nlohmann::json object, std::string line) {
  edited.said += line + "\n";
  edited.told[list].push_back(std::move(object));
}

std::optional<EditedSpec> add(const AddOptions& options, const Inputs& inputs) {
  Diagnostics diagnostics;
  std::vector<Chosen> chosen;
  std::vector<std::string> schemas;
  EditedSpec edited{inputs.spec.text, {}, nlohmann::json::object()};
  for (const std::string& word : options.ops) {
    if (word.find('(') != std::string::npos) {
      if (auto schema = choose_custom_op(word, inputs.spec, diagnostics)) schemas.push_back(std::move(*schema));
    } else if (auto one = choose_op(word, options.wish, inputs.spec, inputs.catalog, diagnostics)) {
      const auto same_op = [&](const Chosen& other) { return other.entry.name == one->entry.name; };
      if (std::ranges::none_of(chosen, same_op)) chosen.push_back(std::move(*one));
    }
  }
  if (!options.from.empty()) {
    Diagnostics from;
    const auto file = read_ops_file(options.from, from);
    if (report(from, options.generate->json)) return std::nullopt;
    FromFile found = choose_from(*file, options.wish, options.top, inputs.spec, inputs.catalog, diagnostics);
    for (Chosen& one : found.chosen) {
      const auto same_op = [&](const Chosen& other) { return other.entry.name == one.entry.name; };
      if (std::ranges::none_of(chosen, same_op)) chosen.push_back(std::move(one));
    }
    if (!found.left_out.empty()) edited.said += fmt::format("{}: left out {}\n", options.from, found.left_out);
    edited.told["left_out"] = found.left_out;
  }
  if (wrong(diagnostics, inputs.spec, options.generate->json)) return std::nullopt;
  edited.told["added"] = nlohmann::json::array();
  for (const Chosen& one : chosen) {
    edited.text = with_op(edited.text, inputs.spec.path, one.entry);
    tell(edited, "added", {{"op", one.entry.name}, {"strategy", one.entry.strategy}, {"why", one.why}},
         fmt::format("add {} as {}: {}", one.entry.name, one.entry.strategy, one.why));
  }
  for (const std::string& schema : schemas) {
    edited.text = with_custom_op(edited.text, inputs.spec.path, schema);
    tell(edited, "added", {{"schema", schema}}, fmt::format("add {}: its kernel is yours", schema));
  }
  return edited;
}

std::optional<EditedSpec> remove(const AddOptions& options, const Inputs& inputs) {
  Diagnostics diagnostics;
  std::vector<Removal> removals;
  for (const std::string& word : options.ops) {
    if (auto one = choose_removal(word, inputs.spec, inputs.catalog, diagnostics)) removals.push_back(std::move(*one));
  }
  if (wrong(diagnostics, inputs.spec, options.generate->json)) return std::nullopt;
  // Custom operators from the last one on, so that the indices hold; each once.
  std::ranges::sort(removals, [](const Removal& a, const Removal& b) {
    return std::pair(a.custom, a.name) > std::pair(b.custom, b.name);
  });
  const auto again = std::ranges::unique(
      removals, [](const Removal& a, const Removal& b) { return a.custom == b.custom && a.name == b.name; });
  removals.erase(again.begin(), again.end());
  EditedSpec edited{inputs.spec.text, {}, nlohmann::json::object()};
  edited.told["removed"] = nlohmann::json::array();
  for (const Removal& one : removals) {
    edited.text = one.custom ? without_custom_op(edited.text, inputs.spec.path, *one.custom)
                             : without_op(edited.text, inputs.spec.path, one.name);
    tell(edited, "removed", {{"op", one.name}}, "remove " + one.name);
  }
  return edited;
}

}  // namespace

void add_add(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("add", "Add operators to a backend: to its spec, then to its files");
  auto options = std::make_shared<AddOptions>();
  options->generate->what = "add";
  auto* ops = verb->add_option("OP", options->ops, "abs.out; or a schema, 'my_op(Tensor x, int k) -> Tensor'");
  auto* from = verb->add_option("--from", options->from,
                                "Operators of a recorded model that fell back to the CPU, most costly first")
                   ->type_name("FILE");
  auto* top = verb->add_option("--top", options->top, "With --from: at most so many")->type_name("N");
  const auto words = find_key("ops.*.strategy")->values;
  const std::vector<std::string> strategies(words.begin(), words.end());
  verb->add_option("--strategy", options->wish.strategy, "How they are registered; default: the best that fits")
      ->check(CLI::IsMember(strategies))
      ->type_name("");
  verb->add_option("--expr", options->wish.expr, "With one OP: a C++ expression that becomes its kernel")
      ->type_name("EXPR");
  verb->add_option("--reason", options->wish.reason, "With --strategy unsupported: what users are told")
      ->type_name("TEXT");
  verb->add_flag("--override", options->wish.override_composite,
                 "Add an operator that PyTorch composes of others, too");
  add_generate_options(*verb, options->generate);
  verb->footer(
      "Examples:\n"
      "  openreg-gen add abs.out maximum.out\n"
      "  openreg-gen add atan2.out --expr 'std::atan2(self, other)'\n"
      "  openreg-gen add 'fused_scale(Tensor x, float k) -> Tensor'\n"
      "  openreg-gen add --from model.json --top 20 --dry-run");
  verb->callback([options, ops, from, top, &session] {
    if (ops->empty() && from->empty()) throw CLI::RequiredError("OP or --from FILE");
    if (!top->empty() && from->empty()) throw CLI::ValidationError("--top goes with --from");
    if (!options->wish.expr.empty() && (options->ops.size() != 1 || !from->empty()))
      throw CLI::ValidationError("--expr goes with one OP");
    session.json = options->generate->json;
    session.action = [options] {
      return generate(*options->generate, [options](const Inputs& inputs) { return add(*options, inputs); });
    };
  });
}

void add_remove(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("remove", "Take operators out of a backend's spec, then out of its files");
  auto options = std::make_shared<AddOptions>();
  options->generate->what = "remove";
  verb->add_option("OP", options->ops, "As the spec has it: abs.out, or the name of a custom operator")->required();
  add_generate_options(*verb, options->generate);
  verb->callback([options, &session] {
    session.json = options->generate->json;
    session.action = [options] {
      return generate(*options->generate, [options](const Inputs& inputs) { return remove(*options, inputs); });
    };
  });
}

}  // namespace openreg_gen
