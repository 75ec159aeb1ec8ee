// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include <c10/util/flat_hash_map.h>

#include "runtime/DeviceScope.h"
#include "runtime/caching/Block.h"
#include "runtime/caching/BlockPool.h"
#include "runtime/caching/CachingAllocator.h"
#include "runtime/caching/PatientMutex.h"
#include "runtime/caching/PendingEvents.h"
#include "runtime/caching/Statistics.h"
#include "runtime/caching/Trace.h"

// Note [The cache of one device]
// Memory of one device: what was allocated from it, cut into blocks, handed out and taken back. Its code is in several files:
//   DeviceCache.cpp   allocate, free, split and join: the way that is fast
//   Growing.cpp       segments from the device, what is tried when it has no more
//   Releasing.cpp     giving cached memory back
//   Reporting.cpp     statistics, limits and snapshots; what is said when memory is out
//   Expanding.cpp     growing and releasing, of expandable segments
//   PrivatePools.cpp  memory pools; their state, kept and restored
//
// Threads: one mutex guards all. No device call that can block is made with the mutex held: what the call is about is
// marked kBusy, the mutex released, and taken again (class Unlocked). So a thread that waits for the device never stops
// others from allocating. Afterwards nothing learned before can be relied upon, except of what was kBusy.
//
// Nothing is thrown while something is kBusy, counted in releases_ or out of its list: there DeviceScope takes the place
// of the guard, and what the device refuses becomes a value that the second half of the change looks at. Memory that the
// device does not take back stays in the cache.

// Note [The warm block]
// Programs free a block and soon want one of that size again. So what a stream freed last stays as it is, kWarm, with its
// entry in the list of addresses: a request of its size takes it at once, without a search, a join and a split. Any
// other request, the next free, and whoever looks at free blocks settle() it first: it is joined with its neighbours and
// goes to the free list. The statistics take it for joined from the start: they are the same as without it, also
// between. A block behind a free one is joined at once, as the next request would be served from the front of both.

namespace openreg::caching {

using Lock = std::unique_lock<PatientMutex>;

/// Releases the lock for a scope.
class Unlocked {
 public:
  explicit Unlocked(Lock& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  Lock& lock_;
};

/// Counts a thread that gives memory back without the lock; those who have none left wait for it. Begins and ends with
/// the lock held.
class Release {
 public:
  Release(int& running, std::condition_variable_any& ended) : running_(running), ended_(ended) { ++running_; }
  ~Release() {
    --running_;
    ended_.notify_all();
  }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

 private:
  int& running_;
  std::condition_variable_any& ended_;
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

struct Shared;  // what all devices' caches have in common

class DeviceCache {
 public:
  DeviceCache(c10::DeviceIndex device, Shared& shared);
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
  std::vector<StreamSegmentSize> expandable_sizes();

  DeviceStats stats();
  void reset_accumulated_stats();
  void reset_peak_stats();
  void set_history(size_t entries, bool clear);
  void attach_tracker(AllocatorTraceTracker tracker);
  void snapshot(c10::MempoolId_t pool, bool include_traces, SnapshotInfo& out);

  void create_or_incref(c10::MempoolId_t id, std::shared_ptr<OpenRegAllocator> allocator);
  void begin_allocate_to_pool(c10::MempoolId_t id, StreamFilter filter);
  void end_allocate_to_pool(c10::MempoolId_t id);
  void release_pool(c10::MempoolId_t id);
  int use_count(c10::MempoolId_t id);
  void set_use_on_oom(c10::MempoolId_t id, bool use);
  void set_no_split(c10::MempoolId_t id);
  bool has_exactly(c10::MempoolId_t id, const std::unordered_set<void*>& expected);
  void capture(bool begins);
  std::shared_ptr<AllocatorState> checkpoint(c10::MempoolId_t id);
  /// What it allocates has no DataPtr yet: the caller makes them of `allocated`.
  void restore(const AllocatorState& state, std::vector<void*>& freed, std::vector<void*>& allocated);

 private:
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
    if (C10_UNLIKELY(trace_.wanted())) {
      trace_.record(action, reinterpret_cast<size_t>(block.ptr), block.requested, block.segment->home->stream,
          pool_id(*block.segment->pool), context, level);
    }
  }
  c10::MempoolId_t pool_id(const BlockPool& pool) const;

  // Growing.cpp
  Block* grow(Lock& lock, const Request& request);
  Block* new_memory(Lock& lock, const Request& request);
  Block* new_segment(Lock& lock, const Request& request);
  bool may_reserve(size_t bytes) const;
  void collect_garbage(Lock& lock, const Request& request);
  bool release_oversize(Lock& lock, const Request& request);
  Block* take_from_lending_pools(const Request& request);

  // Releasing.cpp
  void synchronize_uses(Lock& lock);
  void release_cached(Lock& lock, c10::MempoolId_t pool);
  size_t give_back(Lock& lock, const std::vector<Block*>& whole, const std::vector<Block*>& parts);
  void note_released(Block* block, bool is_part, std::vector<std::unique_ptr<Segment>>& dead);
  void erase_released_pools();

  // Reporting.cpp
  [[noreturn]] void throw_out_of_memory(Lock& lock, const Request& request);
  void learn_device_memory(Lock& lock);

  // Expanding.cpp
  void ask_granularity(Lock& lock);
  bool expands(const BlockPool& pool) const;
  Block* map_more(Lock& lock, const Request& request);
  bool new_expandable(Lock& lock, const Request& request);
  Block* trim_to_unmap(Block* block);
  void note_unmapped(Block* block);

  // PrivatePools.cpp
  PrivatePool& pool_at(c10::MempoolId_t id);

  const c10::DeviceIndex device_;
  Shared& shared_;

  mutable PatientMutex mutex_;  // guards all that follows
  size_t device_memory_ = 0;  // bytes; 0: not asked yet
  size_t granularity_ = 0;  // of mapping; 0: the device can't, or wasn't asked yet
  bool asked_granularity_ = false;
  BlockPool small_{true};
  BlockPool large_{false};
  ska::flat_hash_map<const void*, Block*> by_address_;  // allocated, pending and warm ones
  std::map<char*, std::unique_ptr<Segment>> segments_;
  std::map<c10::MempoolId_t, std::unique_ptr<PrivatePool>> pools_;
  std::vector<std::pair<PrivatePool*, StreamFilter>> routes_;  // of beginAllocateToPool; the latest first

  PendingEvents pending_;
  int captures_ = 0;
  std::vector<Block*> deferred_;  // freed during a capture, to get their events after it

  size_t reserved_ = 0;  // bytes allocated from the device, or being requested
  double fraction_ = 1;
  int releases_ = 0;  // threads that are giving memory back, without the lock
  std::condition_variable_any released_;

  DeviceStats stats_;
  Trace trace_;
  std::vector<Block*> spare_blocks_;
  std::deque<Block> all_blocks_;
};

/// What all devices' caches have in common.
struct Shared {
  HistoryMode history;
  std::mutex mutex;  // guards observers
  std::vector<OutOfMemoryObserver> observers;
};

}  // namespace openreg::caching
