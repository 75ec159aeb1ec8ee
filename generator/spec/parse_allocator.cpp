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

AllocatorSpec read_allocator(const Node* map, Diagnostics& diagnostics) {
  AllocatorSpec out;
  out.device.value = DeviceAllocatorKind::Caching;
  out.alignment.value = 64;
  read_word(out.device, map, "device", "allocator.device");
  read(out.alignment, map, "alignment");
  power_of_two(out.alignment, "alignment", diagnostics);
  read(out.max_split_size_mb, map, "max_split_size_mb");
  read(out.garbage_collection_threshold, map, "garbage_collection_threshold");
  const double threshold = *out.garbage_collection_threshold;
  if (out.garbage_collection_threshold.given() && (threshold <= 0 || threshold >= 1)) {
    diagnostics.error("E0117", out.garbage_collection_threshold.at,
                      fmt::format("'garbage_collection_threshold' is {}, not between 0 and 1", threshold),
                      "leave it out to never collect");
  }
  read(out.roundup_power2_divisions, map, "roundup_power2_divisions");
  power_of_two(out.roundup_power2_divisions, "roundup_power2_divisions", diagnostics);
  read(out.expandable_segments, map, "expandable_segments");
  if (*out.device != DeviceAllocatorKind::Direct) return out;
  for (const auto key :
       {"max_split_size_mb", "garbage_collection_threshold", "roundup_power2_divisions", "expandable_segments"}) {
    if (const Node* node = find(map, key)) {
      diagnostics.warning("E0141", node->at, fmt::format("'{}' has no effect with `device: direct`", key),
                          "it is a setting of the caching allocator");
    }
  }
  return out;
}

}  // namespace openreg_gen
