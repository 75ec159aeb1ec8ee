// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>

#include "runtime/PoolAllocator.h"

// Note [Memory pools]
// A pool is a part of the caching allocator that keeps its blocks to itself: what is allocated between begin and end
// comes from it and goes back to it. Graph capture needs one, because a graph replays with the addresses it was captured
// with; a user may have one to keep a phase's memory apart, or to take it from an allocator of their own.
// torch.openreg.MemPool is this class. Allocators without pools refuse to make one.
//
// Ownership: the allocator counts who uses a pool; a MemPool is one user. The memory goes back to the device when the
// last user is gone and all blocks are freed. Threads: any.

namespace openreg {

class OPENREG_RUNTIME_API MemPool {
 public:
  /// A new pool on the current device. `allocator`: where its segments come from (null: the device).
  /// Throws c10::NotImplementedError if the current allocator has no pools.
  explicit MemPool(
      std::shared_ptr<OpenRegAllocator> allocator = nullptr, bool is_user_created = true, bool use_on_oom = false,
      bool no_split = false);
  ~MemPool();
  MemPool(const MemPool&) = delete;
  MemPool& operator=(const MemPool&) = delete;

  c10::MempoolId_t id() const { return id_; }
  std::shared_ptr<OpenRegAllocator> allocator() const { return allocator_; }
  int device() const { return device_; }
  int use_count() const;

 private:
  std::shared_ptr<OpenRegAllocator> allocator_;
  c10::MempoolId_t id_;
  c10::DeviceIndex device_;
};

/// The id of a pool for graphs. The pool is there once something is allocated to it.
OPENREG_RUNTIME_API c10::MempoolId_t new_graph_pool();

/// Allocations of the calling thread on `device` come from the pool until endAllocateToPool().
OPENREG_RUNTIME_API void beginAllocateCurrentThreadToPool(c10::DeviceIndex device, c10::MempoolId_t id);

}  // namespace openreg
