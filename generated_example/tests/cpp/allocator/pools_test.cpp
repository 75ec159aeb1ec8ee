// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <unordered_set>

#include "allocator_fixture.h"
#include "runtime/PoolAllocator.h"

// Pools of the caching allocator: apart, during captures, checkpoints.

namespace openreg::test {

namespace {

class PoolsTest : public AllocatorTest {};

PoolAllocator& pools() {
  return *caching().pools();
}

TEST_F(PoolsTest, PoolsKeepTheirMemoryApart) {
  const c10::MempoolId_t pool{0, 7};
  allocate(1000).clear();
  pools().beginAllocateToPool(0, pool, [](auto) { return true; });
  EXPECT_THROW(pools().beginAllocateToPool(0, pool, [](auto) { return true; }), c10::Error);
  c10::DataPtr inside = allocate(1000);
  pools().endAllocateToPool(0, pool);
  EXPECT_EQ(stats().num_device_alloc, 2);
  EXPECT_EQ(pools().getPoolUseCount(0, pool), 1);
  EXPECT_TRUE(pools().checkPoolLiveAllocations(0, pool, {inside.get()}));
  EXPECT_FALSE(pools().checkPoolLiveAllocations(0, pool, {}));
  EXPECT_EQ(stats().reserved_bytes_by_private_pools.at(pool)[kAll].current, 2 * int64_t{kMiB});
  EXPECT_EQ(caching().snapshot(pool, false).segments.size(), 1U);
  inside.clear();
  const c10::DataPtr outside = allocate(1000);
  EXPECT_EQ(caching().snapshot(pool, false).segments.at(0).active_size, 0U);
  pools().releasePool(0, pool);
  EXPECT_EQ(pools().getPoolUseCount(0, pool), 0);
  getDeviceAllocator()->emptyCache();
  EXPECT_TRUE(caching().snapshot(pool, false).segments.empty());
  EXPECT_THROW(pools().releasePool(0, pool), c10::Error);
}

TEST_F(PoolsTest, CaptureDefersEvents) {
  const OpenRegStream other = getStreamFromPool();
  c10::DataPtr data = allocate(1000);
  getDeviceAllocator()->recordStream(data, other);
  pools().markCaptureBegin(0);
  data.clear();
  allocate(1).clear();
  EXPECT_EQ(current(&DeviceStats::active), 1);
  pools().markCaptureEnd(0);
  other.synchronize();
  allocate(1).clear();
  EXPECT_EQ(current(&DeviceStats::active), 0);
}

TEST_F(PoolsTest, CheckpointBringsBlocksBack) {
  const c10::MempoolId_t pool{3, 0};
  pools().beginAllocateToPool(0, pool, [](auto) { return true; });
  c10::DataPtr first = allocate(1000);
  c10::DataPtr second = allocate(5000);
  void* const kept = second.get();
  first.clear();
  const auto state = pools().getCheckpointState(0, pool);
  second.clear();
  c10::DataPtr other = allocate(2000);
  void* const replaced = other.get();
  CheckpointDelta delta = pools().setCheckpointPoolState(0, state);
  EXPECT_EQ(delta.ptrs_freed, std::vector<void*>{replaced});
  ASSERT_EQ(delta.dataptrs_allocd.size(), 1U);
  EXPECT_EQ(delta.dataptrs_allocd[0].get(), kept);
  EXPECT_TRUE(pools().checkPoolLiveAllocations(0, pool, {kept}));
  static_cast<void>(other.release_context());  // freed by the restoration
  EXPECT_EQ(current(&DeviceStats::requested_bytes), 5000);
  pools().endAllocateToPool(0, pool);
  delta.dataptrs_allocd.clear();
  pools().releasePool(0, pool);
}

}  // namespace

}  // namespace openreg::test
