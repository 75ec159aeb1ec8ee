// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <c10/core/Device.h>

#include "runtime/Export.h"

// Note [Errors of launched functions]
// A function that was launched can't throw: nobody waits for it. What it throws is kept for its device, whose next launch
// or synchronization reports it, on whichever thread; these are the calls that check more than their own return value:
//   OPENREG_CHECK_LAUNCH(call)  tells it before the call, so that what the call queued is not undone by an exception that
//     is not its own.
//   OPENREG_CHECK_WAIT(device, call)  tells it after the call, with what failed meanwhile.
// Nothing else does. Other devices have nothing to do with it, and who sets a device, frees memory, leaves a scope or asks
// whether an event has happened could neither act on it nor pass it on.
//
// A function that threw an exception (for a dtype that it does not take, an index out of range, a number that does not fit)
// leaves the device as it was but for its outputs: report_kernel_error(), reported once. After anything else nobody knows: report_device_error(),
// as a card keeps a failed device-side assertion. Each launch and synchronization of the device throws it from then on,
// until the process ends.

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
