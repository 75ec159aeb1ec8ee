// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/Allocator.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Guard.h"
#include "runtime/Stream.h"

namespace openreg::test {

/// Starts each test on device 0 with default streams, all idle. Skips without a device.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) {
      GTEST_SKIP() << "no device";
    }
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      device_synchronize(device);  // what an earlier test left queued
    }
    set_device(0);
    setCurrentStream(getDefaultStream(0));
  }
};

/// The same, for tests that need two devices.
class TwoDevicesTest : public DeviceTest {
 protected:
  void SetUp() override {
    if (device_count() < 2) {
      GTEST_SKIP() << "there are fewer than two devices";
    }
    DeviceTest::SetUp();
  }
};

/// A kernel that holds a stream up until open() or the end of the scope.
class Gate {
 public:
  ~Gate() {
    open();
    while (running_.load() > 0) {
      std::this_thread::yield();
    }
  }

  /// False if the device can't run host functions, so that work can't be held up.
  [[nodiscard]] bool hold(const OpenRegStream& stream) {
    const OpenRegGuard guard(stream.device_index());
    ++running_;
    const orError_t error = orLaunchKernel(stream.stream(), &Gate::wait, this);
    if (error != orSuccess) {
      --running_;
      orGetLastError();
    }
    return error == orSuccess;
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

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// 0, 1, 2, ... of `size` bytes.
inline std::vector<uint8_t> counting(size_t size) {
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

inline void upload(void* device, const std::vector<uint8_t>& bytes) {
  OPENREG_CHECK(orMemcpy(device, bytes.data(), bytes.size(), orMemcpyHostToDevice));
}

inline std::vector<uint8_t> download(const void* device, size_t size) {
  std::vector<uint8_t> bytes(size);
  OPENREG_CHECK(orMemcpy(bytes.data(), device, size, orMemcpyDeviceToHost));
  return bytes;
}

}  // namespace openreg::test
