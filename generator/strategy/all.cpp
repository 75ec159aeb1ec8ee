// The strategies, in the order of the reference page.
#include "base/text.h"
#include "spec/strategy.h"

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

const Strategy* find_strategy(std::string_view word) { return find_by(all_strategies(), word, &Strategy::word); }

bool Strategy::takes(std::string_view key) const { return has_word(keys, key); }

}  // namespace openreg_gen
