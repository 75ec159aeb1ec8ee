// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `tests` in the spec changes it, then `openreg-gen generate`.
#include <type_traits>

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "fixture.h"

namespace openreg::test {

namespace {

c10::Device device(int index) {
  return c10::Device(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(index));
}

const c10::impl::DeviceGuardImplInterface& guard_impl() {
  return *c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1);
}

TEST(Guard, IsRegistered) {
  EXPECT_TRUE(c10::impl::hasDeviceGuardImpl(c10::DeviceType::PrivateUse1));
  EXPECT_EQ(guard_impl().type(), c10::DeviceType::PrivateUse1);
  EXPECT_EQ(guard_impl().deviceCount(), device_count());
}

TEST_F(DeviceTest, GuardRefusesWhatIsNotItsDevice) {
  EXPECT_THROW(guard_impl().exchangeDevice(device(device_count())), c10::Error);
  EXPECT_THROW(guard_impl().setDevice(device(device_count())), c10::Error);
  EXPECT_THROW(guard_impl().setDevice(c10::Device(c10::kCPU)), c10::Error);
  EXPECT_THROW(guard_impl().getStream(device(device_count())), c10::Error);
  EXPECT_THROW(guard_impl().getDeviceCapability(device(device_count())), c10::Error);
  EXPECT_THROW(guard_impl().synchronizeDevice(device_count()), c10::Error);
  EXPECT_THROW(guard_impl().queryStream(c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU))), c10::Error);
  EXPECT_THROW(guard_impl().isStreamCapturing(c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU))), c10::Error);
}

TEST_F(DeviceTest, UncheckedSetDeviceNeverThrows) {
  guard_impl().uncheckedSetDevice(device(-1));
  EXPECT_NO_THROW(guard_impl().uncheckedSetDevice(device(device_count())));
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, MinusOneIsTheCurrentDevice) {
  EXPECT_EQ(guard_impl().getStream(device(-1)).device(), device(0));
  EXPECT_EQ(guard_impl().getDefaultStream(device(-1)).device(), device(0));
  EXPECT_EQ(guard_impl().getNewStream(device(-1)).device(), device(0));
  EXPECT_EQ(guard_impl().exchangeDevice(device(-1)), device(0));
}

TEST_F(DeviceTest, CapabilityNamesWhatCanBeComputedWith) {
  const c10::DeviceCapability capability = guard_impl().getDeviceCapability(device(0));
  const auto& types = capability.capability_data.supported_scalar_types;
  EXPECT_TRUE(types.has_Float && types.has_Double && types.has_Half && types.has_BFloat16);
  EXPECT_TRUE(types.has_Bool && types.has_Byte && types.has_Long && types.has_ComplexFloat);
  EXPECT_FALSE(types.has_QInt8 || types.has_QUInt8 || types.has_Bits8);
}

TEST_F(DeviceTest, NewStreamsHaveTheirPriority) {
  const OpenRegStream high(guard_impl().getNewStream(device(0), -1));
  const OpenRegStream normal(guard_impl().getNewStream(device(0), 0));
  const OpenRegStream global(guard_impl().getStreamFromGlobalPool(device(0), true));
  EXPECT_EQ(high.priority(), global.priority());
  EXPECT_LE(high.priority(), normal.priority());
  EXPECT_EQ(guard_impl().getStreamNativeHandle(high), high.stream());
}

TEST_F(DeviceTest, StreamGuardRestoresTheStream) {
  const OpenRegStream stream = getStreamFromPool();
  {
    const c10::StreamGuard guard(stream.unwrap());
    EXPECT_EQ(getCurrentStream(), stream);
    EXPECT_FALSE(guard_impl().isStreamCapturing(stream));
  }
  EXPECT_EQ(getCurrentStream(), getDefaultStream());
}

TEST_F(DeviceTest, EventsOfTheInterface) {
  void* start = nullptr;
  void* end = nullptr;
  const c10::Stream stream = guard_impl().getNewStream(device(0));
  EXPECT_TRUE(guard_impl().queryEvent(nullptr));
  EXPECT_NO_THROW(guard_impl().synchronizeEvent(nullptr));
  EXPECT_NO_THROW(guard_impl().block(nullptr, stream));
  EXPECT_NO_THROW(guard_impl().destroyEvent(nullptr, 0));
  EXPECT_THROW(guard_impl().record(&start, stream, 0, c10::EventFlag::INVALID), c10::Error);
  EXPECT_THROW(guard_impl().record(&start, stream, 1, c10::EventFlag::BACKEND_DEFAULT), c10::Error);
  EXPECT_EQ(start, nullptr);
  EXPECT_THROW(guard_impl().elapsedTime(start, end, 0), c10::Error);
  guard_impl().record(&start, stream, 0, c10::EventFlag::BACKEND_DEFAULT);
  guard_impl().record(&end, stream, -1, c10::EventFlag::BACKEND_DEFAULT);
  guard_impl().synchronizeEvent(end);
  EXPECT_TRUE(guard_impl().queryEvent(start));
  EXPECT_GE(guard_impl().elapsedTime(start, end, 0), 0);
  guard_impl().destroyEvent(start, 0);
  guard_impl().destroyEvent(end, 0);
}

TEST_F(DeviceTest, UntimedEventsHaveNoTime) {
  void* event = nullptr;
  guard_impl().record(&event, getDefaultStream(), 0, c10::EventFlag::PYTORCH_DEFAULT);
  guard_impl().synchronizeEvent(event);
  EXPECT_THROW(guard_impl().elapsedTime(event, event, 0), c10::Error);
  guard_impl().destroyEvent(event, 0);
}

TEST_F(TwoDevicesTest, DeviceGuardRestoresTheDevice) {
  {
    const c10::DeviceGuard guard(device(1));
    EXPECT_EQ(guard_impl().getDevice(), device(1));
  }
  EXPECT_EQ(current_device(), 0);
  {
    const OptionalOpenRegGuard guard(device(1));
    EXPECT_EQ(current_device(), 1);
  }
  EXPECT_EQ(current_device(), 0);
}

TEST_F(TwoDevicesTest, StreamGuardSwitchesTheDeviceToo) {
  const OpenRegStream stream = getStreamFromPool(0, 1);
  {
    const OpenRegStreamGuard guard(stream.unwrap());
    EXPECT_EQ(current_device(), 1);
    EXPECT_EQ(getCurrentStream(), stream);
  }
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentStream(1), getDefaultStream(1));
}

}  // namespace

}  // namespace openreg::test
