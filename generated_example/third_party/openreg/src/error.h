// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <new>
#include <stdexcept>

#include "openreg.h"
#include "process.h"

// Note [Errors at the C boundary]
// Every API function runs its body in call() or describe(), so that no C++ exception reaches a caller that may be C,
// and each failure becomes the thread's last error. Inside, functions return orError_t or throw:
// std::bad_alloc is orErrorMemoryAllocation, std::out_of_range (of the list of devices) is orErrorInvalidDevice.
namespace openreg::driver {

void keep_as_last_error(orError_t status) noexcept;

// Keeps a failure as the calling thread's last error; passes `status` on. orErrorNotReady is not a failure.
inline orError_t remember(orError_t status) noexcept {
  if (status != orSuccess && status != orErrorNotReady) keep_as_last_error(status);
  return status;
}

// Whether orDebugFailAfter() or orDebugFailCall() ever wanted failures.
inline std::atomic<bool> wants_failures{false};
// The error that they want of this call; orSuccess mostly. `counts`: it is one of those that orDebugFailAfter() counts.
orError_t wanted_failure(const char* function, bool counts) noexcept;

inline orError_t injected_failure(const char* function, bool counts) noexcept {
  return wants_failures.load(std::memory_order_relaxed) ? wanted_failure(function, counts) : orSuccess;
}

template <typename Body>
orError_t run(const Body& body) noexcept {
  try {
    return remember(body());
  } catch (const std::bad_alloc&) {
    return remember(orErrorMemoryAllocation);
  } catch (const std::out_of_range&) {
    return remember(orErrorInvalidDevice);
  } catch (...) {
    return remember(orErrorUnknown);
  }
}

// For functions that need no device: they answer in a forked child too. `function` is the API's that calls.
template <typename Body>
orError_t describe(const Body& body, const char* function = __builtin_FUNCTION()) noexcept {
  if (const orError_t error = injected_failure(function, false); error != orSuccess) return remember(error);
  return run(body);
}

// For all others.
template <typename Body>
orError_t call(const Body& body, const char* function = __builtin_FUNCTION()) noexcept {
  if (forked()) return remember(orErrorForked);
  if (const orError_t error = injected_failure(function, true); error != orSuccess) return remember(error);
  return run(body);
}

}  // namespace openreg::driver
