// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include "allocator_fixture.h"

// The block that was freed last is not joined with its neighbours yet. Nothing but time may show it.

namespace openreg::test {

namespace {

class WarmBlockTest : public AllocatorTest {};

TEST_F(WarmBlockTest, CountsAsJoined) {
  allocate(1000).clear();
  DeviceStats now = stats();
  EXPECT_EQ(now.inactive_split[kAll].current, 0) << "the segment is in one piece";
  EXPECT_EQ(now.inactive_split_bytes[kAll].current, 0);
  EXPECT_EQ(now.inactive_split_bytes[kAll].peak, static_cast<int64_t>(2 * kMiB) - 1024);
  getDeviceAllocator()->resetPeakStats(0);
  const c10::DataPtr other = allocate(3000);
  now = stats();
  EXPECT_EQ(now.inactive_split[kAll].peak, 1);
  EXPECT_EQ(now.inactive_split_bytes[kAll].peak, static_cast<int64_t>(2 * kMiB) - 3072);
}

TEST_F(WarmBlockTest, IsJoinedForWhatIsLarger) {
  std::vector<c10::DataPtr> blocks;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(allocate(5 * kMiB));
  }
  void* const first = blocks[0].get();
  blocks[0].clear();
  blocks[1].clear();
  EXPECT_EQ(allocate(9 * kMiB).get(), first);
  blocks[1] = allocate(5 * kMiB);
  blocks[2].clear();
  EXPECT_NE(allocate(7 * kMiB).get(), nullptr);
  EXPECT_EQ(stats().num_device_alloc, 1) << "all came from one segment";
}

TEST_F(WarmBlockTest, IsNotAllocated) {
  auto& caching = *getCachingAllocator();
  c10::DataPtr data = allocate(1000);
  void* const address = data.get();
  const OpenRegStream other = getStreamFromPool();
  data.clear();
  EXPECT_THROW(caching.getBaseAllocation(address, nullptr), c10::Error);
  EXPECT_EQ(caching.getContextForPointer(address), nullptr);
  const c10::DataPtr stale(address, address, caching.raw_deleter(), c10::Device(c10::DeviceType::PrivateUse1, 0));
  getDeviceAllocator()->recordStream(stale, other);
  data = allocate(1000);
  ASSERT_EQ(data.get(), address);
  data.clear();
  EXPECT_EQ(stats().active[kAll].current, 0) << "it waits for no stream";
  static_cast<void>(const_cast<c10::DataPtr&>(stale).release_context());
}

TEST_F(WarmBlockTest, GoesBackToTheDevice) {
  allocate(25 * kMiB).clear();
  allocate(1000).clear();
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(stats().reserved_bytes[kAll].current, 0);
  EXPECT_EQ(stats().num_device_free, 2);
}

TEST_F(WarmBlockTest, EachStreamAndPoolHasItsOwn) {
  void* const small = allocate(1000).get();
  void* const large = allocate(3 * kMiB).get();
  setCurrentStream(getStreamFromPool());
  EXPECT_NE(allocate(1000).get(), small);
  setCurrentStream(getDefaultStream(0));
  EXPECT_EQ(allocate(1000).get(), small);
  EXPECT_EQ(allocate(3 * kMiB).get(), large);
}

// Few sizes, so that it is often hit; compared with the snapshot, which joins it, only now and then.
TEST_F(WarmBlockTest, StatisticsAreTheSnapshotsAtAnyTime) {
  std::mt19937_64 random(7);
  const size_t sizes[] = {512, 1024, 100'000, kMiB, 2 * kMiB, 5 * kMiB, 25 * kMiB};
  for (const char* settings : {"", "expandable_segments:True", "max_split_size_mb:21"}) {
    use_settings(settings);
    std::vector<c10::DataPtr> live;
    for (int step = 0; step < 3000; ++step) {
      if (live.empty() || (live.size() < 30 && random() % 2 == 0)) {
        live.push_back(allocate(sizes[random() % std::size(sizes)]));
      } else {
        std::swap(live[random() % live.size()], live.back());
        live.pop_back();
      }
      if (random() % 7 == 0) {
        check_against_snapshot(0);
      }
      if (random() % 200 == 0) {
        getDeviceAllocator()->emptyCache();
      }
      ASSERT_FALSE(testing::Test::HasFailure()) << settings << ", step " << step;
    }
  }
}

}  // namespace

}  // namespace openreg::test
