// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <cstddef>

#include "test_support.h"

// Addresses and memory, reserved one by one and put together.

namespace {

class VirtualMemory : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(orSetDevice(0));
    ASSERT_OK(orMemGetAllocationGranularity(&unit_));
    ASSERT_GT(unit_, 0U);
    ASSERT_OK(orMemAddressReserve(&base_, 4 * unit_));
    before_ = free_memory();
  }
  void TearDown() override {
    EXPECT_EQ(free_memory(), before_) << "a test kept memory";
    EXPECT_OK(orMemAddressFree(base_, 4 * unit_));
    orGetLastError();
  }

  static size_t free_memory() {
    size_t free = 0;
    size_t total = 0;
    EXPECT_OK(orMemGetInfo(&free, &total));
    return free;
  }
  char* at(size_t units) const { return static_cast<char*>(base_) + units * unit_; }

  // Memory at `first` (in units), which lives until it is unmapped.
  void map(size_t first, size_t units) {
    orMemHandle_t handle = nullptr;
    ASSERT_OK(orMemCreate(&handle, units * unit_));
    ASSERT_OK(orMemMap(at(first), units * unit_, handle));
    ASSERT_OK(orMemRelease(handle));
  }

  size_t unit_ = 0;
  void* base_ = nullptr;
  size_t before_ = 0;
};

TEST_F(VirtualMemory, MemoryIsCountedFromItsMakingToItsEnd) {
  orMemHandle_t handle = nullptr;
  ASSERT_OK(orMemCreate(&handle, unit_));
  EXPECT_EQ(free_memory(), before_ - unit_) << "also before it is mapped";
  ASSERT_OK(orMemMap(base_, unit_, handle));
  EXPECT_EQ(free_memory(), before_ - unit_);
  ASSERT_OK(orMemRelease(handle));
  EXPECT_EQ(free_memory(), before_ - unit_) << "it is still mapped";
  ASSERT_OK(orMemUnmap(base_, unit_));
  EXPECT_EQ(free_memory(), before_);
  ASSERT_OK(orMemCreate(&handle, unit_));
  ASSERT_OK(orMemRelease(handle));
}

// Two mappings side by side are one array, for copies and for kernels.
TEST_F(VirtualMemory, AnArrayGrowsInPlace) {
  map(0, 1);
  std::vector<char> wrote(2 * unit_);
  for (size_t i = 0; i < wrote.size(); ++i) wrote[i] = static_cast<char>(i * 7);
  ASSERT_OK(orMemcpy(base_, wrote.data(), unit_, orMemcpyHostToDevice));
  map(1, 1);
  ASSERT_OK(orMemcpy(at(1), wrote.data() + unit_, unit_, orMemcpyHostToDevice));
  std::function<void()> add = [&] {
    for (size_t i = 0; i < 2 * unit_; ++i) at(0)[i] = static_cast<char>(at(0)[i] + 1);
  };
  ASSERT_OK(run_on(nullptr, add));
  std::vector<char> read(2 * unit_);
  ASSERT_OK(orMemcpy(read.data(), base_, 2 * unit_, orMemcpyDeviceToHost));
  for (char& byte : wrote) byte = static_cast<char>(byte + 1);
  EXPECT_EQ(read, wrote);
  ASSERT_OK(orMemUnmap(base_, 2 * unit_)) << "both mappings at once";
}

TEST_F(VirtualMemory, MemoryMovesToOtherAddresses) {
  orMemHandle_t handle = nullptr;
  ASSERT_OK(orMemCreate(&handle, unit_));
  ASSERT_OK(orMemMap(at(0), unit_, handle));
  ASSERT_OK(orMemUnmap(at(0), unit_));
  ASSERT_OK(orMemMap(at(2), unit_, handle));
  char byte = 5;
  ASSERT_OK(orMemcpy(at(2), &byte, 1, orMemcpyHostToDevice));
  EXPECT_NE(orMemcpy(at(0), &byte, 1, orMemcpyHostToDevice), orSuccess) << "nothing is there now";
  ASSERT_OK(orMemUnmap(at(2), unit_));
  ASSERT_OK(orMemRelease(handle));
}

