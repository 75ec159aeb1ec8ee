// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <c10/core/CachingDeviceAllocator.h>

#include "runtime/Export.h"
#include "runtime/Functions.h"

// Note [Device allocator]
// Every storage on the device comes from the one c10::DeviceAllocator that is registered for PrivateUse1. Factories
// (empty and friends), storages and torch.accelerator's memory functions find it there.
//
// Here each storage is one allocation of the device: nothing is cached, split or reused. Its price is that every free waits
// for the device. That wait is also what makes it safe: memory goes away only once all that was queued has run, on any
// stream, so a kernel may hold raw pointers, and recordStream has nothing to remember. Other allocators derive from this
// one and register themselves with a higher priority (c10::SetAllocator).
//
// Allocators are created at load and never destroyed, as tensors may outlive main(). The device of an allocation is the
// calling thread's current one, so callers need a device guard. Threads: any, deleters at any time.

namespace openreg {

class OPENREG_RUNTIME_API DirectAllocator : public c10::DeviceAllocator {
 public:
  using DeviceStats = c10::CachingDeviceAllocator::DeviceStats;

  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override;
  bool is_simple_data_ptr(const c10::DataPtr& data) const override { return data.get() == data.get_context(); }
  void copy_data(void* destination, const void* source, size_t size) const override;

  bool initialized() override { return !isInBadFork() && device_count() > 0; }
  void emptyCache(c10::MempoolId_t = {0, 0}) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override;

 protected:
  struct Block {
    c10::DeviceIndex device;
    size_t requested, bytes;
    orStream_t stream;
  };
  Block block_of(size_t size) const;  // on the current device, for its current stream
  void add(void* data, const Block& block);
  std::optional<Block> remove(void* data);  // before it is freed: then the address may belong to another block

  std::mutex mutex_;  // guards what follows
  std::map<void*, Block> blocks_;
  std::unordered_map<c10::DeviceIndex, DeviceStats> stats_;
};

/// The allocator that is registered for the device. Not owned by the caller.
OPENREG_RUNTIME_API c10::DeviceAllocator* getDeviceAllocator();

}  // namespace openreg
