// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <atomic>
#include <cstdint>

#include <c10/macros/Macros.h>

#include "runtime/Export.h"

// Note [Errors of the device]
// The device's C API reports by return value; PyTorch reports by exception. These two macros are the only place
// where one becomes the other. Without them a failed call would go unnoticed until a wrong result shows up.
//   OPENREG_CHECK(call) throws: c10::OutOfMemoryError for a failed allocation (torch.OutOfMemoryError in Python),
//     c10::AcceleratorError for anything else (torch.AcceleratorError), with the call, file and line in the message.
//     For code that may throw: operators, the runtime's public functions.
//   OPENREG_WARN(call) warns and goes on, and never throws. For destructors, deleters and noexcept functions.
// Both clear the device's last error, so that a handled failure isn't reported again. Threads: any.
//
// A function that was launched can't throw: nobody waits for it. What it throws is kept for the next checked call, on
// whichever thread. A check that failed in the function (a dtype it does not take, an index out of range) leaves the
// device as it was but for the function's outputs: report_kernel_error(), told once. After anything else nobody knows:
// report_device_error(), as a card keeps a failed device-side assertion. Each checked call throws it from then on, until
// the process ends.

namespace openreg {

/// A launched function failed. The first report is the one that is kept. Threads: any; never throws.
OPENREG_RUNTIME_API void report_device_error(const char* what) noexcept;
/// The same of a function that saw what is wrong by itself: told by one checked call, and then forgotten.
OPENREG_RUNTIME_API void report_kernel_error(const char* what) noexcept;

}  // namespace openreg

namespace openreg::detail {

OPENREG_RUNTIME_API extern std::atomic<bool> device_failed;
OPENREG_RUNTIME_API void throw_device_error(
    const char* call, const char* function, const char* file, uint32_t line);

[[noreturn]] OPENREG_RUNTIME_API void throw_error(
    orError_t error, const char* call, const char* function, const char* file, uint32_t line);
OPENREG_RUNTIME_API void warn_error(
    orError_t error, const char* call, const char* file, uint32_t line) noexcept;

inline void check(orError_t error, const char* call, const char* function, const char* file, uint32_t line) {
  if (C10_UNLIKELY(error != orSuccess)) {
    throw_error(error, call, function, file, line);
  }
}

inline void check_device(const char* call, const char* function, const char* file, uint32_t line) {
  if (C10_UNLIKELY(device_failed.load(std::memory_order_acquire))) {
    throw_device_error(call, function, file, line);
  }
}

inline void warn(orError_t error, const char* call, const char* file, uint32_t line) noexcept {
  if (C10_UNLIKELY(error != orSuccess)) {
    warn_error(error, call, file, line);
  }
}

}  // namespace openreg::detail

// The failed device is seen before CALL: what CALL queued must not be undone by an exception that is not its own.
#define OPENREG_CHECK(CALL) \
  (::openreg::detail::check_device(#CALL, __func__, __FILE__, __LINE__), \
      ::openreg::detail::check((CALL), #CALL, __func__, __FILE__, __LINE__))
// For calls that wait: also tells what failed meanwhile.
#define OPENREG_CHECK_WAIT(CALL) \
  (OPENREG_CHECK(CALL), ::openreg::detail::check_device(#CALL, __func__, __FILE__, __LINE__))
#define OPENREG_WARN(CALL) ::openreg::detail::warn((CALL), #CALL, __FILE__, __LINE__)
