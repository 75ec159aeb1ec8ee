// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include <c10/core/CachingDeviceAllocator.h>

// Note [Memory statistics]
// torch.accelerator.memory_stats shows c10::CachingDeviceAllocator::DeviceStats, three numbers a line: all blocks,
// small ones (requests of up to 1 MiB) and large ones. Every change goes to "all" and to one of the other two; an
// allocator that forgets the second reports zeros there.
//
// Ownership: an allocator owns one of these. Threads: any; one lock for all devices, held for a few additions.

namespace openreg {

class AllocatorStats {
 public:
  using DeviceStats = c10::CachingDeviceAllocator::DeviceStats;

  /// Totals after a change, in bytes, as the profiler wants them.
  struct Totals {
    size_t allocated = 0;
    size_t reserved = 0;
  };

  /// A block of `bytes` came from the device for a request of `requested` bytes.
  Totals allocated(c10::DeviceIndex device, size_t requested, size_t bytes);

  /// The same block went back to the device.
  Totals freed(c10::DeviceIndex device, size_t requested, size_t bytes);

  /// The device had no memory for a request.
  Totals out_of_memory(c10::DeviceIndex device);

  DeviceStats get(c10::DeviceIndex device) const;
  void reset_accumulated(c10::DeviceIndex device);
  void reset_peak(c10::DeviceIndex device);

 private:
  DeviceStats& at(c10::DeviceIndex device);

  mutable std::mutex mutex_;
  std::vector<DeviceStats> devices_;  // grows on demand
};

}  // namespace openreg
