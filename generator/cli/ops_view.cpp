#include "cli/ops_view.h"

#include "cli/answer.h"
#include "cli/terminal_text.h"
#include "base/suggest.h"
#include "base/text.h"
#include "strategy/refused.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

namespace openreg_gen {
namespace {

/// The schema without "aten::add.Tensor", which the row says already.
std::string schema_tail(const Op& op) { return op.schema.substr(op.schema.find('(')); }

/// Kernel names with the dispatch keys they serve, one name per line.
std::vector<std::string> kernel_lines(const Op& op) {
  std::map<std::string, std::vector<std::string>> keys_of;
  for (const auto& [key, kernel] : op.kernels) keys_of[kernel].push_back(key);
  std::vector<std::string> lines;
  for (const auto& [kernel, keys] : keys_of) lines.push_back(fmt::format("{} for {}", kernel, fmt::join(keys, ", ")));
  return lines;
}

std::string structure(const Op& op) {
  if (!op.in_structured_group()) return {};
  return op.structured_inherits.empty() ? op.meta_struct : op.meta_struct + ", a " + op.structured_inherits;
}

/// Null if nothing is best: another operator's kernel, or PyTorch's own composition, serves the operator.
const Strategy* best_registered(const Op& op, const Spec* spec, std::string& why) {
  const bool served = !op.structured_delegate.empty() || op.composite_implicit;
  return served ? nullptr : &best_strategy(op, why, spec == nullptr ? nullptr : &spec->components);
}

/// "at::Tensor & add_out(" and one argument a line.
std::string op_declaration(const Op& op) {
  std::string text = fmt::format("{} {}{}(", op.returns, op.base, op.kind == SchemaKind::Out ? "_out" : "");
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    text += fmt::format("{}\n    {} {}", i == 0 ? "" : ",", op.arguments[i].type, op.arguments[i].name);
  return text + ")";
}

}  // namespace

std::string about_class(const Op& op) {
  switch (op.op_class) {
    case OpClass::Structured:
      if (op.structured) return "structured: one kernel serves all forms of the group";
      return fmt::format("structured: served by the kernel of '{}'", op.structured_delegate);
    case OpClass::Native:
      return "native: no default kernel; a backend writes one, or the operator falls back";
    case OpClass::Composite:
      return op.composite_implicit ? "composite: calls other operators, gradients included"
                                   : "composite: calls other operators";
    case OpClass::View:
      return "view: its result aliases its input";
    case OpClass::Factory:
      return "factory: creates a tensor on a device";
    case OpClass::Random:
      return "random: draws from a generator";
  }
  return "";
}

std::vector<const Op*> match_ops(const Catalog& catalog, const std::string& pattern) {
  const bool glob = pattern.find_first_of("*?[") != std::string::npos;
  const auto wanted = lower_case(pattern.starts_with("aten::") ? pattern.substr(6) : pattern);
  std::vector<const Op*> found;
  for (const auto& op : catalog.all()) {
    const auto name = lower_case(op.name);
    const bool hit = glob ? ::fnmatch(wanted.c_str(), name.c_str(), 0) == 0 : includes(name, wanted);
    if (hit) found.push_back(&op);
  }
  return found;
}

std::string suggest_op(const Catalog& catalog, std::string_view word) {
  if (word.starts_with("aten::")) word.remove_prefix(6);
  // Whole names if an overload was asked for, else base names, so that "ad" leads to "add" and not to an overload.
  std::vector<std::string_view> candidates;
  const bool overload = contains(word, '.');
  for (const auto& op : catalog.all()) candidates.emplace_back(overload ? op.name : op.base);
  const auto near = closest(word, candidates);
  return near.empty() ? "" : fmt::format("did you mean '{}'?", near);
}

std::string ops_table(const std::vector<const Op*>& ops, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "CLASS", "DEFAULT", "SCHEMA"}};
  for (const auto* op : ops)
    rows.push_back({op->name, std::string(to_string(op->op_class)), op->has_default ? "yes" : "no", schema_tail(*op)});
  return layout_table(rows, width);
}

