// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "test_support.h"

namespace {

TEST_F(DeviceTest, WorkOnAStreamRunsInOrder) {
  OwnedStream stream;
  std::vector<int> order;
  std::vector<std::function<void()>> kernels;
  for (int i = 0; i < 200; ++i) kernels.push_back([&order, i] { order.push_back(i); });
  for (auto& kernel : kernels) ASSERT_OK(run_on(stream.get(), kernel));
  ASSERT_OK(orStreamSynchronize(stream.get()));
  ASSERT_EQ(order.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

// More than a block of the queue holds, while it is filled and run dry again and again.
TEST_F(DeviceTest, QueuesGrowAndRunDry) {
  OwnedStream stream;
  std::vector<int> order;
  std::vector<std::function<void()>> kernels;
  for (int i = 0; i < 1000; ++i) kernels.push_back([&order, i] { order.push_back(i); });
  size_t next = 0;
  for (const size_t burst : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{300}, size_t{2}, size_t{505}}) {
    {
      Gate gate(stream.get());
      for (size_t i = 0; i < burst; ++i) ASSERT_OK(run_on(stream.get(), kernels[next++]));
    }
    ASSERT_OK(orStreamSynchronize(stream.get()));
  }
  ASSERT_EQ(order.size(), next);
  for (size_t i = 0; i < next; ++i) EXPECT_EQ(order[i], static_cast<int>(i));
}

TEST_F(DeviceTest, StreamsRunSideBySide) {
  OwnedStream blocked;
  OwnedStream other;
  Gate gate(blocked.get());
  bool ran = false;
  std::function<void()> kernel = [&] { ran = true; };
  ASSERT_OK(run_on(other.get(), kernel));
  ASSERT_OK(orStreamSynchronize(other.get()));
  EXPECT_TRUE(ran);
  EXPECT_EQ(orStreamQuery(blocked.get()), orErrorNotReady);
}

TEST_F(DeviceTest, QueryTellsWhetherWorkIsLeft) {
  OwnedStream stream;
  EXPECT_OK(orStreamQuery(stream.get()));
  {
    Gate gate(stream.get());
    EXPECT_EQ(orStreamQuery(stream.get()), orErrorNotReady);
    // An answer, not a failure.
    EXPECT_EQ(orPeekAtLastError(), orSuccess);
  }
  EXPECT_OK(orStreamSynchronize(stream.get()));
  EXPECT_OK(orStreamQuery(stream.get()));
}

TEST_F(DeviceTest, NullStreamIsTheCurrentDevicesDefault) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  Gate gate(nullptr);
  EXPECT_EQ(orStreamQuery(nullptr), orErrorNotReady);
  ASSERT_OK(orSetDevice(1));
  EXPECT_OK(orStreamQuery(nullptr));
  int device = -1;
  EXPECT_OK(orStreamGetDevice(nullptr, &device));
  EXPECT_EQ(device, 1);
  int priority = -1;
  EXPECT_OK(orStreamGetPriority(nullptr, &priority));
  EXPECT_EQ(priority, 0);
}

TEST_F(DeviceTest, StreamsBelongToTheDeviceTheyWereMadeOn) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  ASSERT_OK(orSetDevice(count - 1));
  OwnedStream stream;
  ASSERT_OK(orSetDevice(0));
  int device = -1;
  ASSERT_OK(orStreamGetDevice(stream.get(), &device));
  EXPECT_EQ(device, count - 1);
}

TEST_F(DeviceTest, PrioritiesAreClamped) {
  int least = -1;
  int greatest = 1;
  ASSERT_OK(orDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, 0);
  for (const auto& [asked, given] : {std::pair{least, least}, {greatest, greatest}, {100, least}, {-100, greatest}}) {
    OwnedStream stream(asked);
    int priority = 1;
    ASSERT_OK(orStreamGetPriority(stream.get(), &priority));
    EXPECT_EQ(priority, given);
  }
}

