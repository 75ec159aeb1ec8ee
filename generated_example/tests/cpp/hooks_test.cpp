// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <ATen/DeviceAccelerator.h>
#include <c10/core/Storage.h>

#include "fixture.h"
#include "runtime/Generator.h"
#include "runtime/Hooks.h"
#include "runtime/HostAllocator.h"

namespace openreg::test {

namespace {

const at::PrivateUse1HooksInterface& hooks() {
  return at::detail::getPrivateUse1Hooks();
}

c10::Storage make_storage(size_t bytes, bool resizable = true) {
  c10::DeviceAllocator* const allocator = getDeviceAllocator();
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, allocator->allocate(bytes), allocator, resizable);
}

TEST(Hooks, AreRegistered) {
  EXPECT_TRUE(at::isPrivateUse1HooksRegistered());
  EXPECT_TRUE(hooks().isBuilt());
}

TEST(Hooks, QuestionsNeverThrow) {
  EXPECT_NO_THROW(hooks().isAvailable());
  EXPECT_EQ(hooks().deviceCount(), device_count());
  for (const int index : {-1, 0, 1, 100}) {
    EXPECT_NO_THROW(hooks().hasPrimaryContext(static_cast<c10::DeviceIndex>(index))) << index;
  }
  EXPECT_FALSE(hooks().hasPrimaryContext(-1));
}

TEST_F(DeviceTest, DeviceIsThereAndUsed) {
  hooks().init();
  EXPECT_TRUE(hooks().isAvailable());
  const c10::DataPtr data = getDeviceAllocator()->allocate(1);
  EXPECT_TRUE(hooks().hasPrimaryContext(0));
}

TEST_F(DeviceTest, IsPyTorchsAccelerator) {
  EXPECT_EQ(at::accelerator::getAccelerator(), c10::DeviceType::PrivateUse1);
  EXPECT_EQ(at::accelerator::deviceCount(), device_count());
  EXPECT_EQ(at::accelerator::getDeviceIndex(), 0);
  EXPECT_NO_THROW(at::accelerator::synchronizeDevice(0));
}

TEST_F(TwoDevicesTest, HooksSwitchDevices) {
  hooks().setCurrentDevice(1);
  EXPECT_EQ(hooks().getCurrentDevice(), 1);
  EXPECT_EQ(hooks().exchangeDevice(0), 1);
  EXPECT_EQ(hooks().maybeExchangeDevice(1), 0);
  EXPECT_EQ(hooks().maybeExchangeDevice(0), 1);
}

TEST_F(DeviceTest, HooksKnowPointers) {
  const c10::DataPtr device = getDeviceAllocator()->allocate(100);
  EXPECT_EQ(hooks().getDeviceFromPtr(static_cast<char*>(device.get()) + 50), device.device());
  int local = 0;
  EXPECT_THROW(hooks().getDeviceFromPtr(&local), c10::Error);
  EXPECT_EQ(hooks().getPinnedMemoryAllocator(), getHostAllocator());
  const c10::DataPtr pinned = hooks().getPinnedMemoryAllocator()->allocate(100);
  EXPECT_TRUE(hooks().isPinnedPtr(pinned.get()));
  EXPECT_FALSE(hooks().isPinnedPtr(device.get()));
}

TEST_F(DeviceTest, HooksGiveGenerators) {
  EXPECT_EQ(hooks().getDefaultGenerator(0), getDefaultGenerator(0));
  EXPECT_EQ(hooks().getDefaultGenerator(-1), getDefaultGenerator(0));
  const at::Generator generator = hooks().getNewGenerator(0);
  EXPECT_NE(generator, getDefaultGenerator(0));
  EXPECT_EQ(generator.device(), c10::Device(c10::DeviceType::PrivateUse1, 0));
  EXPECT_THROW(hooks().getDefaultGenerator(device_count()), c10::Error);
}

TEST_F(DeviceTest, ResizedStorageKeepsItsContent) {
  const std::vector<uint8_t> bytes = counting(64);
  const c10::Storage storage = make_storage(bytes.size());
  upload(storage.mutable_data(), bytes);
  hooks().resizePrivateUse1Bytes(storage, 256);
  EXPECT_EQ(storage.nbytes(), 256U);
  EXPECT_EQ(download(storage.data(), bytes.size()), bytes);
  hooks().resizePrivateUse1Bytes(storage, 16);
  EXPECT_EQ(storage.nbytes(), 16U);
  EXPECT_EQ(download(storage.data(), 16), counting(16));
  hooks().resizePrivateUse1Bytes(storage, 0);
  EXPECT_EQ(storage.data(), nullptr);
  EXPECT_EQ(storage.device().type(), c10::DeviceType::PrivateUse1);
  EXPECT_THROW(hooks().resizePrivateUse1Bytes(make_storage(8, false), 16), c10::Error);
}

TEST_F(TwoDevicesTest, ResizedStorageStaysOnItsDevice) {
  set_device(1);
  const c10::Storage storage = make_storage(8);
  set_device(0);
  hooks().resizePrivateUse1Bytes(storage, 32);
  EXPECT_EQ(storage.device().index(), 1);
  EXPECT_EQ(hooks().getDeviceFromPtr(storage.mutable_data()).index(), 1);
  EXPECT_EQ(current_device(), 0);
}

}  // namespace

}  // namespace openreg::test
