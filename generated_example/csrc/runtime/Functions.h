// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <limits>

#include <c10/core/Device.h>
#include <c10/core/impl/GPUTrace.h>

#include "runtime/Export.h"

// Note [Device functions]
// The basic functions of the device for all other code: how many there are, which one is current, switch, wait.
// The current device belongs to the thread (the C API keeps it), because PyTorch's autograd engine runs one worker
// thread per device and sets its device once. The guard (Guard.h) and the hooks (Hooks.h) are built on these, and the
// Python module calls them. Indices are checked here: PyTorch doesn't, and an unchecked "openreg:9" would silently
// land on another device.
//
// Nothing touches the device before it is needed: importing the package works on a machine without one, where
// device_count() is 0.

// Note [Fork]
// A forked child inherits the memory of its parent but neither its threads nor its connection to the device. Once
// the device was used, a child therefore can't use it: it is "in a bad fork" and every use throws. A fork before
// first use (as in a DataLoader's workers) is harmless. Deleters do nothing in such a child: what they would free
// belongs to the parent.

namespace openreg {

/// How many devices PyTorch's index can distinguish.
inline constexpr int kMaxDevices = std::numeric_limits<c10::DeviceIndex>::max();

/// The number of devices; 0 if there is none or the driver can't be asked. Never throws, doesn't use a device.
OPENREG_RUNTIME_API c10::DeviceIndex device_count() noexcept;

/// device_count(), or throws c10::Error if there is no device.
OPENREG_RUNTIME_API c10::DeviceIndex device_count_ensure_non_zero();

/// The device of the calling thread.
OPENREG_RUNTIME_API c10::DeviceIndex current_device();

/// Makes `device` the calling thread's. Throws c10::Error on an index that is out of range.
OPENREG_RUNTIME_API void set_device(c10::DeviceIndex device);

/// set_device() that returns the previous device. -1 changes nothing and returns -1.
OPENREG_RUNTIME_API c10::DeviceIndex exchange_device(c10::DeviceIndex device);

/// Blocks until all streams of `device` (-1: the current one) are idle.
OPENREG_RUNTIME_API void device_synchronize(c10::DeviceIndex device = -1);

/// Throws c10::Error unless 0 <= device < device_count().
OPENREG_RUNTIME_API void check_device_index(c10::DeviceIndex device);

/// `device`, or the current device if it is -1; checked.
OPENREG_RUNTIME_API c10::DeviceIndex resolve_device_index(c10::DeviceIndex device);

/// What the driver says of `device`. Sizes in bytes.
OPENREG_RUNTIME_API orDeviceProperties device_properties(c10::DeviceIndex device);

/// Declares first use of a device: after this, a forked child can no longer use it. Throws c10::Error in such a child, and
/// without a device. Cheap after the first time; call it before you allocate, create or wait.
OPENREG_RUNTIME_API void initialize();

/// Whether initialize() was called in this process (and it isn't a bad fork).
OPENREG_RUNTIME_API bool is_initialized() noexcept;

/// Whether this process was forked from one that had used a device; see Note [Fork].
OPENREG_RUNTIME_API bool isInBadFork() noexcept;

/// Memory or a stream was asked of `device`: it has a context now. Ignores an index out of range.
OPENREG_RUNTIME_API void mark_device_used(c10::DeviceIndex device) noexcept;

/// Whether mark_device_used(device) was called; false for an index out of range.
OPENREG_RUNTIME_API bool device_has_context(c10::DeviceIndex device) noexcept;

/// Reports to a sanitizer if one runs: fire_hook(&TraceHooks::trace_gpu_event_record, event, stream.hash()). Takes Python's lock, so
/// call it without a mutex; and in no destructor or deleter, where Python may have an exception that the hook would lose.
using TraceHooks = c10::impl::PyInterpreterVTable;
template <typename Hook, typename... Numbers>
void fire_hook(Hook hook, Numbers... numbers) {
  if (const auto* const sanitizer = c10::impl::GPUTrace::get_trace(); C10_UNLIKELY(sanitizer != nullptr)) {
    ((**sanitizer).*hook)(c10::DeviceType::PrivateUse1, (uintptr_t)numbers...);
  }
}

}  // namespace openreg
