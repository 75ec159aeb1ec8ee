// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/Settings.h"

#include <bit>
#include <exception>
#include <string>

#include <c10/core/AllocatorConfig.h>

#include "runtime/caching/Block.h"
#include "runtime/caching/CachingAllocator.h"

namespace openreg {

namespace caching {

namespace {

using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;

// From the spec's `allocator:`, in the syntax of PYTORCH_ALLOC_CONF.
constexpr const char* kDefaults = "";

std::string with_defaults(const std::string& settings) {
  const std::string defaults = kDefaults;
  return defaults.empty() || settings.empty() ? defaults + settings : defaults + "," + settings;
}

}  // namespace

void apply_default_settings() {
  if (*kDefaults == '\0') {
    return;  // PyTorch reads the environment by itself
  }
  try {
    // What PyTorch has read of the environment goes behind the defaults, and wins.
    c10::CachingAllocator::setAllocatorSettings(with_defaults(c10::CachingAllocator::getAllocatorSettings()));
  } catch (const std::exception&) {
    // A wrong value in the environment: PyTorch reads it again, and says so, at the first allocation.
  }
}

size_t rounded_size(size_t size) {
  if (size <= kUnit) {
    return kUnit;
  }
  const size_t divisions = Config::roundup_power2_divisions(size);
  if (divisions > 1 && size > kUnit * divisions) {
    const size_t step = std::bit_floor(size) / divisions;  // of the power of two below; divisions are one too
    return round_up(round_up(size, step), kUnit);
  }
  return round_up(size, kUnit);
}

size_t segment_size(size_t size) {
  using namespace c10::CachingAllocator;
  if (size <= kSmallSize) {
    return round_up(kSmallBuffer, kUnit);
  }
  if (size < kMinLargeAlloc && size <= Config::large_segment_size()) {
    return round_up(Config::large_segment_size(), kUnit);
  }
  return round_up(size, kRoundLarge);
}

size_t max_split_size() {
  return Config::max_split_size();
}

size_t max_non_split_rounding_size() {
  return Config::max_non_split_rounding_size();
}

double garbage_collection_threshold() {
  return Config::garbage_collection_threshold();
}

}  // namespace caching

void setAllocatorSettings(const std::string& settings) {
  // PyTorch keeps this one unless it is named.
  c10::CachingAllocator::setAllocatorSettings("expandable_segments:False," + caching::with_defaults(settings));
}

std::string getAllocatorSettings() {
  return c10::CachingAllocator::getAllocatorSettings();
}

}  // namespace openreg
