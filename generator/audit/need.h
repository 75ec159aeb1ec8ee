// How much an operator is needed. It gives the order of display: the most important operators first.
#pragma once

#include "model/coverage.h"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace openreg_gen {

/// recorded: a recorded model calls it.  minimal set: every backend registers it.  @core: of PyTorch's core set.
enum class Need { Recorded, Minimal, Core, Others };
inline constexpr std::array kNeeds = {Need::Recorded, Need::Minimal, Need::Core, Need::Others};
std::string_view to_string(Need need);
Need need_of(const Op& op, bool recorded);

/// Smaller is first: what a model needs, needed operators that are missing, then the most needed ones; operators that
/// are not for a backend are last.
std::tuple<bool, bool, Need, bool, int, std::uint64_t> order_of(const CoverageRow& row, Need need, std::uint64_t calls);

}  // namespace openreg_gen
