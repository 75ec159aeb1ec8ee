// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceAllocator.h"

namespace openreg {

c10::DeviceAllocator* getDeviceAllocator() {
  static c10::DeviceAllocator* const allocator = makeDeviceAllocator().release();  // never destroyed
  return allocator;
}

namespace {

const c10::AllocatorRegisterer<c10::DeviceType::PrivateUse1> registered(getDeviceAllocator());

}  // namespace

}  // namespace openreg
