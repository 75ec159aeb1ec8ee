// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include "allocator_fixture.h"

// The caching allocator: what it keeps, splits, joins and gives back, and what it says of it.

namespace openreg::test {

namespace {

class CachingTest : public AllocatorTest {};

TEST_F(CachingTest, FreedMemoryIsHandedOutAgain) {
  c10::DataPtr first = allocate(1000);
  void* const address = first.get();
  first.clear();
  EXPECT_EQ(allocate(900).get(), address);
  EXPECT_EQ(stats().num_device_alloc, 1);
  EXPECT_EQ(current(&DeviceStats::segment), 1);
  EXPECT_EQ(current(&DeviceStats::reserved_bytes, kSmall), 2 * int64_t{kMiB});
}

TEST_F(CachingTest, SmallAndLargeRequestsHavePoolsOfTheirOwn) {
  const c10::DataPtr small = allocate(kMiB);
  const c10::DataPtr large = allocate(kMiB + 1);
  const c10::DataPtr huge = allocate(25 * kMiB);
  EXPECT_EQ(current(&DeviceStats::reserved_bytes, kSmall), 2 * int64_t{kMiB});
  EXPECT_EQ(current(&DeviceStats::reserved_bytes, kLarge), (20 + 26) * int64_t{kMiB});
  EXPECT_EQ(current(&DeviceStats::allocation, kSmall), 1);
  EXPECT_EQ(current(&DeviceStats::allocation, kLarge), 2);
  EXPECT_EQ(current(&DeviceStats::inactive_split), 2);  // rests of the first two; that of the third is too small
}

TEST_F(CachingTest, BestFitSplitAndJoin) {
  std::vector<c10::DataPtr> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(allocate(100 * 1024));
  }
  void* const second = blocks[1].get();
  blocks[1].clear();
  const c10::DataPtr fits = allocate(100 * 1024);
  EXPECT_EQ(fits.get(), second) << "the hole fits better than the rest of the segment";
  blocks[2].clear();
  blocks[0].clear();
  EXPECT_EQ(current(&DeviceStats::inactive_split), 3);
  blocks[3].clear();
  EXPECT_EQ(current(&DeviceStats::inactive_split), 2) << "joined with its neighbours";
}

TEST_F(CachingTest, EmptyCacheGivesWholeSegmentsBack) {
  const size_t free_before = getDeviceAllocator()->getMemoryInfo(0).first;
  c10::DataPtr kept = allocate(1000);
  allocate(30 * kMiB).clear();
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 32 * int64_t{kMiB});
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 2 * int64_t{kMiB});
  kept.clear();
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(getDeviceAllocator()->getMemoryInfo(0).first, free_before);
  EXPECT_EQ(stats().num_device_alloc, stats().num_device_free);
}

// One thread's segment may get the address that another's has just given back.
TEST_F(CachingTest, ManyThreadsGiveSegmentsBackAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 300; ++round) {
        allocate(25 * kMiB).clear();
        getDeviceAllocator()->emptyCache();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(current(&DeviceStats::reserved_bytes), 0);
  EXPECT_EQ(current(&DeviceStats::segment), 0);
  EXPECT_TRUE(caching().snapshot({0, 0}, false).segments.empty());
}

TEST_F(CachingTest, StreamsDoNotShareFreeMemory) {
  c10::DataPtr first = allocate(1000);
  void* const address = first.get();
  first.clear();
  setCurrentStream(getStreamFromPool());
  EXPECT_NE(allocate(1000).get(), address);
}

TEST_F(CachingTest, RecordedStreamKeepsMemoryUntilItGotThere) {
  const OpenRegStream other = getStreamFromPool();
  c10::DataPtr data = allocate(1000);
  void* const address = data.get();
  Gate gate;
  OPENREG_HOLD_OR_SKIP(gate, other);
  getDeviceAllocator()->recordStream(data, other);
  data.clear();
  EXPECT_EQ(current(&DeviceStats::allocation), 0);
  EXPECT_EQ(current(&DeviceStats::active), 1);
  EXPECT_NE(allocate(1000).get(), address);
  gate.open();
  other.synchronize();
  const c10::DataPtr again = allocate(1000);
  EXPECT_EQ(current(&DeviceStats::active), 1);
}

TEST_F(CachingTest, RecordedStreamKeepsMemoryThatHasAnotherOwner) {
  const OpenRegStream other = getStreamFromPool();
  auto* const owner = new c10::DataPtr(allocate(1000));
  c10::DataPtr data(owner->get(), owner, [](void* context) { delete static_cast<c10::DataPtr*>(context); }, owner->device());
  void* const address = data.get();
  Gate gate;
  OPENREG_HOLD_OR_SKIP(gate, other);
  getDeviceAllocator()->recordStream(data, other);
  data.clear();
  EXPECT_EQ(current(&DeviceStats::active), 1);
  EXPECT_NE(allocate(1000).get(), address);
  gate.open();
  other.synchronize();
}

