// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <cstring>
#include <utility>

#include "fixture.h"
#include "runtime/HostAllocator.h"

namespace openreg::test {

namespace {

at::HostAllocator& host() {
  return *getHostAllocator();
}

TEST(HostAllocator, IsRegistered) {
  EXPECT_EQ(at::getHostAllocator(c10::DeviceType::PrivateUse1), getHostAllocator());
}

TEST(HostAllocator, OrdinaryMemoryIsNotPinned) {
  int local = 0;
  EXPECT_FALSE(isPinnedPtr(&local));
  EXPECT_FALSE(isPinnedPtr(nullptr));
}

TEST_F(DeviceTest, PinnedMemoryIsHostMemory) {
  const c10::DataPtr data = host().allocate(1000);
  ASSERT_NE(data.get(), nullptr);
  EXPECT_TRUE(data.device().is_cpu());
  EXPECT_TRUE(isPinnedPtr(data.get()));
  EXPECT_TRUE(isPinnedPtr(static_cast<char*>(data.get()) + 999));
  std::memset(data.get(), 3, 1000);
  const c10::DataPtr device = getDeviceAllocator()->allocate(8);
  EXPECT_FALSE(isPinnedPtr(device.get()));
  EXPECT_EQ(host().allocate(0).get(), nullptr);
}

TEST_F(DeviceTest, FreedBlocksAreReused) {
  host().empty_cache();
  c10::DataPtr first = host().allocate(5000);
  void* const address = first.get();
  first.clear();
  const c10::DataPtr second = host().allocate(5000);
  EXPECT_EQ(second.get(), address);
}

TEST_F(DeviceTest, BlocksInUseByAStreamAreNotReused) {
  host().empty_cache();
  Gate gate;
  const OpenRegStream stream = getStreamFromPool();
  c10::DataPtr first = host().allocate(5000);
  void* const address = first.get();
  OPENREG_HOLD_OR_SKIP(gate, stream);
  EXPECT_TRUE(host().record_event(address, first.get_context(), stream));
  first.clear();
  {
    const c10::DataPtr meanwhile = host().allocate(5000);
    EXPECT_NE(meanwhile.get(), address);
    gate.open();
    stream.synchronize();
    const c10::DataPtr afterwards = host().allocate(5000);
    EXPECT_EQ(afterwards.get(), address);
  }
  int local = 0;
  EXPECT_FALSE(host().record_event(&local, nullptr, stream));
}

TEST_F(DeviceTest, EmptyCacheGivesMemoryBack) {
  host().empty_cache();
  const int64_t before = host().get_stats().allocated_bytes.current;
  host().allocate(1 << 16).clear();
  EXPECT_EQ(host().get_stats().allocated_bytes.current, before + (1 << 16));
  host().empty_cache();
  EXPECT_EQ(host().get_stats().allocated_bytes.current, before);
  host().reset_peak_stats();
  EXPECT_EQ(host().get_stats().allocated_bytes.peak, before);
}

TEST_F(DeviceTest, PinnedMemoryCanBeCloned) {
  const std::vector<uint8_t> bytes = counting(100);
  const c10::DataPtr data = host().allocate(bytes.size());
  std::memcpy(data.get(), bytes.data(), bytes.size());
  const c10::DataPtr copy = host().clone(data.get(), bytes.size());
  EXPECT_EQ(std::memcmp(copy.get(), bytes.data(), bytes.size()), 0);
}

TEST_F(DeviceTest, AsynchronousCopiesUsePinnedMemory) {
  const std::vector<uint8_t> bytes = counting(4096);
  const OpenRegStream stream = getStreamFromPool();
  const c10::DataPtr source = host().allocate(bytes.size());
  const c10::DataPtr target = host().allocate(bytes.size());
  const c10::DataPtr device = getDeviceAllocator()->allocate(bytes.size());
  std::memcpy(source.get(), bytes.data(), bytes.size());
  std::memset(target.get(), 0, bytes.size());
  OPENREG_CHECK(orMemcpyAsync(device.get(), source.get(), bytes.size(), orMemcpyHostToDevice, stream.stream()));
  OPENREG_CHECK(orMemcpyAsync(target.get(), device.get(), bytes.size(), orMemcpyDeviceToHost, stream.stream()));
  stream.synchronize();
  EXPECT_EQ(std::memcmp(target.get(), bytes.data(), bytes.size()), 0);
}

}  // namespace

}  // namespace openreg::test
