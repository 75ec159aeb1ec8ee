// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>

// Note [Settings of the caching allocator]
// PyTorch's AcceleratorAllocatorConfig parses PYTORCH_ALLOC_CONF for all backends. It is read at each use, so changes at
// run time apply from the next allocation on. The values under `allocator:` in the spec are the defaults: they are
// passed to it before the environment's settings, which override them.

namespace openreg::caching {

/// Applies the spec's defaults and the environment's settings. Called once, when the allocator is made.
void apply_default_settings();

/// `size`, or the next multiple of `unit` above it.
constexpr size_t round_up(size_t size, size_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// What a request of `size` bytes takes up: a multiple of kUnit, and of a fraction of a power of two if
/// roundup_power2_divisions is set.
size_t rounded_size(size_t size);

/// What is asked of the device for a block of `size` (rounded) bytes: room for others of its kind.
size_t segment_size(size_t size);

/// Larger blocks are not split; the largest number if there is no limit.
size_t max_split_size();
/// What may be left unused of a block that is not split.
size_t max_non_split_rounding_size();
/// 0: never collect.
double garbage_collection_threshold();

}  // namespace openreg::caching
