// Which strategies fit an operator, and which is the best. The facts come from the catalogue alone.
#pragma once

#include "catalog/catalog.h"
#include "spec/component.h"
#include "strategy/strategy.h"

#include <memory>
#include <string>
#include <vector>

namespace openreg_gen {

struct OpItem;
struct OpSpec;

struct StrategyFit {
  const Strategy* strategy;
  bool fits = false;
  bool needs_override = false;  // fits only with `override: true`, since PyTorch's own default works already
  std::string reason;           // why it does not fit, or what override would do; empty if it simply fits
};
StrategyFit fit_of(const Strategy& strategy, const Op& op);
/// All strategies, in their order. Pure.
std::vector<StrategyFit> fitting_strategies(const Op& op);

/// The strategy that leaves least to write by hand, among those whose component is `there` (null: all). `why` explains
/// the choice to the owner.
const Strategy& best_strategy(const Op& op, std::string& why, const ComponentSet* there = nullptr);
/// Null if no strategy may replace the minimal set's kernel of this operator.
const Strategy* replaces_minimal(const Op& op);

/// What registering a kernel would do to an operator that works already; empty if it does no harm.
std::string override_warning(const Op& op);
/// Why it can't serve the operator; empty if it can.
inline std::string unfit(const Strategy& strategy, const Op& op) {
  return strategy.unfit == nullptr ? std::string() : strategy.unfit(op);
}
/// "'add.out' serves this form too: register that one", of such a form.
std::string served_by_delegate(const Op& op);

/// Reductions whose result is an index, or a value and its index: argmax.out, argmin.out, max.dim_max, min.dim_min.
bool picks(const Op& op);

/// Strategy::starts_on_host for kernels that are loops, in C++ or in the device's language if it has one.
bool loops_on_host(const DeviceKind& device, const DeviceKernels& kernels, const Op& op);

/// The item of `cpu_fallback` for an operator; without an entry, for one that falls back nevertheless.
std::unique_ptr<OpItem> fallback_item(const Op& op, const OpSpec* entry = nullptr);

}  // namespace openreg_gen
