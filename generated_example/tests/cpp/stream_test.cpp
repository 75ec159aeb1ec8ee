// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <unordered_set>

#include "fixture.h"
#include "runtime/Event.h"
#include "runtime/ForeignStream.h"

namespace openreg::test {

namespace {

constexpr size_t kPoolSize = 4;

TEST_F(DeviceTest, DefaultStreamHasIdZeroAndNoHandle) {
  const OpenRegStream stream = getDefaultStream();
  EXPECT_EQ(stream.id(), 0);
  EXPECT_EQ(stream.device_index(), 0);
  EXPECT_EQ(stream.stream(), nullptr);
  EXPECT_EQ(getCurrentStream(), stream);
}

TEST_F(DeviceTest, PoolGivesItsStreamsInTurn) {
  std::vector<OpenRegStream> first;
  for (size_t i = 0; i < kPoolSize; ++i) {
    first.push_back(getStreamFromPool());
  }
  EXPECT_EQ(std::unordered_set<c10::Stream>(first.begin(), first.end()).size(), kPoolSize);
  for (size_t i = 0; i < kPoolSize; ++i) {
    EXPECT_EQ(getStreamFromPool(), first[i]);
    EXPECT_NE(first[i].stream(), nullptr);
  }
}

TEST_F(DeviceTest, PrioritiesAreTheDevices) {
  int least = 0;
  int greatest = 0;
  OPENREG_CHECK(orDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(getStreamFromPool(0).priority(), least);
  EXPECT_EQ(getStreamFromPool(-1).priority(), greatest);
  EXPECT_NE(getStreamFromPool(0), getStreamFromPool(-1));
}

TEST_F(DeviceTest, CurrentStreamBelongsToTheThread) {
  const OpenRegStream mine = getStreamFromPool();
  setCurrentStream(mine);
  c10::StreamId elsewhere = -1;
  std::thread([&] { elsewhere = getCurrentStream().id(); }).join();
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(getCurrentStream(), mine);
}

TEST_F(DeviceTest, QueryTellsBusyFromIdle) {
  const OpenRegStream stream = getStreamFromPool();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  Gate gate;
  OPENREG_HOLD_OR_SKIP(gate, stream);
  EXPECT_FALSE(stream.query());
  gate.open();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST_F(DeviceTest, StreamsWorkFromForeignThreads) {
  const OpenRegStream stream = getStreamFromPool();
  const std::vector<uint8_t> bytes = counting(256);
  const c10::DataPtr memory = getDeviceAllocator()->allocate(bytes.size());
  std::thread([&] {
    OPENREG_CHECK(orMemcpyAsync(memory.get(), bytes.data(), bytes.size(), orMemcpyHostToDevice, stream.stream()));
    stream.synchronize();
  }).join();
  EXPECT_EQ(download(memory.get(), bytes.size()), bytes);
}

TEST_F(DeviceTest, UnpackedStreamIsTheSame) {
  const OpenRegStream stream = getStreamFromPool(-1);
  const c10::StreamData3 data = stream.unwrap().pack3();
  const OpenRegStream unpacked(c10::Stream::unpack3(data.stream_id, data.device_index, data.device_type));
  EXPECT_EQ(unpacked, stream);
  EXPECT_EQ(unpacked.stream(), stream.stream());
}

TEST_F(DeviceTest, RefusesWhatIsNoStream) {
  const c10::Device device(c10::DeviceType::PrivateUse1, 0);
  for (const c10::StreamId bad : {c10::StreamId{-1}, c10::StreamId{0xf} << 1 | 1, c10::StreamId{1} << 40 | 1}) {
    const OpenRegStream stream(c10::Stream(c10::Stream::UNSAFE, device, bad));
    EXPECT_THROW(stream.stream(), c10::Error) << bad;
  }
  EXPECT_THROW(OpenRegStream(c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU))), c10::Error);
  EXPECT_THROW(getDefaultStream(device_count()), c10::Error);
  EXPECT_THROW(getStreamFromPool(0, device_count()), c10::Error);
}

TEST_F(DeviceTest, WrapsForeignHandles) {
  orStream_t handle = nullptr;
  OPENREG_CHECK(orStreamCreate(&handle));
  const OpenRegStream stream = getStreamFromExternal(handle, 0);
  EXPECT_EQ(stream.stream(), handle);
  EXPECT_EQ(getStreamFromExternal(handle, 0), stream);
  EXPECT_NE(stream, getStreamFromPool());
  EXPECT_THROW(getStreamFromExternal(nullptr, 0), c10::Error);
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  OPENREG_CHECK(orStreamDestroy(handle));
}

TEST_F(TwoDevicesTest, StreamsOfOtherDevicesWork) {
  Gate gate;
  const OpenRegStream other = getDefaultStream(1);
  EXPECT_EQ(other.device_index(), 1);
  OPENREG_HOLD_OR_SKIP(gate, other);
  EXPECT_FALSE(other.query());
  EXPECT_TRUE(getDefaultStream(0).query());
  gate.open();
  other.synchronize();
  EXPECT_TRUE(other.query());
  EXPECT_EQ(current_device(), 0);
}

TEST_F(TwoDevicesTest, CurrentStreamsAreKeptByDevice) {
  const OpenRegStream other = getStreamFromPool(0, 1);
  setCurrentStream(other);
  EXPECT_EQ(getCurrentStream(1), other);
  EXPECT_EQ(getCurrentStream(0), getDefaultStream(0));
  EXPECT_EQ(current_device(), 0);
  setCurrentStream(getDefaultStream(1));
}

}  // namespace

}  // namespace openreg::test
