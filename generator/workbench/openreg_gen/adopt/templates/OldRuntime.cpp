// Written by `openreg-gen new --from`. Yours to edit; delete it, with old_runtime.h, when port.cpp calls the driver itself.
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

@INCLUDES@
#include "../../third_party/@NAME@/src/old_runtime.h"

namespace @NAME@::adopted {
namespace {

using driver::OldEvent;
using driver::OldStream;

constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

c10::Allocator& allocator() { return @ALLOCATOR@; }

const c10::impl::DeviceGuardImplInterface& guard() {
  static const auto* const it = new @GUARD@;
  return *it;
}

c10::Device device_of(int device) { return {kDevice, static_cast<c10::DeviceIndex>(device)}; }
const c10::Stream& stream_of(const OldStream& stream) { return *static_cast<const c10::Stream*>(stream.get()); }
OldStream made(c10::Stream stream) { return std::make_shared<c10::Stream>(stream); }

// An event of the old guard, which makes it when it is first recorded.
struct Event {
  Event(int device, bool timed) : device(device), timed(timed) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (event != nullptr) guard().destroyEvent(event, static_cast<c10::DeviceIndex>(device));
  }
  int device;
  bool timed;
  void* event = nullptr;
};
Event& event_of(const OldEvent& event) { return *static_cast<Event*>(event.get()); }

at::Tensor bytes(void* data, int device, std::size_t size) {
  const c10::Device where = device < 0 ? c10::Device(c10::kCPU) : device_of(device);
  return at::for_blob(data, {static_cast<int64_t>(size)}).options(at::TensorOptions(at::kByte).device(where)).target_device(where).make_tensor();
}

const driver::OldRuntime runtime = {
    .device_count = [] { return static_cast<int>(guard().deviceCount()); },
    .device = [] { return static_cast<int>(guard().getDevice().index()); },
    .set_device = [](int device) { guard().setDevice(device_of(device)); },
    .allocate =
        [](std::size_t size) {
          auto data = std::make_shared<c10::DataPtr>(allocator().allocate(size));
          return std::shared_ptr<void>(data, data->get());
        },
    .copy =
        [](void* to, int to_device, const void* from, int from_device, std::size_t size) {
          @COPY@(bytes(const_cast<void*>(from), from_device, size), bytes(to, to_device, size), false);
        },
    .new_stream = [](int device, int priority) { return made(guard().getNewStream(device_of(device), priority)); },
    .default_stream = [](int device) { return made(c10::Stream(c10::Stream::DEFAULT, device_of(device))); },
    .query_stream = [](const OldStream& stream) { return guard().queryStream(stream_of(stream)); },
    .synchronize_stream = [](const OldStream& stream) { guard().synchronizeStream(stream_of(stream)); },
    .synchronize_device = [](int device) { guard().synchronizeDevice(static_cast<c10::DeviceIndex>(device)); },
    .new_event = [](int device, bool timed) -> OldEvent { return std::make_shared<Event>(device, timed); },
    .record =
        [](const OldEvent& event, const OldStream& stream) {
          Event& it = event_of(event);
          const auto flag = it.timed ? c10::EventFlag::BACKEND_DEFAULT : c10::EventFlag::PYTORCH_DEFAULT;
          guard().record(&it.event, stream_of(stream), static_cast<c10::DeviceIndex>(it.device), flag);
        },
    .block = [](const OldEvent& event, const OldStream& stream) { if (event_of(event).event != nullptr) guard().block(event_of(event).event, stream_of(stream)); },
    .query_event = [](const OldEvent& event) { return event_of(event).event == nullptr || guard().queryEvent(event_of(event).event); },
    .synchronize_event = [](const OldEvent& event) { if (event_of(event).event != nullptr) guard().synchronizeEvent(event_of(event).event); },
    .elapsed =
        [](const OldEvent& start, const OldEvent& end) {
          const auto device = static_cast<c10::DeviceIndex>(event_of(start).device);
          return guard().elapsedTime(event_of(start).event, event_of(end).event, device);
        },
};

[[maybe_unused]] const bool given = (@NAME@UseOldRuntime(&runtime), true);

}  // namespace
}  // namespace @NAME@::adopted
