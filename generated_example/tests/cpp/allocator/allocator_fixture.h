// Written by openreg-gen 0.1.0 from openreg.yaml.
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

#include "runtime/Allocator.h"
#include "runtime/DeviceAllocator.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
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

/// Device 0, its default stream, idle and with nothing cached; afterwards the default settings.
class AllocatorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) {
      GTEST_SKIP() << "there is no device";
    }
    set_device(0);
    setCurrentStream(getDefaultStream(0));
    device_synchronize();
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
  [[nodiscard]] bool hold(const OpenRegStream& stream) {
    const OpenRegGuard guard(stream.device_index());
    ++running_;
    if (orLaunchKernel(stream.stream(), &Gate::wait, this) == orSuccess) {
      return true;
    }
    --running_;
    orGetLastError();
    return false;
  }
  void open() { open_.store(true); }

 private:
  static void wait(void* self) {
    auto* gate = static_cast<Gate*>(self);
    while (!gate->open_.load()) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    --gate->running_;
  }
  std::atomic<bool> open_{false};
  std::atomic<int> running_{0};
};

// A macro, as GTEST_SKIP returns from the test.
#define OPENREG_HOLD_OR_SKIP(GATE, STREAM) \
  if (!(GATE).hold(STREAM)) GTEST_SKIP() << "the device can't run host functions"

}  // namespace openreg::test
