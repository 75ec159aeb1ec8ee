#include "audit/need.h"

#include "spec/minimal_ops.h"

namespace openreg_gen {

std::string_view to_string(Need need) {
  constexpr std::array<std::string_view, kNeeds.size()> names = {"recorded", "minimal set", "@core", "others"};
  return names[static_cast<std::size_t>(need)];
}

Need need_of(const Op& op, bool recorded) {
  if (recorded) return Need::Recorded;
  if (is_minimal_op(op.name)) return Need::Minimal;
  return op.has_tag("core") ? Need::Core : Need::Others;
}

std::tuple<bool, bool, Need, bool, int, std::uint64_t> order_of(const CoverageRow& row, Need need,
                                                                std::uint64_t calls) {
  const int urgency = row.coverage == Coverage::Missing ? 0 : row.coverage == Coverage::Fallback ? 1 : 2;
  const bool derived = need == Need::Others && row.op->has_tag("generated");
  const bool missed = urgency == 0 && need != Need::Others;
  return {row.coverage == Coverage::NotForYou, need != Need::Recorded && !missed, need, derived, urgency, ~calls};
}

}  // namespace openreg_gen
