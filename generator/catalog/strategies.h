// Which kernel strategies fit an operator, and why the others do not. The facts here come from the catalogue alone.
#pragma once

#include "catalog/catalog.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct StrategyFit {
  std::string_view strategy;  // as in the spec: "structured", "pointwise", "native", "stub", "cpu_fallback", ...
  bool fits = false;
  bool needs_override = false;  // fits only with `override: true`, since PyTorch's own default works already
  std::string reason;           // why it does not fit, or what override would do; empty if it simply fits
};

/// Reductions whose result is a place, or a value and its place: argmax.out, argmin.out, max.dim_max, min.dim_min.
bool picks(const Op& op);

/// All strategies, in the order of docs: structured, pointwise, stub, native, cpu_fallback, unsupported, in_tree,
/// reduction, matmul. Pure.
std::vector<StrategyFit> fitting_strategies(const Op& op);
/// The one entry of that list; null if there is no such strategy.
const StrategyFit* find_fit(const std::vector<StrategyFit>& fits, std::string_view strategy);

}  // namespace openreg_gen
