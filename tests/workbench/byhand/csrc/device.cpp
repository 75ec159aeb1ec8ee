// What PyTorch asks of a device: an allocator and a guard.
#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>

#include "host.h"
#include "runtime.h"

namespace byhand {
namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {kType, static_cast<c10::DeviceIndex>(rt::current())}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < rt::kDevices, "byhand: no device ", device.index());
    if (device.index() >= 0) rt::set_current(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override { rt::set_current(device.index()); }
  c10::DeviceIndex deviceCount() const noexcept override { return rt::kDevices; }
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return c10::Stream(c10::Stream::UNSAFE, device, rt::new_stream());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new Mark;
    *static_cast<Mark*>(*event) = std::chrono::steady_clock::now();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Mark*>(event); }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    return std::chrono::duration<double, std::milli>(*static_cast<Mark*>(end) - *static_cast<Mark*>(start)).count();
  }
  void synchronizeDevice(const c10::DeviceIndex) const override {}

 private:
  using Mark = std::chrono::steady_clock::time_point;
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

}  // namespace

REGISTER_ALLOCATOR(kType, &memory_of_devices);
}  // namespace byhand
