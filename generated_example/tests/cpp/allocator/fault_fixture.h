// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include "allocator_fixture.h"

// What the tests share in which calls of the device fail.

namespace openreg::test {

/// Each function of the device that the allocators may call. A device without one of them never calls it.
inline const char* const kFunctions[] = {
    "orGetDevice",
    "orSetDevice",
    "orMalloc",
    "orFree",
    "orMallocHost",
    "orFreeHost",
    "orMemGetInfo",
    "orGetDeviceProperties",
    "orEventCreateWithFlags",
    "orEventRecord",
    "orEventQuery",
    "orEventSynchronize",
    "orEventDestroy",
    "orStreamSynchronize",
    "orMemGetAllocationGranularity",
    "orMemAddressReserve",
    "orMemAddressFree",
    "orMemCreate",
    "orMemRelease",
    "orMemMap",
    "orMemUnmap",
};

/// While it lives, calls of a function fail.
class Fault {
 public:
  Fault(const char* function, int calls, int times) {
    orDebugFailCall(function, calls, times, orErrorUnknown);
  }
  ~Fault() {
    orDebugFailCall(nullptr, 0, 0, orSuccess);
    orGetLastError();
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

class FailingTest : public AllocatorTest {
 protected:
  // What is allocated, as the statistics and the snapshot have it.
  static void expect_nothing_held(const std::string& where) {
    set_device(0);
    getDeviceAllocator()->emptyCache();
    getDeviceAllocator()->emptyCache();  // what the first could not give back
    ASSERT_EQ(stats().allocated_bytes[0].current, 0) << where;
    ASSERT_EQ(stats().reserved_bytes[0].current, 0) << where;
    ASSERT_EQ(stats().active_bytes[0].current, 0) << where;
    ASSERT_TRUE(getCurrentAllocator().snapshot().segments.empty()) << where;
  }
};

}  // namespace openreg::test
