// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>

#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/ExpandableSegment.h"
#include "runtime/caching/Settings.h"

namespace openreg::caching {

namespace {

// The free block that ends where the unmapped one begins, if any: its memory counts towards a request.
Block* free_before(const Block& unmapped) {
  return unmapped.prev != nullptr && unmapped.prev->state == BlockState::kFree ? unmapped.prev : nullptr;
}

}  // namespace

// Learns whether, and in what units, the device can map memory.
void DeviceCache::ask_granularity(Lock& lock) {
  if (asked_granularity_) {
    return;
  }
  size_t granularity = 0;
  {
    const Unlocked unlocked(lock);
    const DeviceScope scope(device_);
    if (scope.error() != orSuccess) {
      return;  // asked again the next time
    }
    if (orMemGetAllocationGranularity(&granularity) != orSuccess) {
      orGetLastError();
      granularity = 0;
    }
  }
  granularity_ = granularity;
  asked_granularity_ = true;
}

bool DeviceCache::expands(const BlockPool& pool) const {
  return expandable_segments() && granularity_ > 0 && (pool.owner == nullptr || pool.owner->allocator == nullptr);
}

// Maps memory at the first hole, or end of an expandable segment of the stream, that has room for the request.
Block* DeviceCache::map_more(Lock& lock, const Request& request) {
  const auto find_room = [&]() -> Block* {
    settle(*request.home);
    for (Block* unmapped : request.home->unmapped) {
      const Block* before = free_before(*unmapped);
      if (unmapped->size + (before == nullptr ? 0 : before->size) >= request.size) {
        return unmapped;
      }
    }
    return nullptr;
  };
  Block* hole = find_room();
  if (hole == nullptr) {
    if (!new_expandable(lock, request)) {
      return new_segment(lock, request);
    }
    hole = find_room();
    if (hole == nullptr) {
      return nullptr;  // more than the device has
    }
  }
  Block* before = free_before(*hole);
  Segment& segment = *hole->segment;
  const size_t missing = request.size - std::min(request.size, before == nullptr ? 0 : before->size);
  const size_t bytes = std::min(hole->size, round_up(missing, segment.expandable->granularity()));
  if (!may_reserve(bytes)) {
    return nullptr;
  }
  reserved_ += bytes;
  if (before != nullptr) {
    unlist(before);
  }
  request.home->unmapped.erase(hole);
  hole->state = BlockState::kBusy;
  orError_t error = orSuccess;
  {
    const Unlocked unlocked(lock);
    const DeviceScope scope(device_);
    error = scope.error() == orSuccess ? segment.expandable->map(hole->ptr, bytes) : scope.error();
  }
  if (error != orSuccess) {
    reserved_ -= bytes;
    note_unmapped(hole);
    if (before != nullptr) {
      make_free(before);
    }
    if (error != orErrorMemoryAllocation) {
      OPENREG_CHECK(error);
    }
    request.refusal = detail::refused_memory();
    return nullptr;
  }
  if (bytes < hole->size) {
    Block* rest = new_block();
    rest->segment = &segment;
    rest->ptr = hole->ptr + bytes;
    rest->size = hole->size - bytes;
    rest->prev = hole;
    rest->next = hole->next;
    if (rest->next != nullptr) {
      rest->next->prev = rest;
    }
    hole->next = rest;
    hole->size = bytes;
    note_unmapped(rest);
  }
  const bool first = segment.mapped == 0;
  segment.mapped += bytes;
  count_reserved(stats_, segment, bytes, first);
  trace_.record(TraceEntry::SEGMENT_MAP, reinterpret_cast<size_t>(hole->ptr), bytes, request.home->stream,
      pool_id(*request.pool), *request.context, RecordContext::ALLOC);
  if (before != nullptr) {
    absorb(hole, before);
  }
  return hole;
}

// A range of addresses for the request's stream, all of it without memory. False if the device refuses.
bool DeviceCache::new_expandable(Lock& lock, const Request& request) {
  learn_device_memory(lock);
  const size_t granularity = round_up(growth_of_segments(request.pool->is_small), granularity_);
  // More than there is memory, so that holes in use don't stop it from growing.
  const size_t bytes = round_up(device_memory_ + device_memory_ / 8, granularity);
  std::unique_ptr<ExpandableSegment> expandable;
  {
    const Unlocked unlocked(lock);
    const OpenRegGuard guard(device_);
    expandable = bytes == 0 ? nullptr : ExpandableSegment::make(bytes, granularity);
  }
  if (expandable == nullptr) {
    return false;
  }
  auto segment = std::make_unique<Segment>();
  Block* block = new_block();
  *segment = {expandable->base(), bytes, 0, request.pool, request.home, block, false, std::move(expandable), *request.context};
  block->ptr = segment->base;
  block->size = bytes;
  block->segment = segment.get();
  if (request.pool->owner != nullptr) {
    ++request.pool->owner->segments;
  }
  note_unmapped(block);
  segments_.emplace(segment->base, std::move(segment));
  return true;
}

// Of a free block of an expandable segment, the part that can be unmapped, kBusy; what is left stays free. Null if none.
Block* DeviceCache::trim_to_unmap(Block* block) {
  const ExpandableSegment& segment = *block->segment->expandable;
  const auto begins = static_cast<size_t>(block->ptr - segment.base());
  const size_t first = round_up(begins, segment.granularity());
  const size_t last = (begins + block->size) / segment.granularity() * segment.granularity();
  if (first >= last) {
    return nullptr;
  }
  unlist(block);
  if (begins + block->size > last) {
    split(block, last - begins);
  }
  if (first > begins) {
    split_front(block, first - begins);
  }
  return block;
}

// `block` has no memory: joins it with neighbours that have none either.
void DeviceCache::note_unmapped(Block* block) {
  for (Block* neighbour : {block->prev, block->next}) {
    if (neighbour != nullptr && neighbour->state == BlockState::kUnmapped) {
      block->segment->home->unmapped.erase(neighbour);
      absorb(block, neighbour);
    }
  }
  block->state = BlockState::kUnmapped;
  block->segment->home->unmapped.insert(block);
}

std::vector<StreamSegmentSize> DeviceCache::expandable_sizes() {
  const Lock lock(mutex_);
  std::vector<StreamSegmentSize> sizes;
  for (const auto& [base, segment] : segments_) {
    if (segment->expandable != nullptr && segment->pool->owner == nullptr) {
      sizes.push_back({segment->home->stream, segment->pool->is_small, segment->mapped});
    }
  }
  return sizes;
}

}  // namespace openreg::caching
