// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <c10/core/AllocatorConfig.h>

#include "fixture.h"

namespace openreg::test {

namespace {

using c10::CachingAllocator::StatArray;
using c10::CachingDeviceAllocator::DeviceStats;

constexpr size_t kAll = 0;
constexpr size_t kSmall = 1;
constexpr size_t kLarge = 2;
constexpr size_t kMiB = 1 << 20;
constexpr int64_t kAlignment = 64;
// Sizes are multiples of it.
constexpr int64_t kUnit = std::max<int64_t>(kAlignment, c10::CachingAllocator::kMinBlockSize);

c10::DeviceAllocator& allocator() {
  return *getDeviceAllocator();
}

DeviceStats stats(int device = 0) {
  return allocator().getDeviceStats(static_cast<c10::DeviceIndex>(device));
}

int64_t growth(const StatArray& before, const StatArray& after, size_t pool) {
  return after[pool].current - before[pool].current;
}

TEST(Allocator, IsRegistered) {
  EXPECT_EQ(c10::GetAllocator(c10::DeviceType::PrivateUse1), getDeviceAllocator());
  EXPECT_EQ(c10::getDeviceAllocator(c10::DeviceType::PrivateUse1), getDeviceAllocator());
  EXPECT_EQ(allocator().initialized(), device_count() > 0);
}

TEST_F(DeviceTest, AllocationIsDeviceMemoryOfItsOwn) {
  const std::vector<uint8_t> bytes = counting(1000);
  const c10::DataPtr first = allocator().allocate(bytes.size());
  const c10::DataPtr second = allocator().allocate(bytes.size());
  EXPECT_EQ(first.device(), c10::Device(c10::DeviceType::PrivateUse1, 0));
  EXPECT_NE(first.get(), second.get());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.get()) % kAlignment, 0U);
  EXPECT_TRUE(allocator().is_simple_data_ptr(first));
  upload(first.get(), bytes);
  upload(second.get(), std::vector<uint8_t>(bytes.size(), 7));
  EXPECT_EQ(download(first.get(), bytes.size()), bytes);
}

TEST_F(DeviceTest, NothingIsAllocatedForNoBytes) {
  const DeviceStats before = stats();
  const c10::DataPtr data = allocator().allocate(0);
  EXPECT_EQ(data.get(), nullptr);
  EXPECT_EQ(data.device(), c10::Device(c10::DeviceType::PrivateUse1, 0));
  EXPECT_EQ(stats().num_device_alloc, before.num_device_alloc);
}

TEST_F(DeviceTest, StatisticsAreTrue) {
  allocator().emptyCache();  // so that both requests below need memory of the device
  const DeviceStats before = stats();
  c10::DataPtr small = allocator().allocate(1);
  c10::DataPtr large = allocator().allocate(2 * kMiB - 1);  // rounds to the same by all settings
  const DeviceStats held = stats();
  for (auto counts : {&DeviceStats::allocation, &DeviceStats::segment, &DeviceStats::active}) {
    EXPECT_EQ(growth(before.*counts, held.*counts, kAll), 2);
    EXPECT_EQ(growth(before.*counts, held.*counts, kSmall), 1);
    EXPECT_EQ(growth(before.*counts, held.*counts, kLarge), 1);
  }
  EXPECT_EQ(growth(before.requested_bytes, held.requested_bytes, kSmall), 1);
  EXPECT_EQ(growth(before.requested_bytes, held.requested_bytes, kLarge), 2 * int64_t{kMiB} - 1);
  const int64_t rounded = 2 * int64_t{kMiB};
  for (auto sizes : {&DeviceStats::allocated_bytes, &DeviceStats::active_bytes}) {
    EXPECT_EQ(growth(before.*sizes, held.*sizes, kSmall), kUnit);
    EXPECT_EQ(growth(before.*sizes, held.*sizes, kLarge), rounded);
    EXPECT_EQ(growth(before.*sizes, held.*sizes, kAll), rounded + kUnit);
  }
  EXPECT_EQ(growth(before.reserved_bytes, held.reserved_bytes, kSmall), 2 * int64_t{kMiB});
  EXPECT_EQ(growth(before.reserved_bytes, held.reserved_bytes, kLarge), 20 * int64_t{kMiB});
  EXPECT_EQ(held.num_device_alloc - before.num_device_alloc, 2);
  small.clear();
  large.clear();
  allocator().emptyCache();
  const DeviceStats after = stats();
  for (const size_t pool : {kAll, kSmall, kLarge}) {
    EXPECT_EQ(growth(before.allocated_bytes, after.allocated_bytes, pool), 0);
    EXPECT_EQ(growth(before.allocation, after.allocation, pool), 0);
    EXPECT_EQ(growth(before.reserved_bytes, after.reserved_bytes, pool), 0);
  }
  EXPECT_EQ(after.num_device_free - before.num_device_free, 2);
  EXPECT_GE(after.allocated_bytes[kAll].peak, held.allocated_bytes[kAll].current);
}

