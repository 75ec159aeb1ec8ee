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

struct Failure {
  std::string text;
  bool lasting = false;
};

Failure& failure() {
  static auto& failure = *new Failure();
  return failure;
}

void report(const char* what, bool lasting) noexcept {
  const std::lock_guard<std::mutex> lock(failure_mutex());
  Failure& kept = failure();
  const bool first = !detail::device_failed.load(std::memory_order_relaxed);
  try {
    if (first || lasting > kept.lasting) {
      kept.text = what;
    }
  } catch (...) {  // no memory for the text: it stays as it is
  }
  kept.lasting = kept.lasting || lasting;
  detail::device_failed.store(true, std::memory_order_release);
}

}  // namespace

namespace detail {
std::atomic<bool> device_failed{false};
}  // namespace detail

void report_device_error(const char* what) noexcept {
  report(what, /*lasting=*/true);
}

void report_kernel_error(const char* what) noexcept {
  report(what, /*lasting=*/false);
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
  bool lasting = false;
  {
    const std::lock_guard<std::mutex> lock(failure_mutex());
    if (!device_failed.load(std::memory_order_relaxed)) {
      return;  // another thread was told meanwhile
    }
    lasting = failure().lasting;
    text = failure().text;
    device_failed.store(lasting, std::memory_order_release);
  }
  throw c10::AcceleratorError({function, file, line}, static_cast<int32_t>(orErrorUnknown),
      c10::str("openreg: a function that ran on the device failed, maybe one queued long before: ", text, " (seen in ",
          call, " at ", file, ":", line,
          lasting ? "; the device is of no more use to this process)" : "; what it was to write is undefined)"));
}

void warn_error(orError_t error, const char* call, const char* file, uint32_t line) noexcept {
  try {
    TORCH_WARN(describe(error, call), " at ", file, ":", line);
  } catch (...) {  // a warning handler may turn warnings into exceptions; here there is nobody to catch them
  }
}

}  // namespace openreg::detail
