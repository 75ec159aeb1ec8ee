// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#include "runtime/Capturing.h"

#include <c10/util/Exception.h>

#include "runtime/Stream.h"

namespace openreg {

namespace detail {

std::atomic<int> captures{0};

uint64_t ask_capture(orStream_t stream) noexcept {
  orCaptureStatus status = orCaptureStatusNone;
  uint64_t id = 0;
  if (orStreamGetCaptureInfo(stream, &status, &id) != orSuccess) {
    orGetLastError();
    return 0;
  }
  return status == orCaptureStatusNone ? 0 : id;
}

uint64_t ask_current_capture() noexcept {
  int device = 0;
  return orGetDevice(&device) == orSuccess ? ask_capture(currentStreamHandle(static_cast<c10::DeviceIndex>(device))) : 0;
}

}  // namespace detail

void check_not_capturing(const char* what) {
  if (!is_current_stream_capturing()) {
    return;
  }
  // The device ends a capture that somebody waits for, or asks about, by an error.
  orStreamQuery(getCurrentStream().stream());
  orGetLastError();
  throw c10::AcceleratorError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, static_cast<int32_t>(orErrorCaptureUnsupported),
      c10::str("openreg: ", what, ": operation not permitted while a stream is captured into a graph"));
}

}  // namespace openreg
