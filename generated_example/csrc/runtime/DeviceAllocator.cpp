// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceAllocator.h"

#include <atomic>

namespace openreg {

namespace {

std::atomic<c10::DeviceAllocator*>& current() {
  static std::atomic<c10::DeviceAllocator*> allocator{makeDeviceAllocator().release()};  // never destroyed
  return allocator;
}

}  // namespace

c10::DeviceAllocator* getDeviceAllocator() {
  return current().load(std::memory_order_acquire);
}

void setDeviceAllocator(c10::DeviceAllocator* allocator) {
  current().store(allocator, std::memory_order_release);
  c10::SetAllocator(c10::DeviceType::PrivateUse1, allocator);
}

namespace {

const c10::AllocatorRegisterer<c10::DeviceType::PrivateUse1> device_allocator_registered(getDeviceAllocator());

}  // namespace

}  // namespace openreg
