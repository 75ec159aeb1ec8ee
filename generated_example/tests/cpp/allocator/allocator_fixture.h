// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <c10/core/AllocatorConfig.h>

#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/MemoryAllocator.h"
#include "runtime/Stream.h"
#include "runtime/caching/CachingAllocator.h"

namespace openreg::test {

using c10::CachingDeviceAllocator::DeviceStats;

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kAll = 0;
constexpr size_t kSmall = 1;
constexpr size_t kLarge = 2;

inline DeviceStats stats(c10::DeviceIndex device = 0) {
  return getDeviceAllocator()->getDeviceStats(device);
}

inline c10::DataPtr allocate(size_t size) {
  return getDeviceAllocator()->allocate(size);
}

inline OpenRegAllocator& caching() {
  return *getCachingAllocator();
}

inline int64_t current(c10::CachingAllocator::StatArray DeviceStats::* field, size_t pool = kAll) {
  return (stats().*field)[pool].current;
}

/// These settings, and PyTorch's defaults for all others: what the spec says under `allocator` counts for nothing here.
inline void use_settings(const std::string& settings) {
  c10::CachingAllocator::setAllocatorSettings("expandable_segments:False," + settings);
}

/// Whether segments grow with expandable_segments:True, which stays set: the device and the tree need virtual memory for it.
inline bool segments_grow() {
  use_settings("expandable_segments:True");
  const c10::DataPtr data = allocate(15 * kMiB);
  for (const SegmentInfo& segment : caching().snapshot({0, 0}, false).segments) {
    if (segment.is_expandable) {
      return true;
    }
  }
  return false;
}

/// Device 0, its default stream, idle and with nothing cached, PyTorch's settings; afterwards the spec's.
class AllocatorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) {
      GTEST_SKIP() << "no device";
    }
    set_device(0);
    setCurrentStream(getDefaultStream(0));
    device_synchronize();
    use_settings("");
    getDeviceAllocator()->emptyCache();
    getDeviceAllocator()->resetAccumulatedStats(0);
    getDeviceAllocator()->resetPeakStats(0);
  }

  void TearDown() override {
    setAllocatorSettings("");
    if (device_count() > 0) {
      getCachingAllocator()->setMemoryFraction(1, 0);
      getDeviceAllocator()->emptyCache();
    }
    orDebugFailAfter(-1, orSuccess);
    orGetLastError();
  }
};

/// Holds a stream up until it is opened, or goes away.
class Gate {
 public:
  ~Gate() {
    open();
    while (running_.load() > 0) {
      std::this_thread::yield();
    }
  }
  /// False if functions can't run on the stream, or run on the calling thread, which can't be blocked.
  [[nodiscard]] bool hold(const OpenRegStream& stream) {
    const OpenRegGuard guard(stream.device_index());
    ++running_;
    if (orLaunchKernel(stream.stream(), &Gate::wait, this) == orSuccess) {
      return !on_caller_.load();
    }
    --running_;
    orGetLastError();
    return false;
  }
  void open() { open_.store(true); }

 private:
  static void wait(void* self) {
    auto* gate = static_cast<Gate*>(self);
    gate->on_caller_ = std::this_thread::get_id() == gate->caller_;
    while (!gate->on_caller_.load() && !gate->open_.load()) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    --gate->running_;
  }
  std::atomic<bool> open_{false};
  std::atomic<int> running_{0};
  std::atomic<bool> on_caller_{false};
  const std::thread::id caller_ = std::this_thread::get_id();
};

// What the snapshot adds up to must be what the statistics say.
inline void check_against_snapshot(c10::DeviceIndex device) {
  const DeviceStats now = stats(device);
  int64_t reserved = 0, allocated = 0, active = 0, split = 0, split_bytes = 0, count = 0;
  for (const SegmentInfo& segment : getCachingAllocator()->snapshot({0, 0}, false).segments) {
    if (segment.device != device) {
      continue;
    }
    reserved += static_cast<int64_t>(segment.total_size);
    bool last_free = false;
    for (const auto& block : segment.blocks) {
      allocated += block.allocated ? static_cast<int64_t>(block.size) : 0;
      active += block.active ? static_cast<int64_t>(block.size) : 0;
      count += block.allocated;
      if (!block.active) {
        EXPECT_FALSE(last_free) << "two free neighbours were not joined";
        const bool counts = !segment.is_expandable && segment.blocks.size() > 1;
        split += counts;
        split_bytes += counts ? static_cast<int64_t>(block.size) : 0;
      }
      last_free = !block.active;
    }
  }
  EXPECT_EQ(now.reserved_bytes[kAll].current, reserved);
  EXPECT_EQ(now.allocated_bytes[kAll].current, allocated);
  EXPECT_EQ(now.active_bytes[kAll].current, active);
  EXPECT_EQ(now.allocation[kAll].current, count);
  EXPECT_EQ(now.inactive_split[kAll].current, split);
  EXPECT_EQ(now.inactive_split_bytes[kAll].current, split_bytes);
}

// A macro, as GTEST_SKIP returns from the test.
#define OPENREG_HOLD_OR_SKIP(GATE, STREAM) \
  if (!(GATE).hold(STREAM)) GTEST_SKIP() << "the device can't run host functions beside this thread"

}  // namespace openreg::test
