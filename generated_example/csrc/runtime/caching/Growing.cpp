// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <string>

#include <c10/util/Exception.h>

#include "runtime/Exception.h"
#include "runtime/Guard.h"
#include "runtime/caching/DeviceCache.h"
#include "runtime/caching/Settings.h"

namespace openreg::caching {

namespace {

/// Keeps a private pool alive while the lock is released.
class PoolInUse {
 public:
  explicit PoolInUse(PoolOwner* pool) : pool_(pool) {
    if (pool_ != nullptr) {
      ++pool_->requests;
    }
  }
  ~PoolInUse() {
    if (pool_ != nullptr) {
      --pool_->requests;
    }
  }
  PoolInUse(const PoolInUse&) = delete;
  PoolInUse& operator=(const PoolInUse&) = delete;

 private:
  PoolOwner* const pool_;
};

// What others keep, such as storages that were shared with other processes; their memory comes back by way of free().
bool give_memory_back(Lock& lock) {
  const ScopedUnlock unlocked(lock);
  return callFreeMemoryCallbacks();
}

}  // namespace

// No free block fits: gets memory from the device, and where it has none, gives cached memory back first.
Block* DeviceCache::grow(Lock& lock, const Request& request) {
  const PoolInUse in_use(request.pool->owner);
  collect_garbage(lock, request);
  Block* block = new_memory(lock, request);
  if (block == nullptr && release_oversize(lock, request)) {
    block = new_memory(lock, request);
  }
  if (block != nullptr) {
    return block;
  }
  // Others may have freed memory while the lock was released.
  block = take_free(request);
  if (block == nullptr && pools_ != nullptr) {
    block = pools_->borrow(request);
  }
  if (block != nullptr) {
    return block;
  }
  ++stats_.num_alloc_retries;
  if (!capturing()) {
    synchronize_uses(lock);
    block = take_free(request);
    if (block != nullptr) {
      return block;
    }
    release_cached(lock, {0, 0});
  }
  released_.wait(lock, [this] { return releases_ == 0; });
  block = take_free(request);
  if (block == nullptr) {
    block = new_memory(lock, request);
  }
  if (block == nullptr && give_memory_back(lock)) {
    block = take_free(request);
    if (block == nullptr) {
      block = new_memory(lock, request);
    }
  }
  if (block == nullptr) {
    throw_out_of_memory(lock, request);
  }
  return block;
}

// A block that is in no list, in new memory; null if there is none.
Block* DeviceCache::new_memory(Lock& lock, const Request& request) {
  const bool in_parts = source_ != nullptr && source_->serves(lock, *request.pool);
  return in_parts ? source_->new_memory(lock, request) : new_segment(lock, request);
}

bool DeviceCache::may_reserve(size_t bytes) const {
  if (fraction_ >= 1) {
    return true;  // the device knows best
  }
  const auto allowed = static_cast<size_t>(fraction_ * static_cast<double>(device_memory_));
  return reserved_ <= allowed && bytes <= allowed - reserved_;
}

Block* DeviceCache::new_segment(Lock& lock, const Request& request) {
  const size_t bytes = segment_size(request.size);
  if (!may_reserve(bytes)) {
    return nullptr;
  }
  reserved_ += bytes;  // before the lock is released, so that no other thread takes the same share
  auto segment = std::make_unique<Segment>();
  PoolOwner* owner = request.pool->owner;
  const std::shared_ptr<OpenRegAllocator> source = owner == nullptr ? nullptr : owner->allocator;
  void* data = nullptr;
  orError_t error = orSuccess;
  try {
    const ScopedUnlock unlocked(lock);
    const OpenRegGuard guard(device_);
    if (source == nullptr) {
      error = orMalloc(&data, bytes);
    } else {
      data = source->raw_alloc_with_stream(bytes, request.home->stream);
      error = data == nullptr ? orErrorMemoryAllocation : orSuccess;
    }
  } catch (...) {
    reserved_ -= bytes;
    throw;
  }
  if (error != orSuccess) {
    reserved_ -= bytes;
    if (error != orErrorMemoryAllocation) {
      OPENREG_CHECK(error);
    }
    request.refusal = detail::refused_memory();
    return nullptr;
  }
  Block* block = new_block();
  *segment = {static_cast<char*>(data), bytes, bytes, request.pool, request.home, block, bytes >= request.max_split, nullptr,
      *request.context};
  block->ptr = segment->base;
  block->size = bytes;
  block->segment = segment.get();
  if (owner != nullptr) {
    ++owner->segments;
  }
  count_reserved(stats_, *segment, bytes, true);
  record(TraceEntry::SEGMENT_ALLOC, reinterpret_cast<size_t>(block->ptr), bytes, request.home->stream,
      request.pool->id(), *request.context, RecordContext::ALLOC);
  segments_.emplace(segment->base, std::move(segment));
  return block;
}

// Gives back what was not used for long, before memory is so scarce that everything has to go.
void DeviceCache::collect_garbage(Lock& lock, const Request& request) {
  const double threshold = garbage_collection_threshold();
  if (threshold <= 0 || request.pool->owner != nullptr || capturing()) {
    return;
  }
  learn_device_memory(lock);
  const auto limit = static_cast<size_t>(threshold * fraction_ * static_cast<double>(device_memory_));
  const size_t bytes = segment_size(request.size);
  if (reserved_ + bytes <= limit) {
    return;
  }
  settle(large_);
  std::vector<Block*> candidates;
  for (const auto& blocks : large_.streams()) {
    blocks->free.for_each([&](Block* block) {
      if (block->is_whole()) {
        candidates.push_back(block);
      }
    });
  }
  std::sort(candidates.begin(), candidates.end(), [](const Block* a, const Block* b) {
    return a->freed_at != b->freed_at ? a->freed_at < b->freed_at : a->ptr < b->ptr;
  });
  size_t to_go = reserved_ + bytes - limit;
  std::vector<Block*> old;
  for (Block* block : candidates) {
    if (to_go == 0) {
      break;
    }
    unlist(block);
    old.push_back(block);
    to_go -= std::min(to_go, block->size);
  }
  give_back(lock, old);
}

// With max_split_size: a large request can get room by giving back large blocks, smallest that suffices, or several.
bool DeviceCache::release_oversize(Lock& lock, const Request& request) {
  const size_t limit = request.max_split;
  if (request.size < limit || limit == SIZE_MAX) {
    return false;
  }
  settle(*request.home);
  std::vector<Block*> candidates;
  request.home->free.for_each([&](Block* block) {
    if (block->is_whole() && block->size >= limit) {
      candidates.push_back(block);
    }
  });
  std::sort(candidates.begin(), candidates.end(), BySize());
  std::vector<Block*> chosen;
  const auto enough = std::lower_bound(candidates.begin(), candidates.end(), request.size,
      [](const Block* block, size_t size) { return block->size < size; });
  size_t bytes = 0;
  if (enough != candidates.end()) {
    chosen.push_back(*enough);
    bytes = (*enough)->size;
  } else {
    while (bytes < request.size && !candidates.empty()) {
      chosen.push_back(candidates.back());
      bytes += candidates.back()->size;
      candidates.pop_back();
    }
  }
  if (bytes < request.size) {
    return false;  // not worth the calls
  }
  for (Block* block : chosen) {
    unlist(block);
  }
  return give_back(lock, chosen) > 0;
}

}  // namespace openreg::caching
