// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <set>
#include <unordered_map>

#include <c10/core/AllocatorConfig.h>

#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/ExpandableSegment.h"
#include "runtime/caching/Settings.h"

namespace openreg::caching {

using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;

struct ByAddress {
  bool operator()(const Block* a, const Block* b) const { return a->ptr < b->ptr; }
};

/// The expandable segments of one device's cache: growing and releasing.
class ExpandableSegments final : public SegmentSource {
 public:
  explicit ExpandableSegments(DeviceCache& cache) : cache_(cache) {}

  bool serves(Lock& lock, const BlockPool& pool) override;
  Block* new_memory(Lock& lock, const Request& request) override;
  Block* trim(Block* block) override;
  orError_t unmap(const Block& block) override {
    return block.segment->expandable->unmap(block.ptr, block.size);
  }
  bool forget(Block* block) override;
  std::string advice(Lock& lock) override;

 private:
  void ask_granularity(Lock& lock);
  bool new_expandable(Lock& lock, const Request& request);
  void note_unmapped(Block* block);

  DeviceCache& cache_;
  size_t granularity_ = 0;  // of mapping; 0: the device can't, or wasn't asked yet
  bool asked_granularity_ = false;
  std::unordered_map<const StreamBlocks*, std::set<Block*, ByAddress>> unmapped_;  // holes and ends of segments
};

namespace {

// The free block that ends where the unmapped one begins, if any: its memory counts towards a request.
Block* free_before(const Block& unmapped) {
  return unmapped.prev != nullptr && unmapped.prev->state == BlockState::kFree ? unmapped.prev : nullptr;
}

// Bytes that a segment grows by.
size_t growth(bool small_pool) {
  return small_pool ? c10::CachingAllocator::kSmallBuffer : Config::large_segment_size();
}

[[maybe_unused]] const bool segments_attached = [] {
  extensions.make_segment_source = [](DeviceCache& cache) -> std::unique_ptr<SegmentSource> {
    return std::make_unique<ExpandableSegments>(cache);
  };
  return true;
}();

}  // namespace

// Learns whether, and in what units, the device can map memory.
void ExpandableSegments::ask_granularity(Lock& lock) {
  if (asked_granularity_) {
    return;
  }
  size_t granularity = 0;
  {
    const ScopedUnlock unlocked(lock);
    const DeviceScope scope(cache_.device_);
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

bool ExpandableSegments::serves(Lock& lock, const BlockPool& pool) {
  if (!Config::use_expandable_segments()) {
    return false;
  }
  ask_granularity(lock);
  return granularity_ > 0 && (pool.owner == nullptr || pool.owner->allocator == nullptr);
}

// Maps memory at the first hole, or end of an expandable segment of the stream, that has room for the request.
Block* ExpandableSegments::new_memory(Lock& lock, const Request& request) {
  const auto find_room = [&]() -> Block* {
    cache_.settle(*request.home);
    for (Block* unmapped : unmapped_[request.home]) {
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
      return cache_.new_segment(lock, request);
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
  if (!cache_.may_reserve(bytes)) {
    return nullptr;
  }
  cache_.reserved_ += bytes;
  if (before != nullptr) {
    cache_.unlist(before);
  }
  unmapped_[request.home].erase(hole);
  hole->state = BlockState::kBusy;
  orError_t error = orSuccess;
  {
    const ScopedUnlock unlocked(lock);
    const DeviceScope scope(cache_.device_);
    error = scope.error() == orSuccess ? segment.expandable->map(hole->ptr, bytes) : scope.error();
  }
  if (error != orSuccess) {
    cache_.reserved_ -= bytes;
    note_unmapped(hole);
    if (before != nullptr) {
      cache_.make_free(before);
    }
    if (error != orErrorMemoryAllocation) {
      OPENREG_CHECK(error);
    }
    request.refusal = detail::refused_memory();
    return nullptr;
  }
  if (bytes < hole->size) {
    Block* rest = cache_.new_block();
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
  count_reserved(cache_.stats_, segment, bytes, first);
  cache_.record(TraceEntry::SEGMENT_MAP, reinterpret_cast<size_t>(hole->ptr), bytes, request.home->stream,
      request.pool->id(), *request.context, RecordContext::ALLOC);
  if (before != nullptr) {
    cache_.absorb(hole, before);
  }
  return hole;
}

// A range of addresses for the request's stream, all of it without memory. False if the device refuses.
bool ExpandableSegments::new_expandable(Lock& lock, const Request& request) {
  cache_.learn_device_memory(lock);
  const size_t granularity = round_up(growth(request.pool->is_small), granularity_);
  // More than there is memory, so that holes in use don't stop it from growing.
  const size_t bytes = round_up(cache_.device_memory_ + cache_.device_memory_ / 8, granularity);
  std::shared_ptr<ExpandableSegment> expandable;
  {
    const ScopedUnlock unlocked(lock);
    const OpenRegGuard guard(cache_.device_);
    expandable = bytes == 0 ? nullptr : ExpandableSegment::make(bytes, granularity);
  }
  if (expandable == nullptr) {
    return false;
  }
  auto segment = std::make_unique<Segment>();
  Block* block = cache_.new_block();
  *segment = {expandable->base(), bytes, 0, request.pool, request.home, block, false, std::move(expandable), *request.context};
  block->ptr = segment->base;
  block->size = bytes;
  block->segment = segment.get();
  if (request.pool->owner != nullptr) {
    ++request.pool->owner->segments;
  }
  note_unmapped(block);
  cache_.segments_.emplace(segment->base, std::move(segment));
  return true;
}

// Of a free block of an expandable segment, the part that can be unmapped, kBusy; what is left stays free. Null if none.
Block* ExpandableSegments::trim(Block* block) {
  const ExpandableSegment& segment = *block->segment->expandable;
  const auto begins = static_cast<size_t>(block->ptr - segment.base());
  const size_t first = round_up(begins, segment.granularity());
  const size_t last = (begins + block->size) / segment.granularity() * segment.granularity();
  if (first >= last) {
    return nullptr;
  }
  cache_.unlist(block);
  if (begins + block->size > last) {
    cache_.split(block, last - begins);
  }
  if (first > begins) {
    cache_.split_front(block, first - begins);
  }
  return block;
}

// `block` has no memory: joins it with neighbours that have none either.
void ExpandableSegments::note_unmapped(Block* block) {
  for (Block* neighbour : {block->prev, block->next}) {
    if (neighbour != nullptr && neighbour->state == BlockState::kUnmapped) {
      unmapped_[block->segment->home].erase(neighbour);
      cache_.absorb(block, neighbour);
    }
  }
  block->state = BlockState::kUnmapped;
  unmapped_[block->segment->home].insert(block);
}

// Joins `block` with others that have no memory. If that is all of its segment, it leaves the list of those.
bool ExpandableSegments::forget(Block* block) {
  note_unmapped(block);
  Segment& segment = *block->segment;
  if (segment.mapped > 0 || segment.first->next != nullptr || segment.first->state != BlockState::kUnmapped) {
    return false;
  }
  unmapped_[segment.home].erase(segment.first);
  return true;
}

std::string ExpandableSegments::advice(Lock& lock) {
  ask_granularity(lock);
  if (Config::use_expandable_segments()) {
    return " Memory that is reserved but unallocated is in use by streams, or in parts too small to be given back.";
  }
  const std::string setting = granularity_ > 0 ? "expandable_segments:True" : "max_split_size_mb:128";
  return " If memory that is reserved but unallocated is large, try setting PYTORCH_ALLOC_CONF=" + setting +
      " to avoid fragmentation.";
}

}  // namespace openreg::caching
