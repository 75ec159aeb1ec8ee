// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/caching/Statistics.h"

namespace openreg::caching {

namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;

template <typename Reset>
void for_each_stat(DeviceStats& stats, Reset reset) {
  StatArray* const arrays[] = {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
      &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes, &stats.inactive_split_bytes,
      &stats.requested_bytes};
  for (StatArray* array : arrays) {
    for (Stat& stat : *array) {
      reset(stat);
    }
  }
  for (auto& [pool, array] : stats.reserved_bytes_by_private_pools) {
    for (Stat& stat : array) {
      reset(stat);
    }
  }
  reset(stats.oversize_allocations);
  reset(stats.oversize_segments);
}

}  // namespace

SplitChange change_by_joining(const Block& block) {
  if (!block.is_split() || block.segment->expandable != nullptr) {
    return {};
  }
  // Joined with all there is, the segment is in one piece and nothing in it is split; else one part takes the place of
  // up to three.
  bool whole = true;
  SplitChange neighbours;
  const auto look = [&](const Block* neighbour, const Block* beyond) {
    if (neighbour->state == BlockState::kFree) {
      whole = whole && beyond == nullptr;
      neighbours.blocks += 1;
      neighbours.bytes += static_cast<int64_t>(neighbour->size);
    } else {
      whole = false;
    }
  };
  if (block.prev != nullptr) {
    look(block.prev, block.prev->prev);
  }
  if (block.next != nullptr) {
    look(block.next, block.next->next);
  }
  return whole ? SplitChange{-neighbours.blocks, -neighbours.bytes}
               : SplitChange{1 - neighbours.blocks, static_cast<int64_t>(block.size)};
}

void count_reserved(DeviceStats& stats, const Segment& segment, size_t bytes, bool new_segment) {
  const size_t pool = pool_index(*segment.pool);
  if (new_segment) {
    increase(stats.segment, pool, 1);
  }
  increase(stats.reserved_bytes, pool, bytes);
  if (const PoolOwner* owner = segment.pool->owner) {
    increase(stats.reserved_bytes_by_private_pools[owner->id], pool, bytes);
  }
  if (segment.oversize) {
    stats.oversize_segments.increase(1);
  }
  ++stats.num_device_alloc;
}

void count_released(DeviceStats& stats, const Segment& segment, size_t bytes, bool whole_segment) {
  const size_t pool = pool_index(*segment.pool);
  if (whole_segment) {
    decrease(stats.segment, pool, 1);
  }
  decrease(stats.reserved_bytes, pool, bytes);
  if (const PoolOwner* owner = segment.pool->owner) {
    decrease(stats.reserved_bytes_by_private_pools[owner->id], pool, bytes);
  }
  if (segment.oversize) {
    stats.oversize_segments.decrease(1);
  }
  ++stats.num_device_free;
}

void reset_accumulated(DeviceStats& stats) {
  for_each_stat(stats, [](Stat& stat) { stat.reset_accumulated(); });
  int64_t* const counts[] = {&stats.num_alloc_retries, &stats.num_ooms, &stats.num_sync_all_streams,
      &stats.num_device_alloc, &stats.num_device_free, &stats.num_oom_rejections};
  for (int64_t* count : counts) {
    *count = 0;
  }
}

void reset_peak(DeviceStats& stats) {
  for_each_stat(stats, [](Stat& stat) { stat.reset_peak(); });
}

}  // namespace openreg::caching
