// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <algorithm>

#include <c10/core/CachingDeviceAllocator.h>

#include "runtime/caching/Block.h"
#include "runtime/caching/BlockPool.h"

// Note [Statistics of the caching allocator]
// The fields of c10::CachingDeviceAllocator::DeviceStats, with the meanings that c10's header gives them; each change
// goes to all memory and to the small or the large pool. One struct per device, changed under the device's lock.
// As with CUDA, blocks of expandable segments don't count as inactive splits: their memory can be given back.

namespace openreg::caching {

using c10::CachingDeviceAllocator::DeviceStats;

inline size_t pool_index(const BlockPool& pool) {
  using c10::CachingAllocator::StatType;
  return static_cast<size_t>(pool.is_small ? StatType::SMALL_POOL : StatType::LARGE_POOL);
}

inline void increase(c10::CachingAllocator::StatArray& stat, size_t pool, size_t amount) {
  stat[0].increase(amount);
  stat[pool].increase(amount);
}

inline void decrease(c10::CachingAllocator::StatArray& stat, size_t pool, size_t amount) {
  stat[0].decrease(amount);
  stat[pool].decrease(amount);
}

/// `block` was handed out. Call when its size and request are set.
inline void count_allocated(DeviceStats& stats, const Block& block) {
  const size_t pool = pool_index(*block.segment->pool);
  increase(stats.allocation, pool, 1);
  increase(stats.allocated_bytes, pool, block.size);
  increase(stats.active, pool, 1);
  increase(stats.active_bytes, pool, block.size);
  increase(stats.requested_bytes, pool, block.requested);
}

/// Its owner gave it back; it is still active.
inline void count_freed(DeviceStats& stats, const Block& block) {
  const size_t pool = pool_index(*block.segment->pool);
  decrease(stats.allocation, pool, 1);
  decrease(stats.allocated_bytes, pool, block.size);
}

/// No stream uses it any more.
inline void count_inactive(DeviceStats& stats, const Block& block) {
  const size_t pool = pool_index(*block.segment->pool);
  decrease(stats.active, pool, 1);
  decrease(stats.active_bytes, pool, block.size);
  decrease(stats.requested_bytes, pool, block.requested);
}

/// What it changes when `block`, in no list yet, is joined with its free neighbours and becomes free.
SplitChange change_by_joining(const Block& block);

inline void change(c10::CachingAllocator::StatArray& stat, size_t pool, int64_t amount) {
  for (const size_t i : {size_t{0}, pool}) {
    stat[i].current += amount;
    stat[i].peak = std::max(stat[i].current, stat[i].peak);
    stat[i].allocated += std::max<int64_t>(amount, 0);
    stat[i].freed += std::max<int64_t>(-amount, 0);
  }
}

inline void count_splits(DeviceStats& stats, const BlockPool& pool, const SplitChange& by) {
  if (by.blocks != 0 || by.bytes != 0) {
    change(stats.inactive_split, pool_index(pool), by.blocks);
    change(stats.inactive_split_bytes, pool_index(pool), by.bytes);
  }
}

/// `block` is about to leave its free list.
inline void count_taken(DeviceStats& stats, const Block& block) {
  if (block.is_split() && block.segment->expandable == nullptr) {
    count_splits(stats, *block.segment->pool, {-1, -static_cast<int64_t>(block.size)});
  }
}

/// A device allocation was made, or mapped; `new_segment`: it is not one more part of an expandable segment.
void count_reserved(DeviceStats& stats, const Segment& segment, size_t bytes, bool new_segment);
/// The opposite.
void count_released(DeviceStats& stats, const Segment& segment, size_t bytes, bool whole_segment);

void reset_accumulated(DeviceStats& stats);
void reset_peak(DeviceStats& stats);

}  // namespace openreg::caching