std::string overloads_table(const std::string& name, const std::vector<const Op*>& overloads, std::size_t width) {
  return fmt::format("'{}' has {} overloads; name one of them:\n\n{}", name, overloads.size(),
                     ops_table(overloads, width));
}

std::string op_page(const Op& op, std::size_t width, const Spec* spec) {
  Page page(width);
  page.raw(fmt::format("{}\n\n", op.schema));
  auto declaration = op_declaration(op);
  replace_all(declaration, "\n", "\n  ");
  page.raw("  " + declaration + "\n\n");
  page.entry("class", about_class(op));
  page.entry("form", std::string(to_string(op.kind)) + (op.method ? ", also a method" : ""));
  page.entry("default", op.default_throws() ? "yes: it only throws, so a backend has to override it"
                        : op.has_default    ? "yes: works without a kernel in the backend"
                                            : "no");
  page.entry("symbol", op.ops_struct());
  page.entry("structure", structure(op));
  page.entries("precomputed", op.precomputed);
  page.entry("variants", fmt::format("{}", fmt::join(op.variants, ", ")));
  page.entry("tags", fmt::format("{}", fmt::join(op.tags, ", ")));
  page.entries("kernels", kernel_lines(op));
  page.raw(strategies_table(op, width, spec));
  return page.take();
}

std::string strategies_table(const Op& op, std::size_t width, const Spec* spec) {
  std::string why;
  const Strategy* best = best_registered(op, spec, why);
  std::string text = "\n  strategies\n";
  for (const auto& fit : fitting_strategies(op)) {
    const std::string refused = spec == nullptr || !fit.fits ? "" : refused_by(*spec, *fit.strategy, op);
    const auto verdict = !fit.fits              ? "no"
                         : !refused.empty()     ? "not here"
                         : fit.needs_override   ? "override"
                         : fit.strategy == best ? "best"
                                                : "yes";
    const std::string reason = !refused.empty()         ? refused
                               : !fit.reason.empty()    ? fit.reason
                               : fit.strategy == best   ? why
                               : fit.strategy->compiles ? "only with `device: {api: compiler}`"
                                                        : "";
    auto line = fmt::format("    {:<13} {:<8}  {}", fit.strategy->word, verdict, wrap_words(reason, 28, width));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

nlohmann::ordered_json op_summary(const Op& op) {
  return {{"op", op.name},
          {"schema", op.schema},
          {"signature", op.signature()},
          {"class", to_string(op.op_class)},
          {"kind", to_string(op.kind)},
          {"default", op.has_default},
          {"tags", op.tags}};
}

nlohmann::ordered_json op_details(const Op& op, const Spec* spec) {
  auto json = op_summary(op);
  json["symbol"] = op.ops_struct();
  json["returns"] = op.returns;
  json["arguments"] = json_list(op.arguments, [](const Argument& a) {
    nlohmann::ordered_json argument = {{"name", a.name}, {"type", a.type}, {"schema_type", a.schema_type}};
    if (!a.default_value.empty()) argument["default"] = a.default_value;
    argument["kwarg_only"] = a.kwarg_only;
    argument["out"] = a.is_out;
    return argument;
  });
  json["view"] = op.is_view;
  json["structured"] = op.structured;
  json["structured_delegate"] = op.structured_delegate;
  json["structured_inherits"] = op.structured_inherits;
  json["meta_struct"] = op.meta_struct;
  json["precomputed"] = op.precomputed;
  json["variants"] = op.variants;
  json["kernels"] = op.kernels;
  json["strategies"] = json_list(fitting_strategies(op), [&](const StrategyFit& fit) {
    nlohmann::ordered_json one = {{"strategy", fit.strategy->word},
                                  {"fits", fit.fits},
                                  {"needs_override", fit.needs_override},
                                  {"reason", fit.reason}};
    if (spec != nullptr) one["refused_here"] = refused_by(*spec, *fit.strategy, op);
    return one;
  });
  std::string why;
  if (const Strategy* best = best_registered(op, spec, why)) json["best_strategy"] = best->word;
  return json;
}

}  // namespace openreg_gen
