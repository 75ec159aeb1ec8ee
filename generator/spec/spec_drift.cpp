#include "spec/spec_drift.h"

#include "catalog/strategies.h"
#include "spec/keys.h"
#include "spec/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

using Entries = std::map<std::string, const OpSpec*, std::less<>>;

Spec expanded(const Spec& spec, const Catalog& catalog, Diagnostics& diagnostics) {
  Spec copy = spec;
  expand_ops(copy, catalog, diagnostics);
  return copy;
}

Entries by_name(const Spec& spec) {
  Entries entries;
  for (const OpSpec& op : spec.ops) entries.emplace(*op.name, &op);
  return entries;
}

std::string strategy_of(const OpSpec& op) {
  return std::string(find_key("ops.*.strategy")->values[static_cast<std::size_t>(*op.strategy)]);
}

/// Why a selection, or a range of releases, leaves an operator of the other PyTorch out.
std::string why_left(const Spec& there, const std::string& op) {
  for (const auto& selection : there.selections) {
    for (const auto& left : selection.left) {
      if (left.op == op) return left.reason;
    }
  }
  return "no selection brings it";
}

/// What validate_ops() would refuse there of `op`, the entry for that release.
void check_strategy(EntryDrift& entry, const OpSpec& op) {
  const auto fits = fitting_strategies(*entry.drift.after);
  const auto strategy = strategy_of(op);
  const auto* fit = find_fit(fits, strategy);
  if (fit == nullptr) return;
  if (!fit->fits)
    entry.broken.push_back(fmt::format("it can't be '{}' any more: {}", strategy, fit->reason));
  else if (fit->needs_override && !*op.override_composite)
    entry.broken.push_back("it is composite there, so a kernel needs `override: true`: " + fit->reason);
}

EntryDrift compare_entry(const OpSpec& op, const Spec& there, const Entries& entries_there, const Catalog& before,
                         const Catalog& after) {
  EntryDrift entry{*op.name, op.name.at, strategy_of(op), op.selection, compare_op(*op.name, before, after), {}, {}};
  const auto there_as = entries_there.find(*op.name);
  const bool stays = there_as != entries_there.end();
  if (entry.drift.after == nullptr) {
    if (op.selection.empty() && stays)
      entry.broken.push_back(fmt::format("PyTorch {} has no such operator", after.torch_version()));
    else
      entry.left = "it is gone there";
    return entry;
  }
  if (!stays) {
    entry.left = why_left(there, *op.name);
    return entry;
  }
  // An operator may have an entry of its own for that release, and a kernel with it.
  const OpSpec& in_force = *there_as->second;
  const bool same = in_force.name.at.line == op.name.at.line && in_force.name.at.column == op.name.at.column;
  entry.schema_broke = same && std::ranges::find(entry.drift.changes, OpChange::Schema) != entry.drift.changes.end();
  check_strategy(entry, in_force);
  return entry;
}

void compare_amp(const Spec& spec, const Catalog& before, const Catalog& after, SpecDrift& result) {
  std::vector<Located<std::string>> names = spec.amp.remove;
  for (const auto& [policy, added] : spec.amp.add) names.insert(names.end(), added.begin(), added.end());
  for (const auto& name : names) {
    if (before.find(*name) == nullptr || after.find(*name) != nullptr) continue;
    result.ops.push_back({*name,
                          name.at,
                          "amp",
                          {},
                          compare_op(*name, before, after),
                          {},
                          {fmt::format("PyTorch {} has no such operator", after.torch_version())}});
  }
}

}  // namespace

std::size_t SpecDrift::breaks() const {
  const auto broken = std::ranges::count_if(ops, [](const EntryDrift& entry) { return entry.breaks(); });
  return static_cast<std::size_t>(broken) + selections.size();
}

SpecDrift compare_spec(const Spec& spec, const Catalog& before, const Catalog& after) {
  SpecDrift result;
  Diagnostics ignored, wrong;
  const Spec here = expanded(spec, before, ignored), there = expanded(spec, after, wrong);
  for (const auto& diagnostic : wrong.all()) {
    if (diagnostic.severity == Severity::Error) result.selections.push_back(diagnostic);
  }
  const Entries entries_here = by_name(here), entries_there = by_name(there);
  for (const OpSpec& op : here.ops) result.ops.push_back(compare_entry(op, there, entries_there, before, after));
  for (const OpSpec& op : there.ops) {
    if (entries_here.contains(*op.name)) continue;
    if (op.selection.empty()) {  // its range begins there
      result.ops.push_back(compare_entry(op, there, entries_there, before, after));
      continue;
    }
    // Operators come in the order of their entries, so an entry's are one after another.
    if (result.added.empty() || *result.added.back().entry != op.selection) {
      result.added.emplace_back();
      result.added.back().entry = {op.selection, op.name.at};
    }
    result.added.back().ops.push_back(*op.name);
  }
  compare_amp(spec, before, after, result);
  return result;
}

}  // namespace openreg_gen
