// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <c10/util/flat_hash_map.h>

#include "runtime/DeviceScope.h"
#include "runtime/caching/Block.h"
#include "runtime/caching/BlockPool.h"
#include "runtime/caching/CachingAllocator.h"
#include "runtime/caching/Extensions.h"
#include "runtime/caching/PendingEvents.h"
#include "runtime/caching/Statistics.h"

// Note [The cache of one device]
// The memory of one device, cut into blocks, allocated and freed. Its code is in several files:
//   DeviceCache.cpp   allocate, free, split and join: the fast path
//   Growing.cpp       segments from the device; steps when it runs out of memory
//   Releasing.cpp     releasing cached memory
//   Reporting.cpp     statistics, limits and snapshots; the out of memory error
// Extensions.h explains how private pools and growing segments are added.
//
// Threads: one mutex guards everything. No device call that can block is made with the mutex held: the affected blocks are
// marked kBusy, and the mutex is released and taken again (class ScopedUnlock). So a thread that waits for the device never stops
// others from allocating. Afterwards only facts about kBusy blocks are still valid.
//
// Nothing is thrown while a block is kBusy, counted in releases_ or out of its list: there DeviceScope replaces
// the guard, and a device error becomes a value that the second half of the change checks. Memory that the
// device fails to free stays in the cache.

// Note [The warm block]
// Programs free a block and soon need one of that size again. So the block that a stream freed last stays kWarm, with its
// entry in the list of addresses: a request of its size takes it at once, without a search, a join and a split. Any
// other request, the next free, and code that looks at free blocks settle() it first: it is joined with its neighbours and
// goes to the free list. Statistics count it as joined from the start, so they are always the same as without
// it. A block after a free one is joined at once, as the next request would be served from the front of both.

namespace openreg::caching {

/// Releases the lock for a scope.
class ScopedUnlock {
 public:
  explicit ScopedUnlock(Lock& lock) : lock_(lock) { lock_.unlock(); }
  ~ScopedUnlock() { lock_.lock(); }
  ScopedUnlock(const ScopedUnlock&) = delete;
  ScopedUnlock& operator=(const ScopedUnlock&) = delete;

 private:
  Lock& lock_;
};

/// Counts a thread that releases memory without the lock; threads without memory wait for it. Begins and ends with
/// the lock held.
class Release {
 public:
  Release(int& running, std::condition_variable& ended) : running_(running), ended_(ended) { ++running_; }
  ~Release() {
    --running_;
    ended_.notify_all();
  }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

 private:
  int& running_;
  std::condition_variable& ended_;
};

/// Bytes held after a change, as the profiler wants them.
struct Totals {
  size_t allocated = 0;
  size_t reserved = 0;
};

struct Allocation {
  void* ptr = nullptr;
  size_t bytes = 0;
  Totals totals;
};

struct SharedState;  // what all devices' caches have in common

class DeviceCache {
 public:
  DeviceCache(c10::DeviceIndex device, SharedState& shared);
  ~DeviceCache();
  DeviceCache(const DeviceCache&) = delete;
  DeviceCache& operator=(const DeviceCache&) = delete;

  c10::DeviceIndex device() const { return device_; }

  /// `size` > 0. Throws c10::OutOfMemoryError, and what the device reports.
  Allocation allocate(size_t size, orStream_t stream);
  /// False if `ptr` is not one that allocate() returned. *freed says what it was.
  bool free(void* ptr, Allocation* freed);
  /// False as above.
  bool record_stream(void* ptr, const StreamUse& use);
  bool base_allocation(void* ptr, void** base, size_t* size);
  Context context_of(const void* ptr);

  void empty_cache(c10::MempoolId_t pool);
  size_t largest_available();
  void set_memory_fraction(double fraction);
  double memory_fraction();

  DeviceStats stats();
  void reset_accumulated_stats();
  void reset_peak_stats();
  void snapshot(c10::MempoolId_t pool, bool include_traces, SnapshotInfo& out);

 private:
  // They attach to the cache, and work on its blocks.
  friend class PrivatePools;
  friend class ExpandableSegments;

