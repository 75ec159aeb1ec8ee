#include "resolve/spec_drift.h"

#include "resolve/select.h"
#include "strategy/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

/// The effective entries by operator, including operators that no longer exist.
using Entries = std::map<std::string, const OpSpec*, std::less<>>;

Entries by_name(const ResolvedSpec& resolved) {
  Entries entries;
  for (const ResolvedOp& op : resolved.ops) entries.emplace(op.op.name, &op.entry);
  for (const OpSpec* entry : resolved.unknown) entries.emplace(*entry->name, entry);
  return entries;
}

/// Why a selection, or a range of releases, leaves an operator of the other PyTorch out.
std::string why_left(const ResolvedSpec& there, const std::string& op) {
  for (const auto& selection : there.selections) {
    for (const auto& left : selection.left)
      if (left.op == op) return left.reason;
  }
  return "no selection contains it";
}

/// What validate_ops() would refuse in `op`, the entry for that release.
void check_strategy(EntryDrift& entry, const OpSpec& op) {
  const Strategy& strategy = strategy_of(op);
  const StrategyFit fit = fit_of(strategy, *entry.drift.after);
  if (!fit.fits)
    entry.broken.push_back(fmt::format("it can no longer be '{}': {}", strategy.word, fit.reason));
  else if (fit.needs_override && !*op.override_composite)
    entry.broken.push_back("it is composite there, so a kernel needs `override: true`: " + fit.reason);
}

/// `op` is the entry that brings `name`, by which it is `selected` or named.
EntryDrift compare_entry(const OpSpec& op, const std::string& name, bool selected, const ResolvedSpec& there,
                         const Entries& entries_there, const Catalog& before) {
  const Catalog& after = there.catalog;
  EntryDrift entry{name, op.name.at, *op.strategy, selected ? *op.name : "", compare_op(name, before, after), {}, {}};
  const auto there_as = entries_there.find(name);
  const bool stays = there_as != entries_there.end();
  if (entry.drift.after == nullptr) {
    if (!selected && stays)
      entry.broken.push_back(fmt::format("PyTorch {} has no such operator", after.torch_version()));
    else
      entry.left = "it no longer exists there";
    return entry;
  }
  if (!stays) {
    entry.left = why_left(there, name);
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
  std::vector<SpecValue<std::string>> names = spec.amp.remove;
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
  const ResolvedSpec here = expand_ops(spec, before, ignored), there = expand_ops(spec, after, wrong);
  for (const auto& diagnostic : wrong.all())
    if (diagnostic.severity == Severity::Error) result.selections.push_back(diagnostic);
  const Entries entries_here = by_name(here), entries_there = by_name(there);
  const auto compare = [&](const OpSpec& entry, const std::string& name, bool selected) {
    result.ops.push_back(compare_entry(entry, name, selected, there, entries_there, before));
  };
  for (const auto& [entry, op, selected] : here.ops) compare(entry, op.name, selected);
  for (const ResolvedOp& op : there.ops) {
    if (entries_here.contains(op.op.name)) continue;
    if (!op.selected) {  // its range begins there
      compare(op.entry, op.op.name, false);
      continue;
    }
    // Operators come in the order of their entries, so an entry's are one after another.
    if (result.added.empty() || *result.added.back().entry != *op.entry.name) {
      result.added.emplace_back();
      result.added.back().entry = op.entry.name;
    }
    result.added.back().ops.push_back(op.op.name);
  }
  for (const OpSpec* entry : there.unknown)
    if (!entries_here.contains(*entry->name)) compare(*entry, *entry->name, false);
  compare_amp(spec, before, after, result);
  return result;
}

}  // namespace openreg_gen
