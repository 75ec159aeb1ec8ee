// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include "allocator_fixture.h"

// Expandable segments of the caching allocator.

namespace openreg::test {

namespace {

class ExpandableTest : public AllocatorTest {};

TEST_F(ExpandableTest, ExpandableSegmentsGrowAndShrink) {
  size_t granularity = 0;
  if (orMemGetAllocationGranularity(&granularity) != orSuccess) {
    GTEST_SKIP() << "the device has no virtual memory";
  }
  use_settings("expandable_segments:True");
  c10::DataPtr first = allocate(15 * kMiB);
  c10::DataPtr second = allocate(15 * kMiB);
  EXPECT_EQ(current(&DeviceStats::segment), 1);
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 40 * int64_t{kMiB});
  EXPECT_EQ(static_cast<char*>(second.get()) - static_cast<char*>(first.get()), 15 * int64_t{kMiB});
  size_t size = 0;
  EXPECT_EQ(caching().getBaseAllocation(second.get(), &size), first.get());
  EXPECT_EQ(size, 40 * kMiB);
  const SnapshotInfo snapshot = caching().snapshot({0, 0}, false);
  ASSERT_EQ(snapshot.segments.size(), 1U);
  EXPECT_TRUE(snapshot.segments[0].is_expandable);
  EXPECT_EQ(snapshot.segments[0].total_size, 40 * kMiB);
  second.clear();
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 20 * int64_t{kMiB});
  first.clear();
  second = allocate(35 * kMiB);  // the free block in front of the end counts
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 40 * int64_t{kMiB});
  second.clear();
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 0);
  EXPECT_EQ(current(&DeviceStats::segment), 0);
}

}  // namespace

}  // namespace openreg::test
