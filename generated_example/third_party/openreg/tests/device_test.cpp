// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "test_support.h"

namespace {

TEST_F(DeviceTest, CountComesFromTheEnvironment) {
  const char* wanted = std::getenv("OPENREG_DEVICE_COUNT");
  int count = -1;
  ASSERT_OK(orGetDeviceCount(&count));
  EXPECT_EQ(count, wanted == nullptr ? 2 : std::atoi(wanted));
  EXPECT_EQ(orGetDeviceCount(nullptr), orErrorInvalidValue);
}

TEST_F(DeviceTest, CurrentDeviceBelongsToTheThread) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  const int last = count - 1;
  ASSERT_OK(orSetDevice(last));
  int elsewhere = -1;
  std::thread([&] { EXPECT_OK(orGetDevice(&elsewhere)); }).join();
  EXPECT_EQ(elsewhere, 0);
  int here = -1;
  EXPECT_OK(orGetDevice(&here));
  EXPECT_EQ(here, last);
}

TEST_F(DeviceTest, InvalidDevicesAreRefusedAndChangeNothing) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  for (const int device : {-1, count, 1000}) {
    EXPECT_EQ(orSetDevice(device), orErrorInvalidDevice);
    orDeviceProperties properties;
    EXPECT_EQ(orGetDeviceProperties(&properties, device), orErrorInvalidDevice);
  }
  int current = -1;
  EXPECT_OK(orGetDevice(&current));
  EXPECT_EQ(current, 0);
  EXPECT_EQ(orGetDevice(nullptr), orErrorInvalidValue);
  EXPECT_EQ(orGetDeviceProperties(nullptr, 0), orErrorInvalidValue);
}

TEST_F(DeviceTest, PropertiesDescribeTheSimulation) {
  orDeviceProperties properties;
  ASSERT_OK(orGetDeviceProperties(&properties, 0));
  EXPECT_NE(std::strlen(properties.name), 0u);
  EXPECT_EQ(properties.totalMemory, size_t{1073741824});
  EXPECT_GE(properties.multiProcessorCount, 1);
  EXPECT_GE(properties.hostAccessible, 1);  // 2 without isolation
}

TEST_F(DeviceTest, SynchronizeWaitsForAllStreamsOfTheDevice) {
  OwnedStream first;
  OwnedStream second;
  std::atomic<int> done{0};
  std::function<void()> slow = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++done;
  };
  EXPECT_OK(run_on(first.get(), slow));
  EXPECT_OK(run_on(second.get(), slow));
  EXPECT_OK(run_on(nullptr, slow));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(done, 3);
}

TEST_F(DeviceTest, SynchronizeWaitsForDestroyedStreams) {
  std::atomic<bool> done{false};
  std::function<void()> slow = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = true;
  };
  {
    OwnedStream stream;
    EXPECT_OK(run_on(stream.get(), slow));
  }
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_TRUE(done);
}

TEST_F(DeviceTest, SynchronizeLeavesOtherDevicesAlone) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  ASSERT_OK(orSetDevice(1));
  OwnedStream stream;
  Gate gate(stream.get());
  ASSERT_OK(orSetDevice(0));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(orStreamQuery(stream.get()), orErrorNotReady);
}

}  // namespace