TEST_F(DeviceTest, OneMebibyteIsStillSmall) {
  const DeviceStats before = stats();
  const c10::DataPtr data = allocator().allocate(kMiB);
  EXPECT_EQ(growth(before.allocation, stats().allocation, kSmall), 1);
  EXPECT_EQ(growth(before.allocation, stats().allocation, kLarge), 0);
}

TEST_F(DeviceTest, StatisticsAreReset) {
  allocator().allocate(4 * kMiB).clear();
  allocator().resetPeakStats(0);
  EXPECT_EQ(stats().allocated_bytes[kAll].peak, stats().allocated_bytes[kAll].current);
  EXPECT_GT(stats().allocation[kAll].allocated, 0);
  allocator().resetAccumulatedStats(0);
  EXPECT_EQ(stats().allocation[kAll].allocated, 0);
  EXPECT_EQ(stats().allocation[kAll].freed, 0);
  EXPECT_EQ(stats().num_device_alloc, 0);
  EXPECT_THROW(stats(device_count()), c10::Error);
}

TEST_F(DeviceTest, LackOfMemoryTellsSizes) {
  const DeviceStats before = stats();
  const size_t total = allocator().getMemoryInfo(0).second;
  try {
    allocator().allocate(total + 1);
    FAIL() << "nothing was thrown";
  } catch (const c10::OutOfMemoryError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(contains(message, std::to_string(total + 1) + " bytes")) << message;
    EXPECT_TRUE(contains(message, " free of ")) << message;
  }
  EXPECT_THROW(allocator().allocate(std::numeric_limits<size_t>::max()), c10::OutOfMemoryError);
  EXPECT_EQ(stats().num_ooms - before.num_ooms, 2);
  EXPECT_EQ(growth(before.allocation, stats().allocation, kAll), 0);
  EXPECT_EQ(orPeekAtLastError(), orSuccess);
  EXPECT_NE(allocator().allocate(64).get(), nullptr);
}

TEST_F(DeviceTest, MemoryInfoFollowsAllocations) {
  const auto [free_before, total] = allocator().getMemoryInfo(0);
  EXPECT_LE(free_before, total);
  const c10::DataPtr data = allocator().allocate(8 * kMiB);
  EXPECT_LE(allocator().getMemoryInfo(0).first + 8 * kMiB, free_before);
}

TEST_F(DeviceTest, RawInterfaceAndCloneWork) {
  const std::vector<uint8_t> bytes = counting(300);
  ASSERT_NE(allocator().raw_deleter(), nullptr);
  void* raw = allocator().raw_allocate(bytes.size());
  upload(raw, bytes);
  const c10::DataPtr copy = allocator().clone(raw, bytes.size());
  allocator().raw_deallocate(raw);
  EXPECT_EQ(download(copy.get(), bytes.size()), bytes);
}