int nice_of_stream(int priority) {
  int value = 0;
  std::function<void()> kernel = [&] { value = getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); };
  OwnedStream stream(priority);
  EXPECT_OK(run_on(stream.get(), kernel));
  EXPECT_OK(orStreamSynchronize(stream.get()));
  return value;
}

TEST_F(DeviceTest, UrgentStreamsGetMoreOfTheCpuIfTheSystemLetsThem) {
  int least = 0;
  int greatest = 0;
  ASSERT_OK(orDeviceGetStreamPriorityRange(&least, &greatest));
  const int usual = nice_of_stream(least);
  const int urgent = nice_of_stream(greatest);
  // Who may lower a nice value: root, in the usual case.
  if (geteuid() == 0 && usual > -20) {
    if (urgent == usual) GTEST_SKIP() << "this system lets not even root change a thread's priority";
    EXPECT_LT(urgent, usual);
  } else {
    EXPECT_LE(urgent, usual);
  }
}

TEST_F(DeviceTest, DestroyedStreamsFinishTheirWork) {
  std::atomic<int> done{0};
  std::function<void()> kernel = [&] { ++done; };
  {
    OwnedStream stream;
    for (int i = 0; i < 50; ++i) ASSERT_OK(run_on(stream.get(), kernel));
  }
  ASSERT_OK(orDeviceSynchronize());
  EXPECT_EQ(done, 50);
}

TEST_F(DeviceTest, AKernelThatThrowsIsToldOnce) {
  OwnedStream stream;
  int after = 0;
  std::function<void()> bad = [] { throw std::runtime_error("kernel"); };
  std::function<void()> good = [&] { after = 1; };
  ASSERT_OK(run_on(stream.get(), bad));
  ASSERT_OK(run_on(stream.get(), good));
  EXPECT_EQ(orStreamSynchronize(stream.get()), orErrorUnknown);
  EXPECT_OK(orStreamSynchronize(stream.get()));
  EXPECT_EQ(after, 1);
  ASSERT_OK(run_on(stream.get(), bad));
  EXPECT_EQ(orDeviceSynchronize(), orErrorUnknown);
  EXPECT_OK(orDeviceSynchronize());
}

TEST_F(DeviceTest, KernelsCannotWaitForTheDevice) {
  std::vector<orError_t> results;
  OwnedEvent event;
  char byte = 0;
  Buffer buffer(1);
  std::function<void()> kernel = [&] {
    results.push_back(orDeviceSynchronize());
    results.push_back(orStreamSynchronize(nullptr));
    results.push_back(orEventSynchronize(event.get()));
    results.push_back(orMemcpy(&byte, buffer.get(), 1, orMemcpyDeviceToHost));
    results.push_back(orMemcpyAsync(&byte, buffer.get(), 1, orMemcpyDeviceToHost, nullptr));
    results.push_back(orMemset(buffer.get(), 0, 1));
  };
  ASSERT_OK(run_on(nullptr, kernel));
  ASSERT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(results, std::vector<orError_t>(6, orErrorNotSupported));
}

TEST_F(DeviceTest, BadStreamsAreErrors) {
  orStream_t destroyed = nullptr;
  ASSERT_OK(orStreamCreate(&destroyed));
  ASSERT_OK(orStreamDestroy(destroyed));
  OwnedEvent event;
  int value = 0;
  const auto never_made = reinterpret_cast<orStream_t>(&value);
  const auto an_event = reinterpret_cast<orStream_t>(event.get());
  for (orStream_t bad : {destroyed, never_made, an_event}) {
    EXPECT_EQ(orStreamDestroy(bad), orErrorInvalidHandle);
    EXPECT_EQ(orStreamSynchronize(bad), orErrorInvalidHandle);
    EXPECT_EQ(orStreamQuery(bad), orErrorInvalidHandle);
    EXPECT_EQ(orStreamWaitEvent(bad, event.get()), orErrorInvalidHandle);
    EXPECT_EQ(orStreamGetPriority(bad, &value), orErrorInvalidHandle);
    EXPECT_EQ(orStreamGetDevice(bad, &value), orErrorInvalidHandle);
    EXPECT_EQ(orEventRecord(event.get(), bad), orErrorInvalidHandle);
    EXPECT_EQ(orMemcpyAsync(nullptr, nullptr, 0, orMemcpyHostToHost, bad), orErrorInvalidHandle);
    EXPECT_EQ(orLaunchKernel(bad, [](void*) {}, nullptr), orErrorInvalidHandle);
  }
  EXPECT_EQ(orStreamDestroy(nullptr), orErrorInvalidHandle);
  EXPECT_EQ(orStreamCreate(nullptr), orErrorInvalidValue);
  EXPECT_EQ(orLaunchKernel(nullptr, nullptr, nullptr), orErrorInvalidValue);
  EXPECT_EQ(orStreamGetPriority(nullptr, nullptr), orErrorInvalidValue);
  EXPECT_EQ(orStreamGetDevice(nullptr, nullptr), orErrorInvalidValue);
}

