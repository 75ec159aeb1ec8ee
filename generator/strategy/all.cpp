// The strategies, in the order of the reference page.
#include "base/text.h"
#include "spec/keys.h"
#include "strategy/strategy.h"

namespace openreg_gen {

// clang-format off
Strategy structured_strategy(), pointwise_strategy(), stub_strategy(), native_strategy(), cpu_fallback_strategy(),
         unsupported_strategy(), in_tree_strategy(), reduction_strategy(), matmul_strategy(),
         graph_strategy();
// clang-format on

std::span<const Strategy> all_strategies() {
  static const Strategy all[] = {
      structured_strategy(),  pointwise_strategy(), stub_strategy(),      native_strategy(), cpu_fallback_strategy(),
      unsupported_strategy(), in_tree_strategy(),   reduction_strategy(), matmul_strategy(), graph_strategy()};
  return all;
}

const Vocabulary& vocabulary() {
  static const Vocabulary all = [] {
    Vocabulary out;
    for (const Strategy& each : all_strategies()) {
      out.strategies.push_back({each.word, each.keys, each.component, each.implied_by, each.written});
      out.words.push_back(each.word);
    }
    out.about = about_each(all_strategies());
    return out;
  }();
  return all;
}

const Strategy* find_strategy(std::string_view word) { return find_by(all_strategies(), word, &Strategy::word); }

bool Strategy::takes(std::string_view key) const { return has_word(keys, key); }

}  // namespace openreg_gen
