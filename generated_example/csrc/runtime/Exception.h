// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include <c10/core/Device.h>
#include <c10/macros/Macros.h>

#include "runtime/Export.h"

// Note [Errors of the device]
// The device's C API reports errors by return value, PyTorch by exception. These macros are the only place that converts
// them. Without them a failed call would go unnoticed until a wrong result shows up.
//   OPENREG_CHECK(call) throws: c10::OutOfMemoryError for a failed allocation (torch.OutOfMemoryError in Python),
//     c10::AcceleratorError for anything else (torch.AcceleratorError), with the call, file and line in the message.
//     For code that may throw: operators, the runtime's public functions.
//   OPENREG_CHECK_LAUNCH(call), of a call that queues work on the current device, and
//   OPENREG_CHECK_WAIT(device, call), of one that waits for `device`: the same. In trees that keep them, they also
//     report earlier failures on the device.
//   OPENREG_WARN(call) warns, continues, and never throws. For destructors, deleters and noexcept functions, which
//     run other code that could throw in never_throw().
// All clear the device's last error, so that a handled failure isn't reported again. Threads: any.

namespace openreg {

constexpr c10::DeviceIndex kCurrentDevice = -1;

}  // namespace openreg

namespace openreg::detail {

/// How many devices have an error of a launched function that is to be reported, and what throws it.
OPENREG_RUNTIME_API extern std::atomic<int> failed_devices;
OPENREG_RUNTIME_API extern void (*throw_device_error)(
    int device, const char* call, const char* function, const char* file, uint32_t line);

[[noreturn]] OPENREG_RUNTIME_API void throw_error(
    orError_t error, const char* call, const char* function, const char* file, uint32_t line);
OPENREG_RUNTIME_API void warn_error(
    orError_t error, const char* call, const char* file, uint32_t line) noexcept;
/// What the driver said of an allocation of the calling thread that failed just now, as a sentence; empty if it said no more than
/// "out of memory". Forgets the last error.
OPENREG_RUNTIME_API std::string refused_memory();
/// Of the exception that is being handled.
OPENREG_RUNTIME_API void warn_exception(const char* what) noexcept;

inline void check(orError_t error, const char* call, const char* function, const char* file, uint32_t line) {
  if (C10_UNLIKELY(error != orSuccess)) {
    throw_error(error, call, function, file, line);
  }
}

inline void check_device(int device, const char* call, const char* function, const char* file, uint32_t line) {
  if (C10_UNLIKELY(failed_devices.load(std::memory_order_acquire) != 0)) {
    (*throw_device_error)(device, call, function, file, line);
  }
}

inline void warn(orError_t error, const char* call, const char* file, uint32_t line) noexcept {
  if (C10_UNLIKELY(error != orSuccess)) {
    warn_error(error, call, file, line);
  }
}

}  // namespace openreg::detail

namespace openreg {

/// Runs fn() where nothing may be thrown. What it throws becomes a warning: it happened while `what`, a clause in the past tense.
template <class Fn>
void never_throw(const char* what, Fn&& fn) noexcept {
  try {
    std::forward<Fn>(fn)();
  } catch (...) {
    detail::warn_exception(what);
  }
}

}  // namespace openreg

#define OPENREG_CHECK(CALL) ::openreg::detail::check((CALL), #CALL, __func__, __FILE__, __LINE__)
// Reports failures on the current device, for a launch whose return value is checked elsewhere.
#define OPENREG_CHECK_DEVICE() \
  ::openreg::detail::check_device(::openreg::kCurrentDevice, "a launch", __func__, __FILE__, __LINE__)
#define OPENREG_CHECK_LAUNCH(CALL) \
  (::openreg::detail::check_device(::openreg::kCurrentDevice, #CALL, __func__, __FILE__, __LINE__), \
      OPENREG_CHECK(CALL))
#define OPENREG_CHECK_WAIT(DEVICE, CALL) \
  (OPENREG_CHECK(CALL), ::openreg::detail::check_device(DEVICE, #CALL, __func__, __FILE__, __LINE__))
#define OPENREG_WARN(CALL) ::openreg::detail::warn((CALL), #CALL, __FILE__, __LINE__)