// The stream's thread looks out for the next task before it sleeps, and so does the host: all four meetings of the two.
TEST_F(DeviceTest, NoWakeupIsLost) {
  OwnedStream stream;
  std::atomic<int> ran{0};
  std::function<void()> work = [&] { ++ran; };
  std::function<void()> slow = [&] {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    ++ran;
  };
  int launched = 0;
  for (int i = 0; i < 400; ++i) {
    const int burst = i % 3 + 1;
    for (int j = 0; j < burst; ++j) ASSERT_OK(run_on(stream.get(), i % 2 == 0 ? work : slow));
    launched += burst;
    if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 2));
    ASSERT_OK(orStreamSynchronize(stream.get()));
    ASSERT_EQ(ran, launched);
    ASSERT_OK(orStreamQuery(stream.get()));
  }
}

// A thread may be late to wake the stream's for a task that this one has seen by itself, and meanwhile went to sleep again.
TEST_F(DeviceTest, ALateWakeupLosesNoOther) {
  OwnedStream stream;
  std::atomic<int> ran{0};
  std::function<void()> work = [&] { ++ran; };
  constexpr int kThreads = 8;
  constexpr int kEach = 3000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        ASSERT_OK(run_on(stream.get(), work));
        // About as long as the stream's thread looks out before it sleeps.
        std::this_thread::sleep_for(std::chrono::microseconds((i * 7 + t * 13) % 90));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Polled: a wait would never end, and nobody would learn why.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (orStreamQuery(stream.get()) == orErrorNotReady && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(ran, kThreads * kEach) << "the stream's thread sleeps although there is work";
}

// Read at the first use of the device, so this happens in processes of their own.
class JitterDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
  void TearDown() override { unsetenv("OPENREG_STREAM_JITTER"); }
};

// Two streams that do not wait for each other; true if the second was first, at least once.
bool overtaken() {
  OwnedStream first;
  OwnedStream second;
  for (int i = 0; i < 100; ++i) {
    std::atomic<int> turn{0};
    int firsts = 0;
    std::function<void()> one = [&] { firsts = turn++; };
    std::function<void()> other = [&] { ++turn; };
    EXPECT_OK(run_on(first.get(), one));
    EXPECT_OK(run_on(second.get(), other));
    EXPECT_OK(orDeviceSynchronize());
    if (firsts == 1) return true;
  }
  return false;
}

TEST_F(JitterDeathTest, LateStreamsAreOvertaken) {
  setenv("OPENREG_STREAM_JITTER", "2000", 1);
  EXPECT_EXIT(exit(overtaken() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST_F(JitterDeathTest, NoNumber) {
  setenv("OPENREG_STREAM_JITTER", "much", 1);
  const auto use = [] {
    OwnedStream stream;
    std::function<void()> nothing = [] {};
    EXPECT_OK(run_on(stream.get(), nothing));
    EXPECT_OK(orStreamSynchronize(stream.get()));
    exit(0);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "OPENREG_STREAM_JITTER=much is not a number from 0 to 1000000; using 0");
}

}  // namespace
