// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <c10/core/Device.h>

#include "runtime/Export.h"

// Note [Errors of launched functions]
// An exception in a launched function has no caller to propagate to. It is kept for its device, and the device's next launch
// or synchronization reports it, on any thread:
//   OPENREG_CHECK_LAUNCH(call)  reports it before the call, so that an earlier error doesn't undo the work that the call
//     queues.
//   OPENREG_CHECK_WAIT(device, call)  reports it after the call, with failures in the meantime.
// Nothing else does. Other devices aren't affected, and code that sets a device, frees memory, leaves a scope or queries
// an event could neither handle nor raise it.
//
// A function that threw an exception (for a wrong dtype, an index out of range, a number that does not fit)
// leaves everything but its outputs intact: report_kernel_error(), reported once. After any other failure the device's
// state is unknown: report_device_error(). As after a device-side assertion in CUDA, each launch and synchronization of the
// device then throws it, until the process ends.

namespace openreg {

/// A function that was launched on `device` failed. The first report is the one that is kept. Threads: any; never throws.
OPENREG_RUNTIME_API void report_device_error(c10::DeviceIndex device, const char* what) noexcept;
/// The same of a function that saw what is wrong by itself: reported once, and then forgotten.
OPENREG_RUNTIME_API void report_kernel_error(c10::DeviceIndex device, const char* what) noexcept;

/// Of which device an event is: set where it is made, kCurrentDevice for one that is not known, forgotten where it is destroyed.
void note_event(void* event, c10::DeviceIndex device);
c10::DeviceIndex device_of_event(void* event);
void forget_event(void* event);

}  // namespace openreg
