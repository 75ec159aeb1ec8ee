// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/caching/Block.h"
#include "runtime/caching/CachingAllocator.h"
#include "runtime/caching/FreeBlocks.h"

// Note [Pools]
// Requests of up to 1 MiB and larger ones come from different pools, so that small blocks don't pin down large segments.
// Within a pool each stream has its blocks: memory that is freed and reused on the same stream needs no waiting,
// because the stream works in order. A private pool (a graph's, or a user's) is another such pair.
// All of it is guarded by the device's lock.

namespace openreg::caching {

/// Who has a private pool: what the cache needs to know of it.
struct PoolOwner {
  explicit PoolOwner(c10::MempoolId_t pool_id) : id(pool_id) {}

  const c10::MempoolId_t id;
  size_t segments = 0;
  int requests = 0;  // on their way, perhaps without the lock: the pool must stay
  bool no_split = false;
  std::shared_ptr<OpenRegAllocator> allocator;  // where segments come from; null: the device
};

/// What one stream has in one pool.
struct StreamBlocks {
  StreamBlocks(BlockPool* owner, orStream_t handle) : pool(owner), stream(handle) {}

  BlockPool* const pool;
  const orStream_t stream;
  FreeBlocks free;  // without `warm`
  Block* warm = nullptr;
  SplitChange warm_change;  // what the statistics counted when it became warm
};

struct BlockPool {
  explicit BlockPool(bool small, PoolOwner* private_pool = nullptr) : is_small(small), owner(private_pool) {}

  const bool is_small;
  PoolOwner* const owner;  // null: the device's own pools
  uint64_t clock = 0;  // searches for a block so far; the age of a free block is counted in them

  StreamBlocks& of(orStream_t stream) {
    if (last_ != nullptr && last_->stream == stream) {
      return *last_;
    }
    for (const auto& blocks : streams_) {
      if (blocks->stream == stream) {
        return *(last_ = blocks.get());
      }
    }
    streams_.push_back(std::make_unique<StreamBlocks>(this, stream));
    return *(last_ = streams_.back().get());
  }

  c10::MempoolId_t id() const { return owner == nullptr ? c10::MempoolId_t{0, 0} : owner->id; }
  const std::vector<std::unique_ptr<StreamBlocks>>& streams() const { return streams_; }

 private:
  std::vector<std::unique_ptr<StreamBlocks>> streams_;  // never shrinks: blocks and segments point there
  StreamBlocks* last_ = nullptr;
};

}  // namespace openreg::caching
