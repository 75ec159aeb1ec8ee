// Words of a spec that later folders define: the strategies. The caller passes them to the parser.
#pragma once

#include "diag/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace openreg_gen {

struct OpSpec;

struct Vocabulary {
  /// The members of strategy/strategy.h's Strategy of the same names.
  struct Strategy {
    std::string_view word, keys = {}, component = {}, implied_by = {};
    void (*written)(const OpSpec& entry, Diagnostics& diagnostics) = nullptr;
  };
  std::vector<Strategy> strategies;
  std::vector<std::string_view> words;  // of the strategies
  std::string about;                    // what the reference page says of them
};

}  // namespace openreg_gen
