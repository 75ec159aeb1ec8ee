// openreg-gen add OP...: adds operators to the tree's spec in place, then renders the tree.
#include "cli/generate.h"
#include "cli/verb.h"
#include "edit/choose.h"
#include "edit/spec_edit.h"
#include "pipeline/templates.h"
#include "spec/keys.h"

#include <algorithm>
#include <limits>

namespace openreg_gen {
namespace {

struct AddOptions {
  GenerateOptions generate;
  std::vector<std::string> ops;
  std::string model;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  OpRequest request;
};

void declare(CLI::App& app, Invocation& call, AddOptions& options) {
  auto* ops = app.add_option("OP", options.ops, "abs.out; or a schema, 'my_op(Tensor x, int k) -> Tensor'");
  auto* model = app.add_option("--model", options.model,
                               "A recorded model: add the operators that fell back to the CPU, most costly first")
                    ->type_name("FILE");
  auto* limit = app.add_option("--limit", options.limit, "With --model: at most this many")->type_name("N");
  const auto& words = vocabulary().words;
  const std::vector<std::string> strategies(words.begin(), words.end());
  app.add_option("--strategy", options.request.strategy, "How to register them; default: the best strategy that fits")
      ->check(CLI::IsMember(strategies))
      ->type_name("");
  app.add_option("--expr", options.request.expr, "With one OP: a C++ expression that becomes its kernel")
      ->type_name("EXPR");
  app.add_option("--reason", options.request.reason, "With --strategy unsupported: the message that users get")
      ->type_name("TEXT");
  app.add_flag("--override", options.request.override_composite,
               "Also add operators that PyTorch composes from others");
  options.generate.what = "add";
  options.generate.add_to(app, call);
  app.callback([ops, model, limit, &options, &app] {
    if (!app.get_subcommands().empty()) return;
    if (ops->empty() && model->empty()) throw CLI::RequiredError("OP or --model FILE");
    if (!limit->empty() && model->empty()) throw CLI::ValidationError("--limit goes with --model");
    if (!options.request.expr.empty() && (options.ops.size() != 1 || !model->empty()))
      throw CLI::ValidationError("--expr goes with one OP");
  });
}

std::optional<EditedSpec> add(Invocation& call, const AddOptions& options, const ResolvedSpec& resolved) {
  const Spec& spec = resolved.spec;
  OpRequest request = options.request;
  request.kernels = device_kernels(read_templates(find_data()), spec);
  Diagnostics diagnostics;
  std::vector<Choice> chosen;
  std::vector<std::string> schemas;
  EditedSpec edited{spec.text};
  const auto take = [&](Choice one) {
    const auto same_op = [&](const Choice& other) { return other.entry.name == one.entry.name; };
    if (std::ranges::none_of(chosen, same_op)) chosen.push_back(std::move(one));
  };
  for (const std::string& word : options.ops) {
    if (word == "components" || word == "component")
      throw Failure(Exit::BadInput, "E0201", fmt::format("'{}' is not an operator", word),
                    "`openreg-gen add component NAME` adds a component");
    if (word.find('(') != std::string::npos) {
      if (auto schema = choose_custom_op(word, spec, diagnostics)) schemas.push_back(std::move(*schema));
    } else if (auto one = choose_op(word, request, resolved, diagnostics)) {
      take(std::move(*one));
    }
  }
  if (!options.model.empty()) {
    Diagnostics from;
    const auto file = read_ops_file(options.model, from);
    if (call.report(from)) return std::nullopt;
    FromFile found = choose_from(*file, request, options.limit, resolved, diagnostics);
    for (Choice& one : found.chosen) take(std::move(one));
    if (!found.left_out.empty()) edited.summary += fmt::format("{}: left out {}\n", options.model, found.left_out);
    edited.json["left_out"] = found.left_out;
  }
  if (call.report_errors(diagnostics, spec)) return std::nullopt;
  edited.json["added"] = nlohmann::json::array();
  for (const Choice& one : chosen) {
    edited.ops.push_back(one.entry.name);
    edited.text = with_op(edited.text, spec.path, one.entry);
    edited.report(
        "added", {{"op", one.entry.name}, {"strategy", one.entry.strategy}, {"why", one.why}, {"on_host", one.on_host}},
        fmt::format("add {} as {}: {}", one.entry.name, one.entry.strategy, one.why));
  }
  for (const std::string& schema : schemas) {
    edited.ops.push_back(schema.substr(0, schema.find('(')));
    edited.text = with_custom_op(edited.text, spec.path, schema);
    edited.report("added", {{"schema", schema}}, fmt::format("add {}: you write its kernel", schema));
  }
  return edited;
}

}  // namespace

Verb add_component_verb();  // in component.cpp

Verb add_verb() {
  return {"add",
          "Add operators or components to a backend: to its spec, then to its files",
          with_options<AddOptions>(declare, run_edit<add, AddOptions>),
          {"add abs.out maximum.out", "add atan2.out --expr 'std::atan2(self, other)'",
           "add 'fused_scale(Tensor x, float k) -> Tensor'", "add --model model.json --limit 20 --dry-run",
           "add component caching profiler"},
          {add_component_verb()},
          {{"--from", "--model"}, {"--top", "--limit"}}};
}

}  // namespace openreg_gen
