// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Guard.h"

#include <openreg.h>

#include "runtime/Capturing.h"
#include "runtime/Allocator.h"
#include "runtime/DeviceErrors.h"
#include "runtime/Exception.h"
#include "runtime/Functions.h"
#include "runtime/Stream.h"

namespace openreg {

namespace {

C10_REGISTER_GUARD_IMPL(PrivateUse1, OpenRegGuardImpl)

c10::Device make_device(c10::DeviceIndex index) { return c10::Device(OpenRegGuardImpl::static_type, index); }

c10::DeviceIndex index_of(c10::Device device) {
  TORCH_CHECK(device.type() == OpenRegGuardImpl::static_type, "expected a device of openreg, got ", device);
  return device.index();
}

orEvent_t as_event(void* event) { return static_cast<orEvent_t>(event); }

}  // namespace

OpenRegGuardImpl::OpenRegGuardImpl(c10::DeviceType type) {
  TORCH_CHECK(type == static_type, "expected the device type of openreg, got ", type);
}

// --- Devices

c10::Device OpenRegGuardImpl::exchangeDevice(c10::Device device) const {
  const c10::DeviceIndex index = index_of(device);
  return make_device(index == -1 ? current_device() : exchange_device(index));
}

c10::Device OpenRegGuardImpl::getDevice() const { return make_device(current_device()); }

void OpenRegGuardImpl::setDevice(c10::Device device) const {
  const c10::DeviceIndex index = index_of(device);
  if (index != -1) {
    set_device(index);
  }
}

void OpenRegGuardImpl::uncheckedSetDevice(c10::Device device) const noexcept {
  if (device.index() >= 0) {
    OPENREG_WARN(orSetDevice(device.index()));
  }
}

c10::DeviceIndex OpenRegGuardImpl::deviceCount() const noexcept { return device_count(); }

// The dtypes that tensors of the device can have and compute with, in a kernel of its own or through the CPU. Left out
// are those that can only be stored: quantized, bit and sub-byte types, and float8.
c10::DeviceCapability OpenRegGuardImpl::getDeviceCapability(c10::Device device) const {
  resolve_device_index(index_of(device));
  c10::DeviceCapability capability;
  capability.capability_data.capability_bits = 0;
  auto& types = capability.capability_data.supported_scalar_types;
  types.has_Bool = types.has_Byte = types.has_Char = types.has_Short = types.has_Int = types.has_Long = 1;
  types.has_Half = types.has_BFloat16 = types.has_Float = types.has_Double = 1;
  types.has_ComplexHalf = types.has_ComplexFloat = types.has_ComplexDouble = 1;
  return capability;
}

void OpenRegGuardImpl::synchronizeDevice(c10::DeviceIndex device) const { device_synchronize(device); }

// --- Streams

c10::Stream OpenRegGuardImpl::getStream(c10::Device device) const { return getCurrentStream(index_of(device)); }

c10::Stream OpenRegGuardImpl::getDefaultStream(c10::Device device) const {
  return openreg::getDefaultStream(index_of(device));
}

c10::Stream OpenRegGuardImpl::getStreamFromGlobalPool(c10::Device device, bool isHighPriority) const {
  return getStreamFromPool(isHighPriority ? -1 : 0, index_of(device));
}

c10::Stream OpenRegGuardImpl::getNewStream(c10::Device device, int priority) const {
  return getStreamFromPool(priority, index_of(device));
}

c10::Stream OpenRegGuardImpl::exchangeStream(c10::Stream stream) const {
  const OpenRegStream next(stream);
  const OpenRegStream previous = getCurrentStream(next.device_index());
  setCurrentStream(next);
  return previous;
}

void* OpenRegGuardImpl::getStreamNativeHandle(c10::Stream stream) const { return OpenRegStream(stream).stream(); }

bool OpenRegGuardImpl::queryStream(const c10::Stream& stream) const { return OpenRegStream(stream).query(); }

void OpenRegGuardImpl::synchronizeStream(const c10::Stream& stream) const { OpenRegStream(stream).synchronize(); }

bool OpenRegGuardImpl::isStreamCapturing(const c10::Stream& stream) const {
  const OpenRegStream checked(stream);
  const OpenRegGuard guard(stream.device_index());
  return capture_of(checked.stream()) != 0;
}

void OpenRegGuardImpl::recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const {
  getDeviceAllocator()->recordStream(data, stream);
}

// --- Events

void OpenRegGuardImpl::record(
    void** event, const c10::Stream& stream, c10::DeviceIndex device, c10::EventFlag flag) const {
  const OpenRegStream target(stream);
  TORCH_CHECK(
      device == -1 || device == stream.device_index(),
      "openreg: an event of device ", int{device}, " can't be recorded on ", stream);
  const bool timing = flag == c10::EventFlag::BACKEND_DEFAULT;
  TORCH_CHECK(timing || flag == c10::EventFlag::PYTORCH_DEFAULT, "openreg: invalid event flag");
  initialize();
  const OpenRegGuard guard(stream.device_index());
  if (*event == nullptr) {
    orEvent_t created = nullptr;
    OPENREG_CHECK(orEventCreateWithFlags(&created, timing ? orEventDefault : orEventDisableTiming));
    *event = created;
    fire_hook(&TraceHooks::trace_gpu_event_creation, created);
    note_event(created, stream.device_index());
  }
  OPENREG_CHECK(orEventRecord(as_event(*event), target.stream()));
  fire_hook(&TraceHooks::trace_gpu_event_record, *event, stream.hash());
}

void OpenRegGuardImpl::block(void* event, const c10::Stream& stream) const {
  if (event != nullptr) {
    const OpenRegStream target(stream);
    const OpenRegGuard guard(stream.device_index());
    OPENREG_CHECK(orStreamWaitEvent(target.stream(), as_event(event)));
    fire_hook(&TraceHooks::trace_gpu_event_wait, event, stream.hash());
  }
}

bool OpenRegGuardImpl::queryEvent(void* event) const {
  if (event == nullptr) {
    return true;
  }
  const orError_t error = orEventQuery(as_event(event));
  if (error == orErrorNotReady) {
    return false;
  }
  OPENREG_CHECK(error);
  fire_hook(&TraceHooks::trace_gpu_event_synchronization, event);
  return true;
}

void OpenRegGuardImpl::synchronizeEvent(void* event) const {
  if (event != nullptr) {
    OPENREG_CHECK_WAIT(device_of_event(event), orEventSynchronize(as_event(event)));
    fire_hook(&TraceHooks::trace_gpu_event_synchronization, event);
  }
}

double OpenRegGuardImpl::elapsedTime(void* start, void* end, c10::DeviceIndex device) const {
  TORCH_CHECK(start != nullptr && end != nullptr, "openreg: both events must be recorded before their time is taken");
  const OpenRegGuard guard(resolve_device_index(device));
  float milliseconds = 0;
  OPENREG_CHECK(orEventElapsedTime(&milliseconds, as_event(start), as_event(end)));
  return milliseconds;
}

void OpenRegGuardImpl::destroyEvent(void* event, c10::DeviceIndex) const noexcept {
  if (event != nullptr && !isInBadFork()) {
    forget_event(event);
    OPENREG_WARN(orEventDestroy(as_event(event)));
  }
}

}  // namespace openreg
