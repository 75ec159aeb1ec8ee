#include "spec/parse_allocator.h"

#include "spec/read_keys.h"

#include <fmt/format.h>

#include <bit>

namespace openreg_gen {
namespace {

template <typename T>
void power_of_two(const Located<T>& value, std::string_view key, Diagnostics& diagnostics) {
  const auto number = static_cast<std::uint64_t>(*value);
  if (!value.given() || std::has_single_bit(number)) return;
  diagnostics.error("E0139", value.at, fmt::format("'{}' {} is no power of two", key, number),
                    fmt::format("such as {}", std::bit_floor(number)));
}

}  // namespace

void check_allocator(const AllocatorSpec& allocator, const Node* map, Diagnostics& diagnostics) {
  power_of_two(allocator.alignment, "alignment", diagnostics);
  power_of_two(allocator.roundup_power2_divisions, "roundup_power2_divisions", diagnostics);
  const double threshold = *allocator.garbage_collection_threshold;
  if (allocator.garbage_collection_threshold.given() && (threshold <= 0 || threshold >= 1)) {
    diagnostics.error("E0117", allocator.garbage_collection_threshold.at,
                      fmt::format("'garbage_collection_threshold' is {}, not between 0 and 1", threshold),
                      "leave it out to never collect");
  }
  const AllocatorKind* kind = *allocator.device;
  if (kind == nullptr || kind->caches) return;
  for (const auto key :
       {"max_split_size_mb", "garbage_collection_threshold", "roundup_power2_divisions", "expandable_segments"}) {
    if (const Node* node = find(map, key)) {
      diagnostics.warning("E0141", node->at, fmt::format("'{}' has no effect with `device: {}`", key, kind->word),
                          "it is a setting of the caching allocator");
    }
  }
}

}  // namespace openreg_gen
