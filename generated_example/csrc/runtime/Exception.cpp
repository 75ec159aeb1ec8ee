// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `backend` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Exception.h"

#include <c10/util/Exception.h>

#include <string>

namespace openreg::detail {

std::atomic<int> failed_devices{0};
void (*throw_device_error)(int, const char*, const char*, const char*, uint32_t) = nullptr;

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
