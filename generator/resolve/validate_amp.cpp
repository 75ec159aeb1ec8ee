#include "resolve/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace openreg_gen {
namespace {

using Name = SpecValue<std::string>;

bool is_tensor(const Argument& argument) { return argument.schema_type.starts_with("Tensor"); }

/// Why a policy can't serve an operator; empty if it can.
std::string unfit(const Op& op, std::string_view policy) {
  const bool out = std::ranges::any_of(op.arguments, &Argument::is_out);
  const bool mutates =
      std::ranges::any_of(op.arguments, [](const Argument& a) { return a.schema_type.find('!') != std::string::npos; });
  if (out || mutates) return "it writes into an argument, and autocast would pass a copy";
  if (std::ranges::none_of(op.arguments, is_tensor)) return "it has no tensor argument to cast";
  if (op.is_view) return "it is a view, and a cast would cut the tie to its base";
  const bool dtype = std::ranges::any_of(
      op.arguments, [](const Argument& a) { return a.name == "dtype" && a.schema_type == "ScalarType?"; });
  if (policy == "fp32_set_opt_dtype" && !dtype) return "the policy sets an argument 'dtype', which it doesn't have";
  return {};
}

void validate_added(const Name& name, const std::string& policy, const Spec& spec, const Catalog& catalog,
                    std::map<std::string, std::string>& seen, Diagnostics& diagnostics) {
  const auto has_name = [&](const CustomOpSpec& own) { return own.parsed.name() == *name; };
  if (std::ranges::any_of(spec.custom_ops, has_name)) {
    diagnostics.error("E0305", name.at, fmt::format("'{}' is of custom_ops, whose operators take no rules", *name),
                      "cast its arguments where it is called");
    return;
  }
  const Op* op = find_op(name, catalog, "E0301", "E0302", diagnostics);
  if (op == nullptr) return;
  const auto [at, first] = seen.emplace(op->name, policy);
  if (!first && at->second != policy) {
    diagnostics.error("E0303", name.at, fmt::format("'{}' is added to '{}' and to '{}'", op->name, at->second, policy),
                      "keep one");
    return;
  }
  if (const auto why = unfit(*op, policy); !why.empty()) {
    diagnostics.error("E0305", name.at, fmt::format("'{}' can't have the policy '{}': {}", op->name, policy, why));
    return;
  }
  const bool removed = std::ranges::any_of(spec.amp.remove, [&](const Name& other) { return *other == *name; });
  const AutocastRule* rule = *spec.amp.preset == "cuda" ? catalog.find_autocast(op->name) : nullptr;
  if (removed && (rule == nullptr || rule->policy == policy)) {
    diagnostics.error("E0304", name.at, fmt::format("'{}' is added and removed", op->name), "keep one");
  } else if (rule != nullptr && !removed && rule->policy != policy) {
    diagnostics.error("E0306", name.at, fmt::format("'{}' is in the preset already, as '{}'", op->name, rule->policy),
                      fmt::format("to move it, name it under 'remove' as well: `remove: [{}]`", op->name));
  } else if (rule != nullptr && !removed) {
    diagnostics.warning("E0307", name.at, fmt::format("'{}' is in the preset already, with this policy", op->name),
                        "leave it out");
  }
}

}  // namespace

void validate_amp(const Spec& spec, const Catalog& catalog, Diagnostics& diagnostics) {
  std::map<std::string, std::string> seen;
  for (const auto& [policy, names] : spec.amp.add)
    for (const Name& name : names) validate_added(name, policy, spec, catalog, seen, diagnostics);
  for (const Name& name : spec.amp.remove) {
    if (find_op(name, catalog, "E0301", "E0302", diagnostics) == nullptr) continue;
    if (*spec.amp.preset == "cuda" && (catalog.autocast.empty() || catalog.find_autocast(*name) != nullptr)) continue;
    diagnostics.error("E0308", name.at, fmt::format("'{}' has no rule in the preset '{}'", *name, *spec.amp.preset),
                      "leave it out");
  }
}

}  // namespace openreg_gen
