// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/caching/Block.h"
#include "runtime/caching/BlockPool.h"

// Note [What the caching allocator can be given]
// Each device's cache has two pools, and its segments come from one call of the device. Two interfaces change that:
// a PoolRouter adds pools, a SegmentSource adds segments that grow. A third, History, keeps what happened. Optional parts of the
// tree implement them in their own files. Without these parts all are null, and the cache works without them.
//
// Threads: unless noted, functions are called with the lock of the device's cache held.

namespace openreg {

class PoolAllocator;

namespace caching {

class DeviceCache;

using Context = std::shared_ptr<c10::GatheredContext>;
using Lock = std::unique_lock<std::mutex>;

/// A request on its way to a block.
struct Request {
  size_t requested;
  size_t size;  // rounded
  BlockPool* pool;
  StreamBlocks* home;
  const Context* context;
  size_t max_split;  // max_split_size(), asked once
  mutable std::string refusal{};  // detail::refused_memory(), once the device had no memory
};

/// Decides which pool serves an allocation. A cache gets one with its first private pool.
class PoolRouter {
 public:
  virtual ~PoolRouter() = default;
  /// Null: the device's own pools serve it.
  virtual BlockPool* pool_for(bool small, orStream_t stream) = 0;
  /// Calls fn(pool) for each private pool of blocks.
  virtual void for_each(const std::function<void(BlockPool&)>& fn) = 0;
  /// The same for those that empty_cache(id) may empty.
  virtual void for_each_to_empty(c10::MempoolId_t id, const std::function<void(BlockPool&)>& fn) = 0;
  /// A block of a pool that lends its memory when no other is left, in no list; null if there is none.
  virtual Block* borrow(const Request& request) = 0;
  /// Forgets pools that nobody uses and that hold no memory.
  virtual void erase_released() = 0;

  int routes = 0;  // 0: pool_for() needs no call
  int captures = 0;  // of graphs, running; meanwhile no event may be recorded and no memory goes back to the device
  std::vector<Block*> deferred;  // freed during a capture, to get their events after it
};

/// Brings memory to segments that get it, and lose it, part by part.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  /// Whether it serves requests to `pool` now. May release the lock.
  virtual bool serves(Lock& lock, const BlockPool& pool) = 0;
  /// A block in new memory, in no list; null if there is none. Releases the lock.
  virtual Block* new_memory(Lock& lock, const Request& request) = 0;
  /// The part of a free block that can lose its memory, kBusy; what is left stays free. Null if there is none.
  virtual Block* trim(Block* block) = 0;
  /// Takes memory away from such a part. Called without the lock.
  virtual orError_t unmap(const Block& block) = 0;
  /// `block` has no memory any more. Whether its segment has none either, and can go.
  virtual bool forget(Block* block) = 0;
  /// What a user can do about fragmented memory: a sentence for the error. May release the lock.
  virtual std::string advice(Lock& lock) = 0;
};

/// Keeps what happens to the memory of all devices. Contexts may have any destructor, so none is destroyed with a lock held.
class History {
 public:
  virtual ~History() = default;
  /// Describes the caller if contexts are kept at `level`, else null. Called without a lock: it may take Python's.
  virtual Context gather(RecordContext level) = 0;
  /// The same where nothing may be thrown: null if gather() throws.
  virtual Context gather_or_none(RecordContext level) noexcept = 0;
  /// For OOM, `address` is the free memory of the device; level: when the context would have been gathered. Contexts that are
  /// kept no longer go to `dropped`.
  virtual void record(c10::DeviceIndex device, TraceEntry::Action action, size_t address, size_t size, orStream_t stream,
      c10::MempoolId_t pool, const Context& context, RecordContext level, std::vector<Context>& dropped) = 0;
  /// Oldest first; times as ApproximateClock's.
  virtual std::vector<TraceEntry> entries(c10::DeviceIndex device) = 0;
  /// Adds annotations, and makes times those of the wall clock. Called without a lock.
  virtual void complete(SnapshotInfo& info) = 0;

  std::atomic<bool> on{false};  // off: gather() and record() do nothing, and need no call
};

/// Set by parts of the tree when the library is loaded, before there is a cache.
struct Extensions {
  std::unique_ptr<SegmentSource> (*make_segment_source)(DeviceCache& cache) = nullptr;
  PoolAllocator* pools = nullptr;
  History* history = nullptr;
};
inline Extensions extensions;

/// The history while it is on, else null.
inline History* recording() {
  History* const history = extensions.history;
  return C10_UNLIKELY(history != nullptr) && history->on.load(std::memory_order_relaxed) ? history : nullptr;
}

}  // namespace caching
}  // namespace openreg
