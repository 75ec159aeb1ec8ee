// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

namespace openreg::test {

namespace {

TEST_F(DeviceTest, CountsDevices) {
  EXPECT_GT(device_count(), 0);
  EXPECT_EQ(device_count_ensure_non_zero(), device_count());
}

TEST_F(DeviceTest, RefusesIndicesOutOfRange) {
  for (const int bad : {-2, -1, int{device_count()}, 100}) {
    EXPECT_THROW(check_device_index(static_cast<c10::DeviceIndex>(bad)), c10::Error) << bad;
  }
  EXPECT_THROW(set_device(device_count()), c10::Error);
  EXPECT_THROW(exchange_device(device_count()), c10::Error);
  EXPECT_THROW(device_properties(device_count()), c10::Error);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, ExchangeWithoutADeviceChangesNothing) {
  EXPECT_EQ(exchange_device(-1), -1);
  EXPECT_EQ(exchange_device(-1), -1);
  EXPECT_THROW(exchange_device(-2), c10::Error);
  EXPECT_THROW(exchange_device(-128), c10::Error);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, DescribesTheDevice) {
  const orDeviceProperties properties = device_properties(0);
  EXPECT_GT(std::char_traits<char>::length(properties.name), 0U);
  EXPECT_GT(properties.totalMemory, 0U);
}

TEST_F(DeviceTest, SynchronizeWaitsForAllStreams) {
  Gate gate;
  const OpenRegStream stream = getStreamFromPool();
  OPENREG_HOLD_OR_SKIP(gate, stream);
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    device_synchronize(0);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(done);
  gate.open();
  waiter.join();
  EXPECT_TRUE(stream.query());
}

TEST_F(TwoDevicesTest, ExchangesDevices) {
  EXPECT_EQ(exchange_device(1), 0);
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(exchange_device(0), 1);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(resolve_device_index(-1), 0);
}

TEST_F(TwoDevicesTest, CurrentDeviceBelongsToTheThread) {
  set_device(1);
  c10::DeviceIndex elsewhere = -1;
  std::thread([&] {
    elsewhere = current_device();
    set_device(0);
  }).join();
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(current_device(), 1);
}

// A child that was forked after the device was used must not use it, and must survive dropping its parent's memory.
TEST_F(DeviceTest, ForkedChildKnowsThatItIsBad) {
  c10::DataPtr memory = getDeviceAllocator()->allocate(64);
  ASSERT_TRUE(is_initialized());
  ASSERT_FALSE(isInBadFork());
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    int failures = isInBadFork() && !is_initialized() ? 0 : 1;
    try {
      initialize();
      failures |= 2;
    } catch (const c10::Error&) {
    }
    try {
      (void)getDeviceAllocator()->allocate(64);
      failures |= 4;
    } catch (const c10::Error&) {
    }
    memory.clear();
    _exit(failures);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(isInBadFork());
}

}  // namespace

}  // namespace openreg::test
