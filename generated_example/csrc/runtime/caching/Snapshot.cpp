// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <c10/core/AllocatorConfig.h>

#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/ExpandableSegment.h"

namespace openreg::caching {

namespace {

using c10::CachingDeviceAllocator::BlockInfo;

// Of an expandable segment each part with memory is reported as a segment, from its first block on. Moves `block` to the
// first one behind it.
SegmentInfo describe(const Segment& segment, const Block*& block, c10::DeviceIndex device, c10::MempoolId_t pool) {
  SegmentInfo info;
  info.device = device;
  info.address = reinterpret_cast<size_t>(block->ptr);
  info.stream = segment.home->stream;
  info.is_large = !segment.pool->is_small;
  info.is_expandable = segment.expandable != nullptr;
  info.owner_private_pool_id = pool;
  info.context_when_allocated = segment.context;
  const uint64_t clock = segment.pool->clock;
  for (; block != nullptr && block->state != BlockState::kUnmapped; block = block->next) {
    BlockInfo& each = info.blocks.emplace_back();
    each.size = block->size;
    each.requested_size = block->requested;
    each.allocated = block->state == BlockState::kAllocated;
    each.active = each.allocated || block->state == BlockState::kPending;
    each.gc_counter = block->state == BlockState::kFree ? static_cast<int32_t>(clock - block->freed_at) : 0;
    each.context_when_allocated = block->context;
    info.total_size += block->size;
    info.requested_size += each.active ? block->requested : 0;
    info.allocated_size += each.allocated ? block->size : 0;
    info.active_size += each.active ? block->size : 0;
  }
  return info;
}

}  // namespace

void DeviceCache::snapshot(c10::MempoolId_t pool, bool include_traces, SnapshotInfo& out) {
  const Context context = shared_.history.gather(RecordContext::ALL);
  const Lock lock(mutex_);
  settle_all();
  const bool all = pool == c10::MempoolId_t{0, 0};
  for (const auto& [base, segment] : segments_) {
    if (!all && pool_id(*segment->pool) != pool) {
      continue;
    }
    for (const Block* block = segment->first; block != nullptr;) {
      if (block->state == BlockState::kUnmapped) {
        block = block->next;
      } else {
        out.segments.push_back(describe(*segment, block, device_, pool_id(*segment->pool)));
      }
    }
  }
  const auto active = static_cast<size_t>(stats_.active_bytes[0].current);
  trace_.record(TraceEntry::SNAPSHOT, 0, active, nullptr, {0, 0}, context, RecordContext::ALL);
  out.device_traces.push_back(include_traces ? trace_.entries() : std::vector<TraceEntry>());
}

}  // namespace openreg::caching
