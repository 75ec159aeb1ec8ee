// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "allocator_fixture.h"

// What a tracker of the allocator's trace receives. There is no way to detach one: they stay, and look whether they are on.

namespace openreg::test {

namespace {

struct TraceReport {
  TraceEntry::Action action;
  size_t address;
  size_t size;
  c10::DeviceIndex device;
};

std::mutex reported_mutex;
std::vector<TraceReport>* reported = nullptr;  // guarded by reported_mutex; null: off

class TrackerTest : public AllocatorTest {
 protected:
  void SetUp() override {
    AllocatorTest::SetUp();
    static std::once_flag once;
    std::call_once(once, [] {
      getCachingAllocator()->attachAllocatorTraceTracker([](const TraceEntry& entry) {
        const std::lock_guard<std::mutex> lock(reported_mutex);
        if (reported != nullptr) {
          reported->push_back({entry.action_, entry.addr_, entry.size_, entry.device_});
        }
      });
    });
    set(&entries_);
  }
  void TearDown() override {
    set(nullptr);
    AllocatorTest::TearDown();
  }

  static void set(std::vector<TraceReport>* where) {
    const std::lock_guard<std::mutex> lock(reported_mutex);
    reported = where;
  }
  std::vector<TraceEntry::Action> actions() const {
    std::vector<TraceEntry::Action> all;
    for (const TraceReport& entry : entries_) {
      all.push_back(entry.action);
    }
    return all;
  }

  std::vector<TraceReport> entries_;
};

// A context that asks another thread to use the allocator when it is destroyed, which fails while its lock is held.
struct LookingContext final : c10::GatheredContext {
  static inline std::atomic<int> gone{0}, waited{0};
  static inline std::vector<std::future<void>> threads;
  ~LookingContext() override {
    ++gone;
    std::future<void> done = std::async(std::launch::async, [] { getDeviceAllocator()->getDeviceStats(0); });
    if (done.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      ++waited;
    }
    threads.push_back(std::move(done));
  }
};

TEST_F(AllocatorTest, ContextsAreDestroyedWithoutTheLock) {
  const auto recorder = [] { return std::shared_ptr<c10::GatheredContext>(std::make_shared<LookingContext>()); };
  const OpenRegStream other = getStreamFromPool();
  getDeviceAllocator()->allocate(1000).clear();  // a segment keeps the context of the allocation that it was made for
  getCachingAllocator()->recordHistory(true, recorder, 1, RecordContext::STATE, true, {});
  c10::DataPtr data = getDeviceAllocator()->allocate(1000);
  getDeviceAllocator()->recordStream(data, other);
  data.clear();
  other.synchronize();
  getDeviceAllocator()->allocate(1).clear();  // finds that the stream is done with it
  getCachingAllocator()->recordHistory(false, nullptr, 1, RecordContext::NEVER, true, {});
  getDeviceAllocator()->allocate(1).clear();
  LookingContext::threads.clear();  // waits
  EXPECT_GT(LookingContext::gone, 0);
  EXPECT_EQ(LookingContext::waited, 0);
}

TEST_F(AllocatorTest, HistoryTellsWhatHappened) {
  struct TestContext : c10::GatheredContext {};
  const auto recorder = []() -> std::shared_ptr<c10::GatheredContext> { return std::make_shared<TestContext>(); };
  getCachingAllocator()->recordHistory(true, recorder, 100, RecordContext::ALL, true, {"free_requested"});
  c10::DataPtr data = getDeviceAllocator()->allocate(1000);
  EXPECT_NE(getCachingAllocator()->getContextForPointer(data.get()), nullptr);
  data.clear();
  getDeviceAllocator()->emptyCache();
  EXPECT_THROW(getDeviceAllocator()->allocate(size_t{1} << 40), c10::OutOfMemoryError);
  const SnapshotInfo info = getCachingAllocator()->snapshot();
  std::vector<TraceEntry::Action> actions;
  for (const TraceEntry& entry : info.device_traces.at(0)) {
    actions.push_back(entry.action_);
    EXPECT_GT(entry.time_.t_, 1'600'000'000'000'000) << "microseconds since 1970";
  }
  const std::vector<TraceEntry::Action> expected{TraceEntry::SEGMENT_ALLOC, TraceEntry::ALLOC, TraceEntry::FREE_COMPLETED,
      TraceEntry::SEGMENT_FREE, TraceEntry::OOM, TraceEntry::SNAPSHOT};
  EXPECT_EQ(actions, expected);
  getCachingAllocator()->recordHistory(true, recorder, 2, RecordContext::NEVER, false, {});
  EXPECT_EQ(getCachingAllocator()->snapshot().device_traces.at(0).size(), 2U) << "the oldest are forgotten";
  getCachingAllocator()->recordHistory(false, nullptr, 1, RecordContext::NEVER, true, {});
  EXPECT_FALSE(getCachingAllocator()->isHistoryEnabled());
  EXPECT_THROW(getCachingAllocator()->recordHistory(true, nullptr, 1, RecordContext::ALL, true, {}), c10::Error);
}

TEST_F(TrackerTest, IsToldOfAllThatHappensWithoutHistory) {
  ASSERT_FALSE(getCachingAllocator()->isHistoryEnabled());
  c10::DataPtr data = getDeviceAllocator()->allocate(1000);
  const auto address = reinterpret_cast<size_t>(data.get());
  data.clear();
  getDeviceAllocator()->allocate(1000).clear();  // the same block again
  getDeviceAllocator()->emptyCache();
  const std::vector<TraceEntry::Action> expected{TraceEntry::SEGMENT_ALLOC, TraceEntry::ALLOC, TraceEntry::FREE_REQUESTED,
      TraceEntry::FREE_COMPLETED, TraceEntry::ALLOC, TraceEntry::FREE_REQUESTED, TraceEntry::FREE_COMPLETED,
      TraceEntry::SEGMENT_FREE};
  EXPECT_EQ(actions(), expected);
  for (const TraceReport& entry : entries_) {
    const bool whole = entry.action == TraceEntry::SEGMENT_ALLOC || entry.action == TraceEntry::SEGMENT_FREE;
    EXPECT_EQ(entry.address, address);
    EXPECT_EQ(entry.size, whole ? 2 * kMiB : 1000);
    EXPECT_EQ(entry.device, 0);
  }
}

TEST_F(TrackerTest, IsToldOfMappingAndOfRunningOut) {
  if (!segments_grow()) {
    GTEST_SKIP() << "no virtual memory";
  }
  getDeviceAllocator()->emptyCache();
  entries_.clear();
  getDeviceAllocator()->allocate(15 * kMiB).clear();
  getDeviceAllocator()->emptyCache();
  EXPECT_THROW(getDeviceAllocator()->allocate(size_t{1} << 40), c10::OutOfMemoryError);
  const std::vector<TraceEntry::Action> expected{TraceEntry::SEGMENT_MAP, TraceEntry::ALLOC, TraceEntry::FREE_REQUESTED,
      TraceEntry::FREE_COMPLETED, TraceEntry::SEGMENT_UNMAP, TraceEntry::OOM};
  EXPECT_EQ(actions(), expected);
  EXPECT_EQ(entries_.back().size, size_t{1} << 40);
}

TEST_F(TrackerTest, IsToldOfEachDevice) {
  if (device_count() < 2) {
    GTEST_SKIP() << "there is one device";
  }
  const OpenRegGuard guard(1);
  getDeviceAllocator()->allocate(1000).clear();
  ASSERT_FALSE(entries_.empty());
  EXPECT_EQ(entries_.back().device, 1);
}

}  // namespace

}  // namespace openreg::test
