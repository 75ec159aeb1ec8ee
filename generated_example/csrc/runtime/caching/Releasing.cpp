// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>

#include <c10/util/Exception.h>

#include "runtime/Capturing.h"
#include "runtime/DeviceScope.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/caching/DeviceCache.h"

namespace openreg::caching {

namespace {

constexpr c10::MempoolId_t kAll{0, 0};

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
    const ScopedUnlock unlocked(lock);
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
  std::vector<Block*> leaving;
  const auto collect = [&](BlockPool& pool) {
    settle(pool);
    for (const auto& blocks : pool.streams()) {
      std::vector<Block*> free;
      blocks->free.for_each([&](Block* block) { free.push_back(block); });
      for (Block* block : free) {
        if (block->is_whole()) {
          unlist(block);
          leaving.push_back(block);
        } else if (block->segment->expandable != nullptr) {
          if (Block* part = source_->trim(block)) {
            leaving.push_back(part);
          }
        }
      }
    }
  };
  if (id == kAll) {
    collect(small_);
    collect(large_);
  }
  if (pools_ != nullptr) {
    pools_->for_each_to_empty(id, collect);
  }
  give_back(lock, leaving);
  if (pools_ != nullptr) {
    pools_->erase_released();
  }
}

// Frees whole segments and unmaps parts of expandable ones; the blocks are kBusy. If the device refuses
// to free some, they become free blocks again, with a warning. Returns the number of freed bytes.
size_t DeviceCache::give_back(Lock& lock, const std::vector<Block*>& blocks) {
  if (blocks.empty()) {
    return 0;
  }
  // Whole ones leave the list first: as soon as the device has an address back, another thread may get a segment there.
  std::vector<std::unique_ptr<Segment>> leaving(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i]->is_whole()) {
      const auto place = segments_.find(blocks[i]->segment->base);
      leaving[i] = std::move(place->second);
      segments_.erase(place);
    }
  }
  std::vector<orError_t> errors;
  errors.reserve(blocks.size());
  {
    const Release release(releases_, released_);
    const ScopedUnlock unlocked(lock);
    const DeviceScope scope(device_);
    for (const Block* block : blocks) {
      errors.push_back(scope.error() == orSuccess ? return_memory(*block) : scope.error());
    }
  }
  size_t bytes = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (errors[i] == orSuccess) {
      bytes += blocks[i]->size;
      note_released(blocks[i], leaving[i]);
      continue;
    }
    if (leaving[i] != nullptr) {
      segments_.emplace(leaving[i]->base, std::move(leaving[i]));
    }
    make_free(blocks[i]);
  }
  const auto refused = std::find_if(errors.begin(), errors.end(), [](auto error) { return error != orSuccess; });
  const ScopedUnlock unlocked(lock);  // warnings and records of segments may need Python's lock; the addresses belong to the device
  leaving.clear();
  if (refused != errors.end()) {
    OPENREG_WARN(*refused);
  }
  return bytes;
}

// Called without the lock. A segment of an allocator that the user gave goes back there: one that throws has it no more, as
// far as it knows.
orError_t DeviceCache::return_memory(const Block& block) noexcept {
  if (block.segment->expandable != nullptr) {
    return source_->unmap(block);
  }
  const PoolOwner* owner = block.segment->pool->owner;
  if (owner == nullptr || owner->allocator == nullptr) {
    return orFree(block.ptr);
  }
  never_throw("a pool's allocator took memory back", [&] { owner->allocator->raw_delete(block.ptr); });
  return orSuccess;
}

// `gone` is the segment if nothing of it is left: to be destroyed without the lock.
void DeviceCache::note_released(Block* block, std::unique_ptr<Segment>& gone) {
  Segment& segment = *block->segment;
  const bool is_part = segment.expandable != nullptr;
  segment.mapped -= block->size;
  reserved_ -= block->size;
  count_released(stats_, segment, block->size, segment.mapped == 0);
  record(is_part ? TraceEntry::SEGMENT_UNMAP : TraceEntry::SEGMENT_FREE, reinterpret_cast<size_t>(block->ptr),
      block->size, segment.home->stream, segment.pool->id(), nullptr, RecordContext::ALL);
  if (is_part) {
    if (!source_->forget(block)) {
      return;
    }
    const auto place = segments_.find(segment.base);
    gone = std::move(place->second);
    segments_.erase(place);
  }
  if (segment.pool->owner != nullptr) {
    --segment.pool->owner->segments;
  }
  recycle(segment.first);
}

void DeviceCache::empty_cache(c10::MempoolId_t pool) {
  // Other threads may go on while this one captures, and nothing that a graph uses is given back.
  TORCH_CHECK(pool != kAll || !is_current_stream_capturing(),
      "openreg: empty_cache(): operation not permitted while a stream is captured into a graph");
  std::vector<Context> dropped;  // destroyed after the lock is released
  Lock lock(mutex_);
  if (!capturing()) {
    synchronize_uses(lock);
  }
  release_cached(lock, pool);
  dropped.swap(dropped_);
}

}  // namespace openreg::caching