  // DeviceCache.cpp
  BlockPool& pool_for(size_t size, orStream_t stream);
  Block* take_free(const Request& request);
  Block* take_free_from(const Request& request, StreamBlocks& home);
  bool fits(const Request& request, const Block& block) const;
  bool should_split(const Block& block, const Request& request) const;
  void hand_out(Block* block, const Request& request);
  void split(Block* block, size_t size);
  void split_front(Block* block, size_t size);
  void make_free(Block* block);
  void join_free(Block* block);
  void settle(StreamBlocks& home);
  void settle(BlockPool& pool);
  void settle_all();
  Block* find_allocated(const void* ptr);
  void absorb(Block* block, Block* neighbour);
  void unlist(Block* block);
  void retire(Block* block, const Context& context);
  void finish_event(Block* block);
  void poll_events();
  void wait_for_uses(Lock& lock, Block* block);
  Block* new_block();
  void recycle(Block* block);
  Totals totals() const;
  void trace(TraceEntry::Action action, const Block& block, const Context& context, RecordContext level) {
    if (C10_UNLIKELY(recording() != nullptr)) {
      record(action, reinterpret_cast<size_t>(block.ptr), block.requested, block.segment->home->stream,
          block.segment->pool->id(), context, level);
    }
  }
  void record(TraceEntry::Action action, size_t address, size_t size, orStream_t stream, c10::MempoolId_t pool,
      const Context& context, RecordContext level) {
    if (History* const history = recording()) {
      history->record(device_, action, address, size, stream, pool, context, level, dropped_);
    }
  }
  void drop(Context context) {
    if (context != nullptr) {
      dropped_.push_back(std::move(context));
    }
  }
  bool capturing() const { return pools_ != nullptr && pools_->captures > 0; }

  // Growing.cpp
  Block* grow(Lock& lock, const Request& request);
  Block* new_memory(Lock& lock, const Request& request);
  Block* new_segment(Lock& lock, const Request& request);
  bool may_reserve(size_t bytes) const;
  void collect_garbage(Lock& lock, const Request& request);
  bool release_oversize(Lock& lock, const Request& request);

  // Releasing.cpp
  void synchronize_uses(Lock& lock);
  void release_cached(Lock& lock, c10::MempoolId_t pool);
  size_t give_back(Lock& lock, const std::vector<Block*>& blocks);
  orError_t return_memory(const Block& block) noexcept;
  void note_released(Block* block, std::unique_ptr<Segment>& gone);

  // Reporting.cpp
  [[noreturn]] void throw_out_of_memory(Lock& lock, const Request& request);
  void learn_device_memory(Lock& lock);

  const c10::DeviceIndex device_;
  SharedState& shared_;

  mutable std::mutex mutex_;  // guards all that follows
  size_t device_memory_ = 0;  // bytes; 0: not asked yet
  BlockPool small_{true};
  BlockPool large_{false};
  ska::flat_hash_map<const void*, Block*> by_address_;  // allocated, pending and warm ones
  std::map<char*, std::unique_ptr<Segment>> segments_;
  std::unique_ptr<PoolRouter> pools_;  // null until there is a private pool
  const std::unique_ptr<SegmentSource> source_;  // null: each segment is one allocation of the device

  PendingEvents pending_;

  size_t reserved_ = 0;  // bytes allocated from the device, or being requested
  double fraction_ = 1;
  int releases_ = 0;  // threads that are giving memory back, without the lock
  std::condition_variable released_;

  DeviceStats stats_;
  std::vector<Context> dropped_;  // whoever is about to release the lock takes them, to destroy them after it
  std::vector<Block*> spare_blocks_;
  std::deque<Block> all_blocks_;
};

/// The cache of a device of this process; -1: of the current one.
DeviceCache& cache_of(c10::DeviceIndex device);

/// What all devices' caches have in common.
struct SharedState {
  std::mutex mutex;  // guards observers
  std::vector<OutOfMemoryObserver> observers;
};

}  // namespace openreg::caching
