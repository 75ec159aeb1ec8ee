// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <cstdint>

#include "test_support.h"

namespace {

size_t free_memory() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_OK(orMemGetInfo(&free, &total));
  EXPECT_LE(free, total);
  return free;
}

TEST_F(DeviceTest, MallocTakesMemoryAndFreeGivesItBack) {
  const size_t before = free_memory();
  void* pointer = nullptr;
  ASSERT_OK(orMalloc(&pointer, 100000));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 256, 0u);
  EXPECT_LE(free_memory() + 100000, before);
  EXPECT_OK(orFree(pointer));
  EXPECT_EQ(free_memory(), before);
}

TEST_F(DeviceTest, MallocOfNothingIsNull) {
  void* pointer = &pointer;
  EXPECT_OK(orMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_OK(orFree(nullptr));
  EXPECT_EQ(orMalloc(nullptr, 1), orErrorInvalidValue);
}

TEST_F(DeviceTest, OutOfMemoryIsAnErrorAndLeavesTheRestUsable) {
  size_t free = 0;
  size_t total = 0;
  ASSERT_OK(orMemGetInfo(&free, &total));
  for (const size_t size : {free + 1, total * 2, SIZE_MAX, SIZE_MAX - 4096}) {
    void* pointer = &pointer;
    EXPECT_EQ(orMalloc(&pointer, size), orErrorMemoryAllocation);
    EXPECT_EQ(pointer, nullptr);
  }
  Buffer all(free);
  EXPECT_EQ(free_memory(), 0u);
  void* more = nullptr;
  EXPECT_EQ(orMalloc(&more, 1), orErrorMemoryAllocation);
}

TEST_F(DeviceTest, DevicesHaveMemoryOfTheirOwn) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  ASSERT_OK(orSetDevice(1));
  const size_t before = free_memory();
  ASSERT_OK(orSetDevice(0));
  Buffer buffer(1 << 20);
  ASSERT_OK(orSetDevice(1));
  EXPECT_EQ(free_memory(), before);
  // Freeing needs no current device.
}

TEST_F(DeviceTest, BadFreesAreErrors) {
  void* pointer = nullptr;
  ASSERT_OK(orMalloc(&pointer, 8192));
  int local = 0;
  EXPECT_EQ(orFree(&local), orErrorInvalidValue);
  EXPECT_EQ(orFree(static_cast<char*>(pointer) + 4096), orErrorInvalidValue);
  EXPECT_EQ(orFreeHost(pointer), orErrorInvalidValue);
  EXPECT_OK(orFree(pointer));
  EXPECT_EQ(orFree(pointer), orErrorInvalidValue);
}

TEST_F(DeviceTest, PinnedMemoryIsTheHosts) {
  void* pointer = nullptr;
  ASSERT_OK(orMallocHost(&pointer, 1000));
  std::memset(pointer, 7, 1000);
  EXPECT_EQ(orFree(pointer), orErrorInvalidValue);
  EXPECT_EQ(orFreeHost(static_cast<char*>(pointer) + 1), orErrorInvalidValue);
  EXPECT_OK(orFreeHost(pointer));
  EXPECT_EQ(orFreeHost(pointer), orErrorInvalidValue);
  EXPECT_OK(orFreeHost(nullptr));
  EXPECT_OK(orMallocHost(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(orMallocHost(nullptr, 1), orErrorInvalidValue);
  EXPECT_EQ(orMallocHost(&pointer, SIZE_MAX), orErrorMemoryAllocation);
}

TEST_F(DeviceTest, AttributesKnowInteriorPointers) {
  Buffer buffer(5000);
  PinnedBuffer pinned(300);
  int local = 0;
  orPointerAttributes attributes;
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{4999}}) {
    ASSERT_OK(orPointerGetAttributes(&attributes, buffer.bytes() + offset));
    EXPECT_EQ(attributes.type, orMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 0);
    EXPECT_EQ(attributes.base, buffer.get());
    EXPECT_EQ(attributes.size, 5000u);
  }
  ASSERT_OK(orPointerGetAttributes(&attributes, pinned.bytes() + 299));
  EXPECT_EQ(attributes.type, orMemoryTypeHost);
  EXPECT_EQ(attributes.device, -1);
  EXPECT_EQ(attributes.base, pinned.bytes());
  EXPECT_EQ(attributes.size, 300u);
  for (const void* unknown : {static_cast<const void*>(&local), static_cast<const void*>(buffer.bytes() + 5000),
           static_cast<const void*>(pinned.bytes() + 300), static_cast<const void*>(nullptr)}) {
    ASSERT_OK(orPointerGetAttributes(&attributes, unknown));
    EXPECT_EQ(attributes.type, orMemoryTypeUnregistered);
    EXPECT_EQ(attributes.base, nullptr);
  }
  EXPECT_EQ(orPointerGetAttributes(nullptr, &local), orErrorInvalidValue);
}

TEST_F(DeviceTest, FreeWaitsForQueuedWork) {
  OwnedStream stream;
  void* pointer = nullptr;
  ASSERT_OK(orMalloc(&pointer, 64));
  std::atomic<bool> done{false};
  std::function<void()> slow = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    *static_cast<int*>(pointer) = 1;
    done = true;
  };
  EXPECT_OK(run_on(stream.get(), slow));
  EXPECT_OK(orFree(pointer));
  EXPECT_TRUE(done);
}

TEST_F(DeviceTest, FreeOnAStreamDoesNotWaitForItself) {
  const size_t before = free_memory();
  void* pointer = nullptr;
  ASSERT_OK(orMalloc(&pointer, 1 << 20));
  orError_t first = orErrorUnknown;
  orError_t second = orErrorUnknown;
  std::function<void()> kernel = [&] {
    first = orFree(pointer);
    second = orFree(pointer);
  };
  OwnedStream stream;
  EXPECT_OK(run_on(stream.get(), kernel));
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(first, orSuccess);
  EXPECT_EQ(second, orErrorInvalidValue);
  orPointerAttributes attributes;
  EXPECT_OK(orPointerGetAttributes(&attributes, pointer));
  EXPECT_EQ(attributes.type, orMemoryTypeUnregistered);
  // The second synchronization knows for sure: the first may have begun before the kernel freed.
  EXPECT_OK(orDeviceSynchronize());
  EXPECT_EQ(free_memory(), before);
}

TEST_F(DeviceTest, MallocTakesWhatStreamsFreed) {
  size_t free = 0;
  size_t total = 0;
  ASSERT_OK(orMemGetInfo(&free, &total));
  void* all = nullptr;
  ASSERT_OK(orMalloc(&all, free));
  std::function<void()> kernel = [&] { EXPECT_OK(orFree(all)); };
  EXPECT_OK(run_on(nullptr, kernel));
  EXPECT_OK(orStreamSynchronize(nullptr));
  Buffer again(free);
  EXPECT_NE(again.get(), nullptr);
}

TEST_F(DeviceTest, NeighboursJoinWhenFreed) {
  const size_t free = free_memory();
  const size_t quarter = free / 4;
  std::vector<void*> parts(4);
  for (void*& part : parts) ASSERT_OK(orMalloc(&part, quarter));
  for (const int i : {1, 3, 0, 2}) EXPECT_OK(orFree(parts[static_cast<size_t>(i)]));
  Buffer all(free);
  EXPECT_NE(all.get(), nullptr);
}

}  // namespace
