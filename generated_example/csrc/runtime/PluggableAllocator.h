// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/BlockAllocator.h"
#include "runtime/PoolAllocator.h"

// Note [Pluggable allocator]
// An allocator whose memory comes from a user's functions: torch.openreg.memory.OpenRegPluggableAllocator loads
// them from a shared library. It is torch.cuda's CUDAPluggableAllocator for this device: same functions, same names.
// Two functions are needed, all others are optional; what a missing one would do is said at its setter.
//
// The functions are foreign code, so they aren't trusted: null, memory of another device, a pointer that is
// still in use and C++ exceptions all become errors that name the function. The bookkeeping (sizes, devices, streams,
// statistics) is BlockAllocator's, so a library needs none.
//
// Who uses it: changeCurrentAllocator() makes it the process's allocator; a memory pool of the caching allocator can
// take its segments from one. Ownership: shared; functions and library must live as long as memory from them, so
// libraries are never unloaded. Threads: any; the functions are called without a lock, from many threads at once, and
// `free` also from threads that never made an allocation.

namespace openreg {

class OPENREG_RUNTIME_API PluggableAllocator final : public BlockAllocator, public PoolAllocator {
 public:
  using MempoolId_t = c10::MempoolId_t;
  using AllocFn = void*(size_t size, int device, orStream_t stream);
  using FreeFn = void(void* pointer, size_t size, int device, orStream_t stream);

  /// `source` says in messages where the two functions come from. Throws c10::Error if one is empty.
  PluggableAllocator(std::function<AllocFn> alloc_fn, std::function<FreeFn> free_fn, std::string source = "functions");

  // The optional functions. All are to be set before the allocator is used.

  /// Called with the number of devices before the first allocation.
  void set_init_fn(std::function<void(int)> fn) { init_fn_ = std::move(fn); }
  /// Called by emptyCache(), unless there is an empty_cache function.
  void set_reset_fn(std::function<void()> fn) { reset_fn_ = std::move(fn); }
  void set_empty_cache_fn(std::function<void()> fn) { empty_cache_fn_ = std::move(fn); }
  /// setMemoryFraction(). Without it: a clear error.
  void set_memory_fraction_fn(std::function<void(double, int)> fn) { memory_fraction_fn_ = std::move(fn); }
  /// getBaseAllocation(). Without it: each allocation is its own base.
  void set_base_alloc_fn(std::function<void*(void*, size_t*)> fn) { base_alloc_fn_ = std::move(fn); }
  /// recordStream(). Without it: nothing; `free` must then wait for all streams, as the device's own does.
  void set_record_stream_fn(std::function<void(void*, orStream_t)> fn) { record_stream_fn_ = std::move(fn); }
  /// Pools. Without these: a clear error.
  void set_begin_allocate_to_pool(std::function<void(int, c10::MempoolId_t, StreamFilter)> fn) { begin_fn_ = std::move(fn); }
  void set_end_allocate_to_pool_fn(std::function<void(int, c10::MempoolId_t)> fn) { end_fn_ = std::move(fn); }
  void set_release_pool(std::function<void(int, c10::MempoolId_t)> fn) { release_fn_ = std::move(fn); }
  /// cacheInfo(). Without it: a clear error.
  void set_cache_info_fn(std::function<void(int, size_t*)> fn) { cache_info_fn_ = std::move(fn); }
  /// getDeviceStats(). Without it: what was allocated and freed here.
  void set_device_stats_fn(std::function<void(int, DeviceStats*)> fn) {
    device_stats_fn_ = std::move(fn);
  }

  void emptyCache(c10::MempoolId_t mempool_id) override;
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override;
  DeviceStats getDeviceStats(c10::DeviceIndex device) override;

  std::string name() override { return "pluggable"; }
  double getMemoryFraction(c10::DeviceIndex device) override;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override;
  void cacheInfo(c10::DeviceIndex device, size_t* largestBlock) override;
  void* getBaseAllocation(void* ptr, size_t* size) override;
  PoolAllocator* pools() override { return this; }
  void beginAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id, StreamFilter filter) override;
  void endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) override;
  void releasePool(c10::DeviceIndex device, c10::MempoolId_t mempool_id) override;

 protected:
  void* obtain(Block& block, std::string& reason) override;
  bool give_back(void* data, const Block& block) noexcept override;

 private:
  void check_memory(void* data, const Block& block);

  const std::function<AllocFn> alloc_fn_;
  const std::function<FreeFn> free_fn_;
  const std::string source_;
  std::function<void(int)> init_fn_;
  std::function<void()> reset_fn_;
  std::function<void()> empty_cache_fn_;
  std::function<void(double, int)> memory_fraction_fn_;
  std::function<void*(void*, size_t*)> base_alloc_fn_;
  std::function<void(void*, orStream_t)> record_stream_fn_;
  std::function<void(int, c10::MempoolId_t, StreamFilter)> begin_fn_;
  std::function<void(int, c10::MempoolId_t)> end_fn_;
  std::function<void(int, c10::MempoolId_t)> release_fn_;
  std::function<void(int, size_t*)> cache_info_fn_;
  std::function<void(int, DeviceStats*)> device_stats_fn_;

  std::once_flag init_;
};

/// Loads `path` (never unloaded) and takes the two functions by name. Throws c10::Error that says what is missing.
OPENREG_RUNTIME_API std::shared_ptr<PluggableAllocator> loadPluggableAllocator(
    const std::string& path, const std::string& alloc_fn, const std::string& free_fn);

/// Makes `allocator` the device's allocator, permanently; it is kept alive. Throws c10::Error once the device was used, since what was
/// allocated must be freed by the allocator it came from.
OPENREG_RUNTIME_API void changeCurrentAllocator(std::shared_ptr<OpenRegAllocator> allocator);

/// A symbol of a library, for the optional functions. Throws c10::Error if the library or the symbol isn't there.
OPENREG_RUNTIME_API void* findSymbol(const std::string& path, const std::string& name);

}  // namespace openreg
