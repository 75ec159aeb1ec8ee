// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Exception.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

namespace openreg {
namespace {

// What failed on a device and is to be reported.
struct Failure {
  bool present = false;
  bool lasting = false;
  std::string text;
};

struct Failures {
  std::mutex mutex;
  std::array<Failure, std::numeric_limits<c10::DeviceIndex>::max() + 1> by_device;

  Failure& of(int device) { return by_device[static_cast<size_t>(std::max(device, 0))]; }
};

Failures& failures() {
  static auto& failures = *new Failures();  // functions may run while the process ends
  return failures;
}

void report(c10::DeviceIndex device, const char* what, bool lasting) noexcept {
  Failures& all = failures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Failure& kept = all.of(device);
  try {
    if (!kept.present || lasting > kept.lasting) {
      kept.text = what;
    }
  } catch (...) {  // no memory for the text: it stays as it is
  }
  kept.lasting = kept.lasting || lasting;
  if (!kept.present) {
    kept.present = true;
    detail::failed_devices.fetch_add(1, std::memory_order_release);
  }
}

// What is to be reported of the device now; forgotten unless it lasts.
std::optional<Failure> take_failure(int device) {
  Failures& all = failures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Failure& kept = all.of(device);
  if (!kept.present) {
    return std::nullopt;  // of another device, or another thread reported it meanwhile
  }
  const Failure failure = kept;
  if (!kept.lasting) {
    kept = Failure{};
    detail::failed_devices.fetch_sub(1, std::memory_order_release);
  }
  return failure;
}

}  // namespace

namespace detail {
std::atomic<int> failed_devices{0};
}  // namespace detail

void report_device_error(c10::DeviceIndex device, const char* what) noexcept {
  report(device, what, /*lasting=*/true);
}

void report_kernel_error(c10::DeviceIndex device, const char* what) noexcept {
  report(device, what, /*lasting=*/false);
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

std::string refused_memory() {
  const std::string text = orGetErrorString(orErrorMemoryAllocation);
  orGetLastError();
  return text == "out of memory" ? "" : c10::str(" The driver says: ", text, ".");
}

void throw_error(orError_t error, const char* call, const char* function, const char* file, uint32_t line) {
  const c10::SourceLocation location{function, file, line};
  const std::string message = c10::str(describe(error, call), " at ", file, ":", line);
  if (error == orErrorMemoryAllocation) {
    throw c10::OutOfMemoryError(location, message);
  }
  throw c10::AcceleratorError(location, static_cast<int32_t>(error), message);
}

void throw_device_error(int device, const char* call, const char* function, const char* file, uint32_t line) {
  if (device == kCurrentDevice) {
    OPENREG_CHECK(orGetDevice(&device));
  }
  const std::optional<Failure> failure = take_failure(device);
  if (!failure) {
    return;
  }
  throw c10::AcceleratorError({function, file, line}, static_cast<int32_t>(orErrorUnknown),
      c10::str("openreg: a function that ran on device ", device, " failed, maybe one queued long before: ",
          failure->text, " (seen in ", call, " at ", file, ":", line,
          failure->lasting ? "; the device is of no more use to this process)" : "; what it was to write is undefined)"));
}

void warn_error(orError_t error, const char* call, const char* file, uint32_t line) noexcept {
  try {
    TORCH_WARN(describe(error, call), " at ", file, ":", line);
  } catch (...) {  // a warning handler may turn warnings into exceptions; here there is nobody to catch them
  }
}

void warn_exception(const char* what) noexcept {
  try {
    try {
      throw;
    } catch (const c10::Error& error) {
      TORCH_WARN("openreg: while ", what, ": ", error.what_without_backtrace());
    } catch (const std::exception& error) {
      TORCH_WARN("openreg: while ", what, ": ", error.what());
    }
  } catch (...) {  // as above, or something that has no text
  }
}

}  // namespace openreg::detail
