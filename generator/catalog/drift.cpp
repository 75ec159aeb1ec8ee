#include "catalog/drift.h"

#include <algorithm>
#include <array>

namespace openreg_gen {
namespace {

bool written(const Op& op) { return !op.has_tag("generated"); }

/// The C++ types by which the dispatcher calls a kernel, without the arguments' names.
bool same_types(const Op& a, const Op& b) {
  return a.returns == b.returns && std::ranges::equal(a.arguments, b.arguments, {}, &Argument::type, &Argument::type);
}

/// Types of what is returned, without alias marks.
bool same_returns(const Op& a, const Op& b) {
  const auto plain = [](const std::string& type) { return type.substr(0, type.find('(')); };
  return std::ranges::equal(a.schema_returns, b.schema_returns, {}, plain, plain);
}

/// Names under which PyTorch publishes again what it removes.
std::vector<std::string> other_bases(const std::string& base) {
  std::string plain = base.substr(base.starts_with('_') ? 1 : 0);
  std::vector<std::string> names = {plain};
  for (const auto* prefix : {"linalg_", "special_", "fft_"}) names.push_back(prefix + plain);
  names.push_back(base + "_v2");
  for (const auto* suffix : {"_v2", "_with_dtype"}) {
    const std::string_view end = suffix;
    if (base.ends_with(end)) names.push_back(base.substr(0, base.size() - end.size()));
  }
  return names;
}

std::size_t common_arguments(const Op& a, const Op& b) {
  return static_cast<std::size_t>(std::ranges::count_if(a.arguments, [&](const Argument& argument) {
    return std::ranges::find(b.arguments, argument.name, &Argument::name) != b.arguments.end();
  }));
}

}  // namespace

std::string_view to_string(OpChange change) {
  constexpr std::array<std::string_view, 8> names = {
      "removed",           "schema changed",       "became composite", "no longer composite",
      "became structured", "no longer structured", "default gained",   "default lost"};
  return names[static_cast<std::size_t>(change)];
}

OpDrift compare_op(std::string_view op, const Catalog& before, const Catalog& after) {
  OpDrift drift;
  drift.before = before.find(op);
  drift.after = after.find(op);
  if (drift.before == nullptr) return drift;
  if (drift.after == nullptr) {
    drift.changes = {OpChange::Removed};
    drift.replacement = find_replacement(*drift.before, before, after);
    return drift;
  }
  const Op &a = *drift.before, &b = *drift.after;
  const auto note = [&](bool was, bool is, OpChange gained, OpChange lost) {
    if (was != is) drift.changes.push_back(is ? gained : lost);
  };
  if (a.schema != b.schema) {
    drift.changes.push_back(OpChange::Schema);
    drift.same_signature = same_types(a, b);
  }
  const bool was = a.op_class == OpClass::Composite, is = b.op_class == OpClass::Composite;
  note(was, is, OpChange::BecameComposite, OpChange::NoLongerComposite);
  note(a.in_structured_group(), b.in_structured_group(), OpChange::BecameStructured, OpChange::NoLongerStructured);
  // A composite operator is one with a default; that is reported already.
  if (was == is) note(a.has_default, b.has_default, OpChange::DefaultGained, OpChange::DefaultLost);
  return drift;
}

const Op* find_replacement(const Op& removed, const Catalog& before, const Catalog& after) {
  const Op* best = nullptr;
  std::size_t most = 0;
  const auto consider = [&](const Op& op) {
    if (op.kind != removed.kind || !same_returns(op, removed)) return;
    if (const auto shared = common_arguments(removed, op) + 1; shared > most) {
      best = &op;
      most = shared;
    }
  };
  for (const Op* op : after.overloads(removed.base))
    if (before.find(op->name) == nullptr) consider(*op);
  if (best != nullptr) return best;
  for (const auto& base : other_bases(removed.base)) {
    if (base == removed.base) continue;
    for (const Op* op : after.overloads(base)) consider(*op);
  }
  return best;
}

CatalogDiff diff_catalogs(const Catalog& before, const Catalog& after) {
  CatalogDiff diff;
  for (const Op& op : before.all()) {
    if (!written(op)) continue;
    const Op* now = after.find(op.name);
    if (now == nullptr || !written(*now)) {
      diff.removed.push_back(&op);
    } else if (now->schema != op.schema) {
      diff.changed.emplace_back(&op, now);
    }
  }
  for (const Op& op : after.all()) {
    if (!written(op)) continue;
    const Op* then = before.find(op.name);
    if (then == nullptr || !written(*then)) diff.added.push_back(&op);
  }
  return diff;
}

}  // namespace openreg_gen
