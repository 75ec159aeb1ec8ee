// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include "runtime/Stream.h"

namespace openreg {

/// Wraps a handle that was made with the C API, on that device; it must outlive every copy of the stream. Not owned.
/// Throws c10::Error on null. The same handle gives the same stream. Threads: any.
OPENREG_RUNTIME_API OpenRegStream getStreamFromExternal(orStream_t handle, c10::DeviceIndex device);

}  // namespace openreg