TEST_F(VirtualMemory, WhatDoesNotFitIsRefused) {
  orMemHandle_t handle = nullptr;
  orMemHandle_t other = nullptr;
  ASSERT_OK(orMemCreate(&handle, unit_));
  ASSERT_OK(orMemCreate(&other, 2 * unit_));
  ASSERT_OK(orMemMap(at(1), unit_, handle));
  EXPECT_EQ(orMemMap(at(2), unit_, handle), orErrorInvalidValue) << "it is mapped elsewhere";
  EXPECT_EQ(orMemMap(at(0), 2 * unit_, other), orErrorInvalidValue) << "something is there";
  EXPECT_EQ(orMemMap(at(3), 2 * unit_, other), orErrorInvalidValue) << "beyond the reserved addresses";
  EXPECT_EQ(orMemMap(at(2), unit_, other), orErrorInvalidValue) << "a part of the memory";
  EXPECT_EQ(orMemMap(at(2) + 1, 2 * unit_, other), orErrorInvalidValue) << "between units";
  EXPECT_EQ(orMemUnmap(at(0), 2 * unit_), orErrorInvalidValue) << "not a whole mapping";
  EXPECT_EQ(orMemAddressFree(base_, 4 * unit_), orErrorInvalidValue) << "memory is mapped there";
  EXPECT_EQ(orMemAddressFree(base_, 2 * unit_), orErrorInvalidValue) << "a part of what was reserved";
  ASSERT_OK(orMemUnmap(at(1), unit_));
  ASSERT_OK(orMemRelease(handle));
  ASSERT_OK(orMemRelease(other));
  EXPECT_EQ(orMemRelease(other), orErrorInvalidHandle);
  EXPECT_EQ(orMemMap(at(0), 2 * unit_, other), orErrorInvalidHandle);
}

TEST_F(VirtualMemory, SizesAreInUnits) {
  void* pointer = nullptr;
  orMemHandle_t handle = nullptr;
  for (const size_t size : {size_t{0}, unit_ - 1, unit_ + 1}) {
    EXPECT_EQ(orMemAddressReserve(&pointer, size), orErrorInvalidValue) << size;
    EXPECT_EQ(orMemCreate(&handle, size), orErrorInvalidValue) << size;
  }
  EXPECT_EQ(orMemAddressReserve(nullptr, unit_), orErrorInvalidValue);
  EXPECT_EQ(orMemCreate(nullptr, unit_), orErrorInvalidValue);
  EXPECT_EQ(orMemGetAllocationGranularity(nullptr), orErrorInvalidValue);
}

TEST_F(VirtualMemory, MoreThanThereIsIsOutOfMemory) {
  orMemHandle_t handle = nullptr;
  EXPECT_EQ(orMemCreate(&handle, (before_ / unit_ + 1) * unit_), orErrorMemoryAllocation);
  EXPECT_EQ(handle, nullptr);
}

// Work that was queued before still finds the memory.
TEST_F(VirtualMemory, UnmappingWaitsForTheDevice) {
  map(0, 1);
  orStream_t stream = nullptr;
  ASSERT_OK(orStreamCreate(&stream));
  std::atomic<bool> ran{false};
  std::function<void()> write = [&] {
    std::memset(base_, 1, unit_);
    ran = true;
  };
  std::thread opener;
  {
    Gate gate(stream);
    ASSERT_OK(run_on(stream, write));
    opener = std::thread([&] { gate.open(); });
    EXPECT_OK(orMemUnmap(base_, unit_));
    EXPECT_TRUE(ran);
    opener.join();
  }
  ASSERT_OK(orStreamDestroy(stream));
}

}  // namespace