TEST_F(DeviceTest, FreeDoesNotWaitForQueuedWork) {
  Gate gate;
  c10::DataPtr data = allocator().allocate(64);
  OPENREG_HOLD_OR_SKIP(gate, getCurrentStream());
  void* const address = data.get();
  data.clear();
  EXPECT_EQ(allocator().allocate(64).get(), address) << "the same stream uses it after what is queued";
  EXPECT_FALSE(getCurrentStream().query());
}

// The copy waits for what the stream has yet to do with the source, and with what used the copy's memory before.
TEST_F(DeviceTest, CloneIsOrderedWithTheCurrentStream) {
  setCurrentStream(getStreamFromPool());
  const std::vector<uint8_t> bytes = counting(300);
  c10::DataPtr source = allocator().allocate(bytes.size());
  upload(source.get(), bytes);
  c10::DataPtr before = allocator().allocate(bytes.size());
  Gate gate;
  OPENREG_HOLD_OR_SKIP(gate, getCurrentStream());
  OPENREG_CHECK(orMemsetAsync(before.get(), 7, bytes.size(), getCurrentStream().stream()));
  before.clear();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  const c10::DataPtr copy = allocator().clone(source.get(), bytes.size());
  opener.join();
  getCurrentStream().synchronize();
  EXPECT_EQ(download(copy.get(), bytes.size()), bytes);
}

TEST_F(DeviceTest, RecordStreamTakesOnlyStreamsOfTheDevice) {
  const c10::DataPtr data = allocator().allocate(64);
  EXPECT_NO_THROW(allocator().recordStream(data, getStreamFromPool()));
  EXPECT_THROW(allocator().recordStream(data, c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU))), c10::Error);
}

TEST_F(DeviceTest, ManyThreadsAllocateAtOnce) {
  const DeviceStats before = stats();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < 50; ++round) {
        const std::vector<uint8_t> bytes(100, static_cast<uint8_t>(i * 50 + round));
        const c10::DataPtr data = allocator().allocate(bytes.size());
        upload(data.get(), bytes);
        EXPECT_EQ(download(data.get(), bytes.size()), bytes);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(stats().allocation[kAll].allocated - before.allocation[kAll].allocated, 200);
  EXPECT_EQ(stats().allocation[kAll].freed - before.allocation[kAll].freed, 200);
  EXPECT_LE(stats().num_device_alloc - before.num_device_alloc, 4);
  EXPECT_EQ(growth(before.allocated_bytes, stats().allocated_bytes, kAll), 0);
}

struct Profiler final : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device device) override {
    EXPECT_EQ(device.type(), c10::DeviceType::PrivateUse1);
    sizes.push_back(size);
  }
  void reportOutOfMemory(int64_t, size_t, size_t, c10::Device) override { ++ooms; }
  bool memoryProfilingEnabled() const override { return true; }
  std::vector<int64_t> sizes;
  int ooms = 0;
};

TEST_F(DeviceTest, ProfilerHearsOfMemory) {
  const auto profiler = std::make_shared<Profiler>();
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, profiler);
    allocator().allocate(1).clear();
    EXPECT_THROW(allocator().allocate(std::numeric_limits<size_t>::max()), c10::OutOfMemoryError);
  }
  EXPECT_EQ(profiler->sizes, (std::vector<int64_t>{kUnit, -kUnit}));
  EXPECT_EQ(profiler->ooms, 1);
}

TEST_F(TwoDevicesTest, MemoryIsOfTheCurrentDevice) {
  const DeviceStats before = stats(1);
  set_device(1);
  c10::DataPtr data = allocator().allocate(100);
  set_device(0);
  EXPECT_EQ(data.device().index(), 1);
  EXPECT_EQ(allocator().allocate(0).device().index(), 0);
  EXPECT_EQ(growth(before.allocation, stats(1).allocation, kAll), 1);
  data.clear();  // with another device current
  EXPECT_EQ(growth(before.allocation, stats(1).allocation, kAll), 0);
}

}  // namespace

}  // namespace openreg::test
