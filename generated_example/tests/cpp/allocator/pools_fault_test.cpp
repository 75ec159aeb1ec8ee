// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
// Memory pools while calls of the device fail.

#include "fault_fixture.h"

#include <vector>

#include "runtime/MemPool.h"

namespace openreg::test {

namespace {

using PoolFaultTest = FailingTest;

TEST_F(PoolFaultTest, WhileAGraphIsCaptured) {
  const OpenRegStream other = getStreamFromPool();
  for (const char* function : kFunctions) {
    for (int calls = 0; calls < 4; ++calls) {
      MemPool pool;
      OpenRegAllocator& allocator = getCurrentAllocator();
      PoolAllocator& pools = current_pools();
      pools.beginAllocateToPool(0, pool.id(), [](auto) { return true; });
      pools.markCaptureBegin(0);
      std::vector<c10::DataPtr> held;
      for (int i = 0; i < 3; ++i) {
        held.push_back(allocator.allocate(30 * kMiB));
        allocator.recordStream(held.back(), other);
      }
      {
        const Fault fault(function, calls, -1);
        held.clear();
        EXPECT_NO_THROW(pools.markCaptureEnd(0));
        EXPECT_NO_THROW(pools.endAllocateToPool(0, pool.id()));
        EXPECT_NO_THROW(pools.releasePool(0, pool.id()));
        EXPECT_NO_THROW(allocator.emptyCache(pool.id()));
      }
      allocator.emptyCache();
      ASSERT_EQ(stats().active_bytes[0].current, 0) << function << " after " << calls;
      ASSERT_EQ(stats().allocated_bytes[0].current, 0) << function << " after " << calls;
    }
    expect_nothing_held(function);
  }
}

// A pool goes away at any time: its destructor never throws, and the memory comes back later.
TEST_F(PoolFaultTest, APoolMayGoWhileTheDeviceFails) {
  for (const char* function : kFunctions) {
    {
      MemPool pool;
      current_pools().beginAllocateToPool(0, pool.id(), [](auto) { return true; });
      c10::DataPtr data = getDeviceAllocator()->allocate(3 * kMiB);
      current_pools().endAllocateToPool(0, pool.id());
      current_pools().releasePool(0, pool.id());
      data.clear();
      orDebugFailCall(function, 0, -1, orErrorUnknown);
    }
    orDebugFailCall(nullptr, 0, 0, orSuccess);
    orGetLastError();
    expect_nothing_held(function);
  }
}

}  // namespace

}  // namespace openreg::test
