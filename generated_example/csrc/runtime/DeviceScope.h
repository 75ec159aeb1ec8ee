// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <cstddef>

#include <c10/core/Device.h>

#include "runtime/Export.h"

// Switches devices where exceptions are not allowed: in deleters, at the end of scopes, in messages about errors.

namespace openreg {

/// Makes a device current for a scope in which nothing may be thrown: a deleter, or the middle of a change that others
/// must see whole. error() says whether it is current; what restores the previous one at most warns.
class OPENREG_RUNTIME_API DeviceScope {
 public:
  explicit DeviceScope(c10::DeviceIndex device) noexcept;
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  orError_t error() const { return error_; }

 private:
  int previous_ = -1;  // -1: nothing to restore
  orError_t error_ = orSuccess;
};

/// Waits as device_synchronize() does where nothing may be thrown, and reports nothing of what failed there.
OPENREG_RUNTIME_API void wait_for_device(c10::DeviceIndex device) noexcept;

struct MemoryInfo {
  size_t free = 0;
  size_t total = 0;
};

/// Bytes that `device` has; zeros where it does not say. For messages: never throws.
OPENREG_RUNTIME_API MemoryInfo memory_info(c10::DeviceIndex device) noexcept;

}  // namespace openreg