TEST_F(CachingTest, MaxSplitSizeKeepsLargeBlocksWhole) {
  use_settings("max_split_size_mb:21");
  allocate(60 * kMiB).clear();
  const c10::DataPtr medium = allocate(5 * kMiB);
  EXPECT_EQ(current(&DeviceStats::reserved_bytes, kLarge), (60 + 20) * int64_t{kMiB}) << "not from the large block";
  const c10::DataPtr oversize = allocate(50 * kMiB);
  EXPECT_EQ(stats().num_device_alloc, 2);
  EXPECT_EQ(stats().oversize_allocations.current, 1);
  EXPECT_EQ(stats().oversize_segments.current, 1);
  EXPECT_EQ(stats().max_split_size, 21 * int64_t{kMiB});
}

TEST_F(CachingTest, RoundingToDivisionsOfPowersOfTwo) {
  use_settings("roundup_power2_divisions:4");
  const c10::DataPtr data = allocate(1200 * 1024);
  EXPECT_EQ(current(&DeviceStats::allocated_bytes), 1280 * 1024);
  EXPECT_EQ(current(&DeviceStats::requested_bytes), 1200 * 1024);
}

TEST_F(CachingTest, GarbageIsCollectedBeforeMemoryRunsOut) {
  const size_t total = getDeviceAllocator()->getMemoryInfo(0).second;
  use_settings("garbage_collection_threshold:0.5");
  allocate(total / 3).clear();
  const c10::DataPtr other = allocate(total / 2);
  EXPECT_EQ(stats().num_alloc_retries, 0);
  EXPECT_LT(static_cast<size_t>(current(&DeviceStats::reserved_bytes)), total * 6 / 10);
}

TEST_F(CachingTest, CachedMemoryIsGivenBackBeforeMemoryRunsOut) {
  const size_t total = getDeviceAllocator()->getMemoryInfo(0).second;
  allocate(total / 2 + kMiB).clear();
  setCurrentStream(getStreamFromPool());
  EXPECT_NE(allocate(total / 2 + kMiB).get(), nullptr);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_ooms, 0);
}

TEST_F(CachingTest, FractionLimitsThisProcess) {
  const size_t total = getDeviceAllocator()->getMemoryInfo(0).second;
  caching().setMemoryFraction(0.5, 0);
  EXPECT_EQ(caching().getMemoryFraction(0), 0.5);
  EXPECT_THROW(allocate(total * 6 / 10), c10::OutOfMemoryError);
  EXPECT_NE(allocate(total * 4 / 10).get(), nullptr);
  EXPECT_THROW(caching().setMemoryFraction(1.5, 0), c10::Error);
}

TEST_F(CachingTest, OutOfMemoryTellsWhatToTry) {
  std::atomic<int> observed{0};
  static std::atomic<int>* observer_count = nullptr;
  observer_count = &observed;
  caching().attachOutOfMemoryObserver([](int64_t, size_t, size_t, size_t) {
    if (observer_count != nullptr) {
      ++*observer_count;
    }
  });
  const c10::DataPtr held = allocate(3 * kMiB);
  try {
    allocate(size_t{1} << 40);
    FAIL() << "nothing was thrown";
  } catch (const c10::OutOfMemoryError& error) {
    const std::string message = error.what();
    for (const char* part : {"1024.00 GiB", "free of", "3.00 MiB are allocated by PyTorch", "17.00 MiB are reserved by PyTorch",
             "PYTORCH_ALLOC_CONF="}) {
      EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
    }
  }
  observer_count = nullptr;
  EXPECT_EQ(observed, 1);
  EXPECT_EQ(stats().num_ooms, 1);
}

TEST_F(CachingTest, WithoutCachingEachAllocationIsTheDevices) {
  caching().enable(false);
  c10::DataPtr data = allocate(1000);
  caching().enable(true);
  EXPECT_EQ(current(&DeviceStats::allocation), 0);
  data.clear();
  EXPECT_EQ(orPeekAtLastError(), orSuccess);
}

// Whatever call of the device fails, statistics stay true, and after it all works as before.
TEST_F(CachingTest, EveryCallOfTheDeviceMayFail) {
  const size_t free_before = getDeviceAllocator()->getMemoryInfo(0).first;
  const OpenRegStream other = getStreamFromPool();
  for (const char* settings : {"", "expandable_segments:True"}) {
    use_settings(settings);
    for (const bool out_of_memory : {true, false}) {
      const orError_t error = out_of_memory ? orErrorMemoryAllocation : orErrorUnknown;
      for (int calls = 0; calls < 60; ++calls) {
        std::vector<c10::DataPtr> held;
        orDebugFailAfter(calls, error);
        try {
          held.push_back(caching().allocate(1000));
          held.push_back(caching().allocate(30 * kMiB));
          getDeviceAllocator()->recordStream(held[1], other);
          held[1].clear();
          held.push_back(caching().allocate(15 * kMiB));
          getDeviceAllocator()->emptyCache();
          held.push_back(caching().allocate(40 * kMiB));
        } catch (const c10::Error&) {
        }
        held.clear();
        orDebugFailAfter(-1, orSuccess);
        orGetLastError();
        set_device(0);
        getDeviceAllocator()->emptyCache();
        ASSERT_EQ(current(&DeviceStats::reserved_bytes), 0) << settings << ", after " << calls << " calls";
        ASSERT_EQ(current(&DeviceStats::active), 0);
        ASSERT_EQ(getDeviceAllocator()->getMemoryInfo(0).first, free_before);
      }
    }
  }
}

}  // namespace

}  // namespace openreg::test
