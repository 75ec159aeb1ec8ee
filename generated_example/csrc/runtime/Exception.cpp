// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Exception.h"

#include <c10/util/Exception.h>

#include <mutex>
#include <string>

namespace openreg {
namespace {

std::mutex& failure_mutex() {
  static auto& mutex = *new std::mutex();
  return mutex;
}

std::string& failure() {
  static auto& text = *new std::string();
  return text;
}

}  // namespace

namespace detail {
std::atomic<bool> device_failed{false};
}  // namespace detail

void report_device_error(const char* what) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(failure_mutex());
    if (!detail::device_failed.load(std::memory_order_relaxed)) {
      failure() = what;
    }
  } catch (...) {  // no memory for the text: it stays empty
  }
  detail::device_failed.store(true, std::memory_order_release);
}

}  // namespace openreg

namespace openreg::detail {

namespace {

std::string describe(orError_t error, const char* call) {
  // The string first: of an unported function it names the function, and the last error is still there.
  const std::string text = orGetErrorString(error);
  orGetLastError();
  return c10::str("openreg: ", text, " (", orGetErrorName(error), ", code ", static_cast<int>(error), ") in ", call);
}

}  // namespace

void throw_error(orError_t error, const char* call, const char* function, const char* file, uint32_t line) {
  const c10::SourceLocation location{function, file, line};
  const std::string message = c10::str(describe(error, call), " at ", file, ":", line);
  if (error == orErrorMemoryAllocation) {
    throw c10::OutOfMemoryError(location, message);
  }
  throw c10::AcceleratorError(location, static_cast<int32_t>(error), message);
}

void throw_device_error(const char* call, const char* function, const char* file, uint32_t line) {
  std::string text;
  {
    const std::lock_guard<std::mutex> lock(failure_mutex());
    text = failure();
  }
  throw c10::AcceleratorError({function, file, line}, static_cast<int32_t>(orErrorUnknown),
      c10::str("openreg: a function that ran on the device failed, maybe one queued long before: ", text, " (seen in ",
          call, " at ", file, ":", line, "; the device is of no more use to this process)"));
}

void warn_error(orError_t error, const char* call, const char* file, uint32_t line) noexcept {
  try {
    TORCH_WARN(describe(error, call), " at ", file, ":", line);
  } catch (...) {  // a warning handler may turn warnings into exceptions; here there is nobody to catch them
  }
}

}  // namespace openreg::detail
