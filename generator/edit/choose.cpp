#include "edit/choose.h"

#include "base/suggest.h"
#include "base/text.h"
#include "edit/style.h"
#include "resolve/validate.h"
#include "spec/minimal_ops.h"
#include "spec/custom_schema.h"
#include "strategy/fit.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

namespace openreg_gen {
namespace {

std::string_view without_aten(BorrowedText name) {
  for (const std::string_view prefix : {"aten::", "aten."})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

const ResolvedOp* find_entry(const ResolvedSpec& resolved, std::string_view name) {
  return find_by(resolved.ops, name, [](const ResolvedOp& op) -> std::string_view { return op.op.name; });
}

/// The operator to register for `op`: the out form of its structured group, or itself.
const Op& registered_for(const Op& op, const OpRequest& request, const Catalog& catalog) {
  const bool redirect = request.strategy.empty() && request.expr.empty() && !op.structured_delegate.empty();
  const Op* delegate = redirect ? catalog.find(op.structured_delegate) : nullptr;
  return delegate ? *delegate : op;
}

Choice entry_for(const Op& asked, const Op& op, const OpRequest& request, const Spec& spec) {
  Choice chosen;
  chosen.entry.name = op.name;
  if (!request.strategy.empty()) {
    chosen.entry.strategy = request.strategy;
    chosen.why = "as you asked";
  } else if (!request.expr.empty()) {
    const auto all = all_strategies();
    chosen.entry.strategy = std::ranges::find_if(all, [](const Strategy& each) { return each.takes("expr"); })->word;
    chosen.why = "your expression becomes the kernel";
  } else {
    chosen.entry.strategy = best_strategy(op, chosen.why, &spec.components).word;
  }
  if (&asked != &op) chosen.why = fmt::format("serves '{}' too; {}", asked.name, chosen.why);
  if (!request.expr.empty()) chosen.entry.more.emplace_back("expr", text_node(request.expr));
  if (!request.reason.empty()) chosen.entry.more.emplace_back("reason", text_node(request.reason));
  const Strategy* strategy = find_strategy(chosen.entry.strategy);
  if (strategy && strategy->starts_on_host && strategy->starts_on_host(**spec.device.api, request.kernels, op)) {
    chosen.on_host = true;
    chosen.why += fmt::format("; {}", strategy->on_host);
  }
  if (request.override_composite && strategy && fit_of(*strategy, op).needs_override)
    chosen.entry.more.emplace_back("override", text_node("true", Node::Kind::Boolean));
  return chosen;
}

bool needs_override(const Op& op) { return !override_warning(op).empty(); }

}  // namespace

std::optional<Choice> choose_op(std::string_view name, const OpRequest& request, const ResolvedSpec& resolved,
                                Diagnostics& diagnostics) {
  const Catalog& catalog = resolved.catalog;
  const SpecValue<std::string> located{std::string(without_aten(name)), {}};
  const Op* asked = find_op(located, catalog, "E0201", "E0202", diagnostics);
  if (!asked) return std::nullopt;
  if (is_minimal_op(asked->name, resolved.spec.components) && !replaces_minimal(*asked))
    return diagnostics.fail("E0209", {},
                            fmt::format("'{}' is part of the minimal set, which every backend registers", asked->name),
                            "nothing to add; its kernel is in csrc/aten/native");
  const Op& op = registered_for(*asked, request, catalog);
  for (const Op* each : {asked, &op}) {
    const ResolvedOp* entry = find_entry(resolved, each->name);
    if (!entry) continue;
    const bool otherwise = !request.strategy.empty() || !request.expr.empty();
    if (entry->selected && otherwise) continue;  // an entry of its own goes before a selection
    if (entry->selected)
      return diagnostics.fail("E0551", entry->at(), fmt::format("'{}' comes with '{}'", each->name, entry->selection()),
                              "use --strategy to register it in another way than the selection does");
    const bool other = each != asked;
    return diagnostics.fail("E0551", entry->at(),
                            other ? fmt::format("'{}' is in the spec already, and serves '{}'", op.name, asked->name)
                                  : fmt::format("'{}' is in the spec already", each->name),
                            fmt::format("change it there, or first run `openreg-gen remove {}`", entry->op.name));
  }
  if (!request.override_composite && needs_override(op))
    return diagnostics.fail("E0203", {}, fmt::format("'{}' is composite: {}", op.name, override_warning(op)),
                            "it works already; `--override` registers a kernel nevertheless");
  return entry_for(*asked, op, request, resolved.spec);
}

std::optional<std::string> choose_custom_op(std::string_view schema, const Spec& spec, Diagnostics& diagnostics) {
  std::string_view bare = schema;
  const std::string& name = *spec.backend.name;
  if (const auto colons = schema.substr(0, schema.find('(')).find("::"); colons != std::string_view::npos) {
    bare = schema.substr(colons + 2);
    if (schema.substr(0, colons) != name)
      return diagnostics.fail(
          "E0552", {},
          fmt::format("custom operators are in the backend's namespace, not in '{}'", schema.substr(0, colons)),
          fmt::format("write `{}::{}`, or leave the namespace out", name, bare));
  }
  CustomSchemaError error;
  const auto parsed = parse_custom_schema(bare, error);
  if (!parsed)
    return diagnostics.fail(
        error.code, {}, fmt::format("'{}': {}, at character {}", bare, error.message, error.offset + 1), error.hint);
  for (const CustomOpSpec& op : spec.custom_ops) {
    if (op.parsed.name() != parsed->name()) continue;
    return diagnostics.fail("E0551", op.schema.at,
                            fmt::format("the custom operator '{}' is in the spec already", parsed->name()),
                            fmt::format("change it there, or first run `openreg-gen remove {}`", parsed->name()));
  }
  return std::string(bare);
}

FromFile choose_from(const OpsFile& file, const OpRequest& request, std::size_t top, const ResolvedSpec& resolved,
                     Diagnostics& diagnostics) {
  const Catalog& catalog = resolved.catalog;
  std::vector<RecordedOp> ops = file.ops;
  const bool figures = std::ranges::any_of(ops, [](const RecordedOp& op) { return op.calls > 0 || op.fallback > 0; });
  const bool costs = std::ranges::any_of(ops, &RecordedOp::costs);
  std::map<std::string_view, std::size_t> left_out;
  if (figures && !costs) {
    std::ranges::stable_sort(ops, std::ranges::greater{}, &RecordedOp::calls);
  } else if (figures) {
    left_out["did not fall back"] = std::erase_if(ops, [](const RecordedOp& op) { return op.fallback == 0; });
    std::ranges::stable_sort(ops, std::ranges::greater{},
                             [](const RecordedOp& op) { return std::tuple(op.seconds, op.bytes, op.fallback); });
  }
  FromFile out;
  std::set<std::string> taken;
  for (const RecordedOp& recorded : ops) {
    const Op* asked = find_op(recorded.name, catalog, "E0201", "E0202", diagnostics);
    if (!asked) continue;
    const Op& op = registered_for(*asked, request, catalog);
    if (find_entry(resolved, asked->name) || find_entry(resolved, op.name)) {
      ++left_out["in the spec already"];
    } else if (is_minimal_op(asked->name, resolved.spec.components)) {
      ++left_out["of the minimal set"];
    } else if (!request.override_composite && needs_override(op)) {
      ++left_out["composite"];
    } else if (out.chosen.size() < top && taken.insert(op.name).second) {
      Choice chosen = entry_for(*asked, op, request, resolved.spec);
      if (costs) chosen.why += fmt::format(" ({} calls fell back, {:.3g} s)", recorded.fallback, recorded.seconds);
      if (figures && !costs) chosen.why += fmt::format(" ({} calls)", recorded.calls);
      out.chosen.push_back(std::move(chosen));
    } else if (!taken.contains(op.name)) {
      ++left_out["beyond --limit"];
    }
  }
  for (const auto& [why, count] : left_out)
    if (count > 0) out.left_out += fmt::format("{}{} {}", out.left_out.empty() ? "" : ", ", count, why);
  return out;
}

std::optional<Removal> choose_removal(std::string_view name, const ResolvedSpec& resolved, Diagnostics& diagnostics) {
  const Catalog& catalog = resolved.catalog;
  std::string_view bare = without_aten(name);
  const Op* op = catalog.find(bare);
  for (const std::string_view each : {bare, op ? std::string_view(op->structured_delegate) : std::string_view()}) {
    const ResolvedOp* entry = find_entry(resolved, each);
    if (entry && !entry->selected) return Removal{entry->op.name, std::nullopt};
    if (entry)
      return diagnostics.fail("E0553", entry->at(),
                              fmt::format("'{}' has no entry of its own: it comes with '{}'", each, entry->selection()),
                              fmt::format("write `\"-{}\"` under `ops`, which removes it from all selections", each));
  }
  const Spec& spec = resolved.spec;
  if (const std::string prefix = *spec.backend.name + "::"; bare.starts_with(prefix)) bare.remove_prefix(prefix.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < spec.custom_ops.size(); ++i) {
    names.push_back(spec.custom_ops[i].parsed.name());
    if (names.back() == bare) return Removal{names.back(), i};
  }
  for (const ResolvedOp& each : resolved.ops) names.push_back(each.op.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  return diagnostics.fail(
      "E0553", {}, fmt::format("'{}' is not in the spec", bare),
      is_minimal_op(bare) ? "it is part of the minimal set, which every backend registers" : did_you_mean(bare, views));
}

}  // namespace openreg_gen
