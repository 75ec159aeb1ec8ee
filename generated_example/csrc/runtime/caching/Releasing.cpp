// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>

#include <c10/util/Exception.h>

#include "runtime/Capturing.h"
#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/ExpandableSegment.h"

namespace openreg::caching {

namespace {

constexpr c10::MempoolId_t kAll{0, 0};

// A segment of an allocator that the user gave goes back there. One that throws has it no more, as far as it knows.
orError_t give_back_segment(const Block& block) noexcept {
  const PrivatePool* owner = block.segment->pool->owner;
  if (owner == nullptr || owner->allocator == nullptr) {
    return orFree(block.ptr);
  }
  never_throw("a pool's allocator took memory back", [&] { owner->allocator->raw_delete(block.ptr); });
  return orSuccess;
}

}  // namespace

// Waits until no stream uses a block that its owner has freed.
void DeviceCache::synchronize_uses(Lock& lock) {
  ++stats_.num_sync_all_streams;
  std::vector<PendingEvents::Queue> queues = pending_.take_all();
  if (queues.empty()) {
    return;
  }
  std::vector<std::pair<StreamUse, PendingEvents::Entry>> left;
  std::vector<Block*> done;
  const Release release(releases_, released_);
  {
    const Unlocked unlocked(lock);
    for (PendingEvents::Queue& queue : queues) {
      const DeviceScope scope(queue.use.device);
      for (const PendingEvents::Entry& entry : queue.entries) {
        const bool has_event = entry.event != nullptr;
        orError_t error = scope.error();
        if (has_event) {
          error = orEventSynchronize(entry.event);
        } else if (error == orSuccess) {
          error = orStreamSynchronize(queue.use.stream);
        }
        if (error != orSuccess) {
          orGetLastError();
          left.emplace_back(queue.use, entry);
          continue;
        }
        done.push_back(entry.block);
        if (has_event) {
          EventPool::get().put(queue.use.device, entry.event);
        }
      }
    }
  }
  for (const auto& [use, entry] : left) {
    pending_.add(use, entry.event, entry.block);
  }
  for (Block* block : done) {
    finish_event(block);
  }
}

void DeviceCache::release_cached(Lock& lock, c10::MempoolId_t id) {
  std::vector<Block*> whole;
  std::vector<Block*> parts;
  const auto collect = [&](BlockPool& pool) {
    settle(pool);
    for (const auto& blocks : pool.streams()) {
      std::vector<Block*> free;
      blocks->free.for_each([&](Block* block) { free.push_back(block); });
      for (Block* block : free) {
        if (block->is_whole()) {
          unlist(block);
          whole.push_back(block);
        } else if (block->segment->expandable != nullptr) {
          if (Block* part = trim_to_unmap(block)) {
            parts.push_back(part);
          }
        }
      }
    }
  };
  const bool all = id == kAll;
  if (all) {
    collect(small_);
    collect(large_);
  }
  for (const auto& [pool_id, pool] : pools_) {
    // A graph may use what is free in its pool again; other pools are emptied if it is they who are meant.
    if (pool->use_count == 0 || (pool_id == id && !pool->captured)) {
      if (all || pool_id == id) {
        collect(pool->small);
        collect(pool->large);
      }
    }
  }
  give_back(lock, whole, parts);
  erase_released_pools();
}

// Frees whole segments and unmaps parts of expandable ones; the blocks are kBusy. What the device refuses to take back
// becomes free blocks again, with a warning. Returns how many bytes went.
size_t DeviceCache::give_back(Lock& lock, const std::vector<Block*>& whole, const std::vector<Block*>& parts) {
  if (whole.empty() && parts.empty()) {
    return 0;
  }
  // They leave the list first: as soon as the device has an address back, another thread may get a segment there.
  std::vector<std::unique_ptr<Segment>> leaving;
  leaving.reserve(whole.size());
  for (const Block* block : whole) {
    const auto place = segments_.find(block->segment->base);
    leaving.push_back(std::move(place->second));
    segments_.erase(place);
  }
  std::vector<orError_t> errors;
  errors.reserve(whole.size() + parts.size());
  {
    const Release release(releases_, released_);
    const Unlocked unlocked(lock);
    const DeviceScope scope(device_);
    for (const Block* block : whole) {
      errors.push_back(scope.error() == orSuccess ? give_back_segment(*block) : scope.error());
    }
    for (const Block* block : parts) {
      const bool reached = scope.error() == orSuccess;
      errors.push_back(reached ? block->segment->expandable->unmap(block->ptr, block->size) : scope.error());
    }
  }
  size_t bytes = 0;
  std::vector<std::unique_ptr<Segment>> dead;
  for (size_t i = 0; i < errors.size(); ++i) {
    const bool is_part = i >= whole.size();
    Block* block = is_part ? parts[i - whole.size()] : whole[i];
    if (errors[i] != orSuccess) {
      if (!is_part) {
        segments_.emplace(leaving[i]->base, std::move(leaving[i]));
      }
      make_free(block);
      continue;
    }
    bytes += block->size;
    note_released(block, is_part, dead);
    if (!is_part) {
      dead.push_back(std::move(leaving[i]));
    }
  }
  const auto refused = std::find_if(errors.begin(), errors.end(), [](auto error) { return error != orSuccess; });
  if (refused != errors.end() || !dead.empty()) {
    const Unlocked unlocked(lock);  // warnings may need Python's lock; addresses are the device's
    dead.clear();
    if (refused != errors.end()) {
      OPENREG_WARN(*refused);
    }
  }
  return bytes;
}

void DeviceCache::note_released(Block* block, bool is_part, std::vector<std::unique_ptr<Segment>>& dead) {
  Segment& segment = *block->segment;
  segment.mapped -= block->size;
  reserved_ -= block->size;
  count_released(stats_, segment, block->size, segment.mapped == 0);
  trace_.record(is_part ? TraceEntry::SEGMENT_UNMAP : TraceEntry::SEGMENT_FREE, reinterpret_cast<size_t>(block->ptr),
      block->size, segment.home->stream, pool_id(*segment.pool), nullptr, RecordContext::ALL);
  if (is_part) {
    note_unmapped(block);
  }
  if (segment.mapped > 0 || (is_part && (segment.first->next != nullptr || segment.first->state != BlockState::kUnmapped))) {
    return;
  }
  if (is_part) {
    segment.home->unmapped.erase(segment.first);
  }
  if (PrivatePool* owner = segment.pool->owner) {
    --owner->segments;
  }
  recycle(segment.first);
  if (is_part) {
    const auto place = segments_.find(segment.base);
    dead.push_back(std::move(place->second));
    segments_.erase(place);
  }
}

void DeviceCache::erase_released_pools() {
  std::erase_if(pools_, [](const auto& entry) {
    const PrivatePool& pool = *entry.second;
    return pool.use_count == 0 && pool.segments == 0 && pool.requests == 0;
  });
}

void DeviceCache::empty_cache(c10::MempoolId_t pool) {
  // Other threads may go on while this one captures, and nothing that a graph uses is given back.
  TORCH_CHECK(pool != kAll || !is_current_stream_capturing(),
      "openreg: empty_cache(): operation not permitted while a stream is captured into a graph");
  std::vector<Context> dropped;  // destroyed after the lock is released
  Lock lock(mutex_);
  if (captures_ == 0) {
    synchronize_uses(lock);
  }
  release_cached(lock, pool);
  trace_.take_dropped(dropped);
}

}  // namespace openreg::caching
