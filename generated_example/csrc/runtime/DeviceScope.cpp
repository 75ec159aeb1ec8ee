// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/DeviceScope.h"

#include "runtime/Exception.h"

namespace openreg {

DeviceScope::DeviceScope(c10::DeviceIndex device) noexcept {
  error_ = orGetDevice(&previous_);
  if (error_ == orSuccess && previous_ != device) {
    error_ = orSetDevice(device);
  } else {
    previous_ = -1;
  }
  if (error_ != orSuccess) {
    previous_ = -1;
    orGetLastError();
  }
}

DeviceScope::~DeviceScope() {
  if (previous_ != -1) {
    OPENREG_WARN(orSetDevice(previous_));
  }
}

void wait_for_device(c10::DeviceIndex device) noexcept {
  const DeviceScope scope(device);
  OPENREG_WARN(scope.error());
  if (scope.error() == orSuccess) {
    OPENREG_WARN(orDeviceSynchronize());
  }
}

MemoryInfo memory_info(c10::DeviceIndex device) noexcept {
  const DeviceScope scope(device);
  MemoryInfo info;
  if (scope.error() == orSuccess && orMemGetInfo(&info.free, &info.total) != orSuccess) {
    orGetLastError();
    return {};
  }
  return info;
}

}  // namespace openreg
