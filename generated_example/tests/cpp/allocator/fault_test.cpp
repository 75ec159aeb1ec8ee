// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
// Calls of the device that fail in the middle of what the allocators do: what they hold stays true, and what comes after
// works as if nothing had been.

#include "fault_fixture.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/DeviceErrors.h"
#include "runtime/DeviceScope.h"
#include "runtime/Event.h"
#include "runtime/HostAllocator.h"

namespace openreg::test {

namespace {

class FaultTest : public FailingTest {
 protected:
  // Allocates and frees in each way there is. May throw.
  static void work(std::vector<c10::DataPtr>& held) {
    const OpenRegStream other = getStreamFromPool();
    held.push_back(getDeviceAllocator()->allocate(1000));
    held.push_back(getDeviceAllocator()->allocate(30 * kMiB));
    getDeviceAllocator()->recordStream(held[1], other);
    held[1].clear();
    held.push_back(getDeviceAllocator()->allocate(15 * kMiB));
    getDeviceAllocator()->emptyCache();
    held.push_back(getHostAllocator()->allocate(1000));
    getHostAllocator()->record_event(held.back().get(), held.back().get_context(), other);
    held.back().clear();
    held.push_back(getHostAllocator()->allocate(3000));
    held.push_back(getDeviceAllocator()->allocate(40 * kMiB));
  }
};

TEST_F(FaultTest, AnyCallMayFail) {
  const size_t free_before = memory_info(0).free;
  for (const char* settings : {"", "expandable_segments:True"}) {
    use_settings(settings);
    for (const char* function : kFunctions) {
      for (int calls = 0; calls < 4; ++calls) {
        for (const int times : {1, -1}) {
          std::vector<c10::DataPtr> held;
          {
            const Fault fault(function, calls, times);
            try {
              work(held);
            } catch (const c10::Error&) {
            }
            held.clear();
            EXPECT_NO_THROW(getDeviceAllocator()->emptyCache());
            EXPECT_NO_THROW(getHostAllocator()->empty_cache());
          }
          expect_nothing_held(c10::str(settings, ", ", function, " after ", calls, " calls, ", times, " times"));
          ASSERT_NO_THROW(work(held)) << function;
          held.clear();
          set_device(0);
          getDeviceAllocator()->emptyCache();
          ASSERT_EQ(memory_info(0).free, free_before) << settings << ", " << function << " after " << calls;
        }
      }
    }
  }
}

TEST_F(FaultTest, DeletersNeverThrow) {
  const OpenRegStream other = getStreamFromPool();
  for (const char* function : kFunctions) {
    c10::DataPtr plain = getDeviceAllocator()->allocate(1000);
    c10::DataPtr recorded = getDeviceAllocator()->allocate(1000);
    getDeviceAllocator()->recordStream(recorded, other);
    c10::DataPtr pinned = getHostAllocator()->allocate(1000);
    getHostAllocator()->record_event(pinned.get(), pinned.get_context(), other);
    {
      OpenRegEvent event;
      event.record(other);
      const Fault fault(function, 0, -1);
      plain.clear();
      recorded.clear();
      pinned.clear();
    }
    expect_nothing_held(function);
  }
}

TEST_F(FaultTest, PinnedMemoryIsNotUsedAgainWhileAStreamMayUseIt) {
  for (const bool can_wait : {true, false}) {
    c10::DataPtr pinned = getHostAllocator()->allocate(5000);
    const void* address = pinned.get();
    getHostAllocator()->record_event(pinned.get(), pinned.get_context(), getStreamFromPool());
    {
      const Fault fault(can_wait ? "orEventRecord" : nullptr, 0, -1);
      pinned.clear();
    }
    pinned = getHostAllocator()->allocate(5000);
    EXPECT_EQ(pinned.get() == address, can_wait) << "a stream that could not be asked may still use it";
  }
}

// Without the lock's releases being counted to their end, whoever needs memory waits forever.
TEST_F(FaultTest, AfterAFailedEmptyCacheALargeAllocationGoesOn) {
  for (const char* function : kFunctions) {
    getDeviceAllocator()->allocate(30 * kMiB).clear();
    {
      const Fault fault(function, 0, -1);
      EXPECT_NO_THROW(getDeviceAllocator()->emptyCache());
    }
    const size_t most = memory_info(0).free;
    c10::DataPtr large = getDeviceAllocator()->allocate(most - most / 4);
    EXPECT_THROW(static_cast<void>(getDeviceAllocator()->allocate(most)), c10::OutOfMemoryError);
    large.clear();
    expect_nothing_held(function);
  }
}

// As is a failure of a function that was launched: the allocator neither reports nor forgets it.
TEST_F(FaultTest, AFailedFunctionIsNotTheAllocatorsToTell) {
  c10::DataPtr recorded = getDeviceAllocator()->allocate(1000);
  getDeviceAllocator()->recordStream(recorded, getStreamFromPool());
  report_kernel_error(0, "index 7 is out of bounds");
  recorded.clear();
  EXPECT_NO_THROW(getDeviceAllocator()->emptyCache());
  EXPECT_NO_THROW(static_cast<void>(getDeviceAllocator()->allocate(1000)));
  EXPECT_THROW(device_synchronize(0), c10::AcceleratorError);
  EXPECT_NO_THROW(device_synchronize(0));
}

// Observers are user code: their exceptions leave nothing half done.
TEST_F(FaultTest, WhatObserversThrowLeavesTheAllocatorWhole) {
  static bool throws = false;  // observers stay
  getCurrentAllocator().attachOutOfMemoryObserver([](int64_t, size_t, size_t, size_t) {
    if (throws) {
      throw std::runtime_error("observed");
    }
  });
  throws = true;
  EXPECT_THROW(static_cast<void>(getDeviceAllocator()->allocate(size_t{1} << 60)), std::runtime_error);
  throws = false;
  c10::DataPtr data = getDeviceAllocator()->allocate(3 * kMiB);
  data.clear();
  expect_nothing_held("after an observer threw");
}

}  // namespace

}  // namespace openreg::test
