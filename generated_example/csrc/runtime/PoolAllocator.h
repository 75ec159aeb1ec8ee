// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "runtime/MemoryAllocator.h"

// What an allocator with memory pools can do, beside what OpenRegAllocator has: the names are those of c10/cuda's, with the
// same meanings. A kind of allocator overrides what it can do; the default throws c10::NotImplementedError.

namespace openreg {

/// A saved state of a pool, for setCheckpointPoolState().
struct AllocatorState {
  virtual ~AllocatorState() = default;
};

/// What restoring a pool's state freed and allocated. An address may be in both.
struct CheckpointDelta {
  std::vector<void*> ptrs_freed;
  std::vector<c10::DataPtr> dataptrs_allocd;
};

/// Whether an allocation for this stream belongs to a pool; called with the allocator's lock held.
using StreamFilter = std::function<bool(orStream_t)>;

/// Between begin and end, allocations on streams for which `filter` is true come from the pool. Each beginAllocateToPool() and
/// createOrIncrefPool() holds a reference to the pool that releasePool() gives up.
class OPENREG_RUNTIME_API PoolAllocator {
 public:
  using MempoolId_t = c10::MempoolId_t;

  virtual ~PoolAllocator() = default;
  virtual void beginAllocateToPool(c10::DeviceIndex device, MempoolId_t mempool_id, StreamFilter filter) = 0;
  virtual void endAllocateToPool(c10::DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual void releasePool(c10::DeviceIndex device, MempoolId_t mempool_id) = 0;
  virtual int getPoolUseCount(c10::DeviceIndex device, MempoolId_t mempool_id);
  /// A pool with an allocator takes its segments from that one's raw_alloc().
  virtual void createOrIncrefPool(
      c10::DeviceIndex device, MempoolId_t mempool_id, std::shared_ptr<OpenRegAllocator> allocator = nullptr);
  virtual void setUseOnOOM(c10::DeviceIndex device, MempoolId_t mempool_id, bool use_on_oom);
  virtual void setNoSplit(c10::DeviceIndex device, MempoolId_t mempool_id);
  /// Whether exactly these pointers are allocated in the pool.
  virtual bool checkPoolLiveAllocations(
      c10::DeviceIndex device, MempoolId_t mempool_id, const std::unordered_set<void*>& expected_live_allocations);
  /// Between these, on `device`, no event is recorded: blocks that other streams used are kept until the end. An allocator
  /// that records none has nothing to do.
  virtual void markCaptureBegin(c10::DeviceIndex) {}
  virtual void markCaptureEnd(c10::DeviceIndex) {}
  virtual std::shared_ptr<AllocatorState> getCheckpointState(c10::DeviceIndex device, MempoolId_t id);
  virtual CheckpointDelta setCheckpointPoolState(c10::DeviceIndex device, std::shared_ptr<AllocatorState> state);
};

/// The pools of the allocator in use. Throws c10::NotImplementedError if it has none.
OPENREG_RUNTIME_API PoolAllocator& current_pools();

}  // namespace openreg
