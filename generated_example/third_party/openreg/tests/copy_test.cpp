// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <cstdint>

#include "test_support.h"

namespace {

class CopyTest : public DeviceTest, public testing::WithParamInterface<size_t> {};

// Up to 4 KiB a copy that waits is the caller's own work, up to 64 KiB a pageable copy to the device is staged, and from
// 1 MiB on helpers take a share.
INSTANTIATE_TEST_SUITE_P(Sizes, CopyTest, testing::Values(1, 4096, 4097, 65536, 65537, (3 << 20) + 1));

TEST_P(CopyTest, SynchronousInAllDirections) {
  const size_t size = GetParam();
  const std::vector<char> bytes = numbered(size);
  std::vector<char> copy(size);
  ASSERT_OK(orMemcpy(copy.data(), bytes.data(), size, orMemcpyHostToHost));
  EXPECT_EQ(copy, bytes);
  Buffer first(size);
  Buffer second(size);
  ASSERT_OK(orMemcpy(first.get(), bytes.data(), size, orMemcpyHostToDevice));
  ASSERT_OK(orMemcpy(second.get(), first.get(), size, orMemcpyDeviceToDevice));
  EXPECT_EQ(fetch(second.get(), size), bytes);
  ASSERT_OK(orMemset(second.get(), 0x1ff, size));
  EXPECT_EQ(fetch(second.get(), size), std::vector<char>(size, static_cast<char>(0xff)));
}

TEST_P(CopyTest, AcrossDevices) {
  int count = 0;
  ASSERT_OK(orGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  const size_t size = GetParam();
  const std::vector<char> bytes = numbered(size, 3);
  Buffer here(size);
  ASSERT_OK(orSetDevice(1));
  Buffer there(size);
  ASSERT_OK(orMemcpy(here.get(), bytes.data(), size, orMemcpyHostToDevice));
  ASSERT_OK(orMemcpy(there.get(), here.get(), size, orMemcpyDeviceToDevice));
  EXPECT_EQ(fetch(there.get(), size), bytes);
  ASSERT_OK(orMemsetAsync(there.get(), 1, size, nullptr));
  ASSERT_OK(orMemcpyAsync(here.get(), there.get(), size, orMemcpyDeviceToDevice, nullptr));
  ASSERT_OK(orStreamSynchronize(nullptr));
  EXPECT_EQ(fetch(here.get(), size), std::vector<char>(size, 1));
}

TEST_P(CopyTest, PinnedIsAsynchronous) {
  const size_t size = GetParam();
  OwnedStream stream;
  PinnedBuffer source(size);
  PinnedBuffer result(size);
  Buffer device(size);
  Buffer other(size);
  std::memset(source.bytes(), 1, size);
  std::memset(result.bytes(), 0, size);
  {
    Gate gate(stream.get());
    ASSERT_OK(orMemcpyAsync(device.get(), source.bytes(), size, orMemcpyHostToDevice, stream.get()));
    ASSERT_OK(orMemcpyAsync(other.get(), device.get(), size, orMemcpyDeviceToDevice, stream.get()));
    ASSERT_OK(orMemcpyAsync(result.bytes(), other.get(), size, orMemcpyDeviceToHost, stream.get()));
    ASSERT_OK(orMemcpyAsync(source.bytes(), result.bytes(), size, orMemcpyHostToHost, stream.get()));
    EXPECT_EQ(orStreamQuery(stream.get()), orErrorNotReady);
    EXPECT_EQ(result.bytes()[size - 1], 0);
    // The copies have not begun, so they see this.
    std::memset(source.bytes(), 2, size);
  }
  ASSERT_OK(orStreamSynchronize(stream.get()));
  EXPECT_EQ(result.bytes()[0], 2);
  EXPECT_EQ(result.bytes()[size - 1], 2);
}

TEST_P(CopyTest, PageableSourceCanBeReusedAtOnce) {
  const size_t size = GetParam();
  OwnedStream stream;
  std::vector<char> source(size, 1);
  Buffer device(size);
  ASSERT_OK(orMemcpyAsync(device.get(), source.data(), size, orMemcpyHostToDevice, stream.get()));
  std::fill(source.begin(), source.end(), 2);
  ASSERT_OK(orStreamSynchronize(stream.get()));
  EXPECT_EQ(fetch(device.get(), size), std::vector<char>(size, 1));
}

TEST_P(CopyTest, PageableDestinationIsThereAtOnce) {
  const size_t size = GetParam();
  OwnedStream stream;
  Buffer device(size);
  std::vector<char> result(size, 1);
  ASSERT_OK(orMemsetAsync(device.get(), 5, size, stream.get()));
  ASSERT_OK(orMemcpyAsync(result.data(), device.get(), size, orMemcpyDeviceToHost, stream.get()));
  EXPECT_EQ(result, std::vector<char>(size, 5));
}

TEST_F(DeviceTest, CopiesWithinAnAllocationMayOverlap) {
  const std::vector<char> bytes = numbered(100);
  Buffer device(100);
  ASSERT_OK(orMemcpy(device.get(), bytes.data(), 100, orMemcpyHostToDevice));
  ASSERT_OK(orMemcpy(device.bytes() + 10, device.get(), 90, orMemcpyDeviceToDevice));
  EXPECT_EQ(fetch(device.bytes() + 10, 90), std::vector<char>(bytes.begin(), bytes.begin() + 90));
}

// The ranges of a large one, too, though helpers could not share it.
TEST_F(DeviceTest, LargeCopiesMayOverlap) {
  constexpr size_t kSize = 4 << 20;
  constexpr size_t kShift = 4096 + 1;
  Buffer buffer(kSize + kShift);
  const std::vector<char> bytes = numbered(kSize);
  ASSERT_OK(orMemcpy(buffer.get(), bytes.data(), kSize, orMemcpyHostToDevice));
  ASSERT_OK(orMemcpy(buffer.bytes() + kShift, buffer.get(), kSize, orMemcpyDeviceToDevice));
  EXPECT_EQ(fetch(buffer.bytes() + kShift, kSize), bytes);
}

TEST_F(DeviceTest, LargeCopiesOfSeveralStreamsRunAtOnce) {
  constexpr size_t kSize = (2 << 20) + 7;
  constexpr int kStreams = 4;
  constexpr int kTimes = 8;
  std::vector<OwnedStream> streams(kStreams);
  std::vector<Buffer> buffers;
  PinnedBuffer source(kSize * kStreams);
  for (int i = 0; i < kStreams; ++i) {
    buffers.emplace_back(kSize);
    const std::vector<char> bytes = numbered(kSize, i);
    std::memcpy(source.bytes() + static_cast<size_t>(i) * kSize, bytes.data(), kSize);
  }
  for (int time = 0; time < kTimes; ++time) {
    for (size_t i = 0; i < kStreams; ++i) {
      ASSERT_OK(orMemcpyAsync(
          buffers[i].get(), source.bytes() + i * kSize, kSize, orMemcpyHostToDevice, streams[i].get()));
    }
  }
  ASSERT_OK(orDeviceSynchronize());
  for (size_t i = 0; i < kStreams; ++i) EXPECT_EQ(fetch(buffers[i].get(), kSize), numbered(kSize, static_cast<int>(i)));
}

TEST_F(DeviceTest, SmallCopiesThatWaitSeeWhatWasQueuedBefore) {
  OwnedStream stream;
  Buffer device(sizeof(int));
  for (int i = 0; i < 300; ++i) {
    std::function<void()> kernel = [&] { std::memcpy(device.get(), &i, sizeof(i)); };
    ASSERT_OK(run_on(stream.get(), kernel));
    int got = -1;
    ASSERT_OK(orMemcpyAsync(&got, device.get(), sizeof(got), orMemcpyDeviceToHost, stream.get()));
    ASSERT_EQ(got, i);
  }
}

TEST_F(DeviceTest, CopiesOfNothingSucceed) {
  EXPECT_OK(orMemcpy(nullptr, nullptr, 0, orMemcpyHostToDevice));
  EXPECT_OK(orMemcpyAsync(nullptr, nullptr, 0, orMemcpyDeviceToDevice, nullptr));
  EXPECT_OK(orMemset(nullptr, 0, 0));
  EXPECT_OK(orMemsetAsync(nullptr, 0, 0, nullptr));
}

TEST_F(DeviceTest, BadCopiesAreErrors) {
  Buffer device(100);
  PinnedBuffer pinned(100);
  std::vector<char> host(200);
  const auto bad = [&](void* to, const void* from, size_t size, orMemcpyKind kind) {
    EXPECT_EQ(orMemcpy(to, from, size, kind), orErrorInvalidValue);
    EXPECT_EQ(orMemcpyAsync(to, from, size, kind, nullptr), orErrorInvalidValue);
  };
  bad(nullptr, host.data(), 1, orMemcpyHostToDevice);
  bad(host.data(), nullptr, 1, orMemcpyDeviceToHost);
  bad(host.data(), nullptr, 1, orMemcpyHostToHost);
  bad(device.get(), host.data(), 100, orMemcpyHostToHost);
  bad(host.data(), device.get(), 100, orMemcpyHostToDevice);
  bad(device.get(), host.data(), 101, orMemcpyHostToDevice);
  bad(device.bytes() + 50, host.data(), 51, orMemcpyHostToDevice);
  bad(device.get(), host.data(), SIZE_MAX, orMemcpyHostToDevice);
  bad(device.get(), pinned.bytes(), 101, orMemcpyHostToDevice);
  EXPECT_EQ(orMemset(host.data(), 0, 1), orErrorInvalidValue);
  EXPECT_EQ(orMemset(device.get(), 0, 101), orErrorInvalidValue);
  EXPECT_EQ(orMemsetAsync(pinned.bytes(), 0, 1, nullptr), orErrorInvalidValue);
  void* freed = nullptr;
  ASSERT_OK(orMalloc(&freed, 100));
  ASSERT_OK(orFree(freed));
  bad(freed, host.data(), 1, orMemcpyHostToDevice);
}

TEST_F(DeviceTest, CopiesOnAStreamKeepItsOrder) {
  OwnedStream stream;
  Buffer device(sizeof(int));
  PinnedBuffer pinned(sizeof(int));
  std::function<void()> add = [&] { *static_cast<int*>(device.get()) += 1; };
  ASSERT_OK(orMemsetAsync(device.get(), 0, sizeof(int), stream.get()));
  for (int i = 0; i < 100; ++i) ASSERT_OK(run_on(stream.get(), add));
  ASSERT_OK(orMemcpyAsync(pinned.bytes(), device.get(), sizeof(int), orMemcpyDeviceToHost, stream.get()));
  ASSERT_OK(orMemsetAsync(device.get(), 0, sizeof(int), stream.get()));
  ASSERT_OK(orStreamSynchronize(stream.get()));
  int result = 0;
  std::memcpy(&result, pinned.bytes(), sizeof(result));
  EXPECT_EQ(result, 100);
}

}  // namespace
