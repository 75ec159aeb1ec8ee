// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "config.h"
#include "device.h"
#include "error.h"
#include "capture.h"

namespace openreg::driver {
namespace {

// Read by each call. It is found without a function, unlike other thread-local variables of a library that is loaded late; there
// is room for few such.
[[gnu::tls_model("initial-exec")]] thread_local int current_number = 0;

}  // namespace

Device& current_device() { return Devices::get().at(current_number); }

}  // namespace openreg::driver

using namespace openreg::driver;

extern "C" {

orError_t orGetDeviceCount(int* count) {
  return describe([&] {
    if (count == nullptr) return orErrorInvalidValue;
    *count = config().device_count;
    return orSuccess;
  });
}

orError_t orGetDevice(int* device) {
  return describe([&] {
    if (device == nullptr) return orErrorInvalidValue;
    if (config().device_count == 0) return orErrorInvalidDevice;
    *device = current_number;
    return orSuccess;
  });
}

orError_t orSetDevice(int device) {
  return describe([&] {
    if (device < 0 || device >= config().device_count) return orErrorInvalidDevice;
    current_number = device;
    return orSuccess;
  });
}

orError_t orGetDeviceProperties(orDeviceProperties* properties, int device) {
  return describe([&] {
    if (properties == nullptr) return orErrorInvalidValue;
    if (device < 0 || device >= config().device_count) return orErrorInvalidDevice;
    *properties = orDeviceProperties{};
    std::snprintf(properties->name, sizeof(properties->name), "%s", "OpenReg simulated device");
    properties->totalMemory = config().memory;
    properties->multiProcessorCount = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    properties->major = 1;
    properties->hostAccessible = config().isolation == IsolationMode::kOff ? 2 : 1;
    return orSuccess;
  });
}

orError_t orDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return describe([&] {
    if (least == nullptr || greatest == nullptr) return orErrorInvalidValue;
    if (config().device_count == 0) return orErrorInvalidDevice;
    *least = Stream::kLeastPriority;
    *greatest = Stream::kGreatestPriority;
    return orSuccess;
  });
}

orError_t orMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    if (free == nullptr || total == nullptr) return orErrorInvalidValue;
    const Heap& heap = current_device().heap();
    *free = heap.available();
    *total = heap.capacity();
    return orSuccess;
  });
}

orError_t orDeviceSynchronize(void) {
  return call([] {
    if (Stream::current() != nullptr) return orErrorNotSupported;
    Device& device = current_device();
    if (refuse_to_wait()) return orErrorCaptureUnsupported;
    device.wait();
    return device.take_failure() ? orErrorUnknown : orSuccess;
  });
}

}  // extern "C"
