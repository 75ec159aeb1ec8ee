#include "strategy/starter.h"

namespace openreg_gen {

Starter starter(std::string_view op) {
  const std::string ordered = "AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf, at::kBFloat16";
  // The NaN of either argument wins, as PyTorch has it.
  if (op == "maximum.out") return {"at::_isnan(self) || self > other ? self : other", ordered};
  if (op == "minimum.out") return {"at::_isnan(self) || self < other ? self : other", ordered};
  if (op == "abs.out") return {"std::abs(self)", "AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), at::kHalf, at::kBFloat16"};
  return {};
}

}  // namespace openreg_gen
