// The strategies, in the order of the reference page.
#include "spec/strategy.h"

#include <algorithm>

namespace openreg_gen {

// clang-format off
Strategy structured_strategy(), pointwise_strategy(), stub_strategy(), native_strategy(), cpu_fallback_strategy(),
         unsupported_strategy(), in_tree_strategy(), reduction_strategy(), matmul_strategy();
// clang-format on

std::span<const Strategy> all_strategies() {
  static const Strategy all[] = {structured_strategy(), pointwise_strategy(),    stub_strategy(),
                                 native_strategy(),     cpu_fallback_strategy(), unsupported_strategy(),
                                 in_tree_strategy(),    reduction_strategy(),    matmul_strategy()};
  return all;
}

const Strategy* find_strategy(std::string_view word) {
  const auto all = all_strategies();
  const auto found = std::ranges::find(all, word, &Strategy::word);
  return found == all.end() ? nullptr : &*found;
}

bool Strategy::takes(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }

}  // namespace openreg_gen
