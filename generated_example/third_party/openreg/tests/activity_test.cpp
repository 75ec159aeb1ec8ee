// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "test_support.h"

// What the device records of what it did.
namespace {

std::vector<orActivity> read() {
  std::vector<orActivity> found(64);
  size_t count = 0;
  size_t lost = 0;
  EXPECT_EQ(orActivityRead(found.data(), found.size(), &count, &lost), orSuccess);
  EXPECT_EQ(lost, 0U);
  found.resize(count);
  return found;
}

uint64_t now() {
  uint64_t time = 0;
  EXPECT_EQ(orActivityTime(&time), orSuccess);
  return time;
}

class ActivityTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    read();
    ASSERT_EQ(orActivityEnable(1), orSuccess);
  }
  void TearDown() override {
    orActivityEnable(0);
    orActivityCorrelate(0);
    DeviceTest::TearDown();
  }
};

TEST_F(ActivityTest, KernelsHaveTheirTimesAndTheirCallers) {
  const uint64_t before = now();
  ASSERT_EQ(orActivityCorrelate(7), orSuccess);
  ASSERT_EQ(orActivityName("sleeper"), orSuccess);
  ASSERT_EQ(orLaunchKernel(nullptr, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }, nullptr), orSuccess);
  ASSERT_EQ(orLaunchKernel(nullptr, [](void*) {}, nullptr), orSuccess);
  ASSERT_EQ(orDeviceSynchronize(), orSuccess);
  const auto found = read();
  ASSERT_EQ(found.size(), 2U);
  const orActivity& first = found[0];
  EXPECT_EQ(first.kind, orActivityKernel);
  EXPECT_STREQ(first.name, "sleeper");
  EXPECT_EQ(found[1].name, nullptr) << "a name is of one kernel";
  EXPECT_EQ(first.correlation, 7U);
  EXPECT_EQ(found[1].correlation, 7U);
  EXPECT_EQ(first.device, 0);
  EXPECT_EQ(first.stream, 0);
  EXPECT_EQ(first.thread, static_cast<int>(gettid()));
  EXPECT_GE(first.queueStart, before);
  EXPECT_GE(first.queueEnd, first.queueStart);
  EXPECT_GE(first.start, first.queueStart);
  EXPECT_GE(first.end, first.start + 2000000);
  EXPECT_GE(found[1].start, first.end) << "a stream runs one task after another";
  EXPECT_GE(now(), found[1].end);
}

TEST_F(ActivityTest, CopiesSayWhatTheyMoved) {
  void* device = nullptr;
  void* pinned = nullptr;
  std::vector<char> host(100000);
  ASSERT_EQ(orMalloc(&device, host.size()), orSuccess);
  ASSERT_EQ(orMallocHost(&pinned, host.size()), orSuccess);
  ASSERT_EQ(orMemcpy(device, host.data(), host.size(), orMemcpyHostToDevice), orSuccess);
  ASSERT_EQ(orMemcpyAsync(pinned, device, 8, orMemcpyDeviceToHost, nullptr), orSuccess);
  ASSERT_EQ(orMemcpyAsync(device, host.data(), 16, orMemcpyHostToDevice, nullptr), orSuccess);
  ASSERT_EQ(orMemcpy(host.data(), device, 4, orMemcpyDeviceToHost), orSuccess);  // the host itself, where it may
  ASSERT_EQ(orMemset(device, 1, 32), orSuccess);
  ASSERT_EQ(orDeviceSynchronize(), orSuccess);
  const auto found = read();
  ASSERT_EQ(found.size(), 5U);
  const std::vector kinds{orActivityMemcpy, orActivityMemcpy, orActivityMemcpy, orActivityMemcpy, orActivityMemset};
  const std::vector directions{orMemcpyHostToDevice, orMemcpyDeviceToHost, orMemcpyHostToDevice, orMemcpyDeviceToHost};
  const std::vector pageable{1, 0, 1, 1, 0};
  const std::vector<uint64_t> bytes{host.size(), 8, 16, 4, 32};
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].kind, kinds[i]) << i;
    EXPECT_EQ(found[i].pageable, pageable[i]) << i;
    EXPECT_EQ(found[i].bytes, bytes[i]) << i;
    EXPECT_GE(found[i].end, found[i].start) << i;
    if (i < directions.size()) {
      EXPECT_EQ(found[i].copy, directions[i]) << i;
    }
  }
  EXPECT_EQ(orFreeHost(pinned), orSuccess);
  EXPECT_EQ(orFree(device), orSuccess);
}

TEST_F(ActivityTest, EachStreamHasItsNumber) {
  orStream_t stream = nullptr;
  ASSERT_EQ(orStreamCreate(&stream), orSuccess);
  ASSERT_EQ(orLaunchKernel(stream, [](void*) {}, nullptr), orSuccess);
  ASSERT_EQ(orStreamSynchronize(stream), orSuccess);
  const auto found = read();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0].stream, 0);
  EXPECT_EQ(orStreamDestroy(stream), orSuccess);
}

TEST_F(ActivityTest, NothingIsRecordedWhileItIsOff) {
  ASSERT_EQ(orActivityEnable(0), orSuccess);
  ASSERT_EQ(orLaunchKernel(nullptr, [](void*) {}, nullptr), orSuccess);
  ASSERT_EQ(orDeviceSynchronize(), orSuccess);
  EXPECT_TRUE(read().empty());
}

TEST_F(ActivityTest, ThreadsRecordSideBySide) {
  constexpr int kThreads = 8;
  constexpr int kEach = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      orActivityCorrelate(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < kEach; ++i) orLaunchKernel(nullptr, [](void*) {}, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(orDeviceSynchronize(), orSuccess);
  std::vector<int> of(kThreads, 0);
  for (auto found = read(); !found.empty(); found = read()) {
    for (const orActivity& activity : found) ++of.at(activity.correlation - 1);
  }
  for (const int count : of) EXPECT_EQ(count, kEach);
}

TEST_F(ActivityTest, BadArgumentsAreRefused) {
  size_t count = 0;
  size_t lost = 0;
  orActivity one;
  EXPECT_EQ(orActivityRead(nullptr, 1, &count, &lost), orErrorInvalidValue);
  EXPECT_EQ(orActivityRead(&one, 1, nullptr, &lost), orErrorInvalidValue);
  EXPECT_EQ(orActivityTime(nullptr), orErrorInvalidValue);
}

}  // namespace
