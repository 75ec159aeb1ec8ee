#include "strategy/fit.h"

#include "base/text.h"
#include "spec/kinds.h"

#include <fmt/format.h>

namespace openreg_gen {

std::string override_warning(const Op& op) {
  if (op.composite_implicit) {
    return "PyTorch composes it from other operators, with their gradients; its own kernel would lose those";
  }
  if (op.op_class == OpClass::Composite && !op.default_throws())
    return "PyTorch composes it from other operators already";
  return {};
}

std::string served_by_delegate(const Op& op) {
  return op.structured_delegate.empty()
             ? std::string()
             : fmt::format("'{}' serves this form too: register that one", op.structured_delegate);
}

StrategyFit fit_of(const Strategy& strategy, const Op& op) {
  std::string reason = unfit(strategy, op);
  if (!reason.empty()) return {&strategy, false, false, std::move(reason)};
  reason = override_warning(op);
  return {&strategy, true, !reason.empty(), reason};
}

std::vector<StrategyFit> fitting_strategies(const Op& op) {
  return mapped(all_strategies(), [&](const Strategy& strategy) { return fit_of(strategy, op); });
}

const Strategy& best_strategy(const Op& op, std::string& why, const ComponentSet* there) {
  const Strategy *best = nullptr, *usable = nullptr;
  const auto before = [](const Strategy& each, const Strategy* other) {
    return other == nullptr || each.preference < other->preference;
  };
  for (const Strategy& each : all_strategies()) {
    if (each.preference <= 0 || !unfit(each, op).empty()) continue;
    if (before(each, best)) best = &each;
    const bool can = there == nullptr || each.component.empty() || there->has(each.component);
    if (can && before(each, usable)) usable = &each;
  }
  if (usable != best)
    why = fmt::format("{} needs component '{}': `openreg-gen add component {}`", best->word, best->component,
                      best->component);
  else
    why = best->why_of != nullptr ? best->why_of(op) : best->why;
  return *usable;
}

const Strategy* replaces_minimal(const Op& op) {
  const auto all = all_strategies();
  const auto may = [&](const Strategy& each) { return each.replaces_minimal != nullptr && each.replaces_minimal(op); };
  const auto found = std::ranges::find_if(all, may);
  return found == all.end() ? nullptr : &*found;
}

bool loops_on_host(const DeviceKind& device, const DeviceKernels& kernels, const Op&) {
  return !device.runs_loops && !kernels;
}

}  // namespace openreg_gen
