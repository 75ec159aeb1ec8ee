// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <c10/core/Device.h>

namespace openreg {

/// The handle of getCurrentStream(device), for the allocators, which ask at each allocation. `device` is not checked.
orStream_t currentStreamHandle(c10::DeviceIndex device) noexcept;

}  // namespace openreg
