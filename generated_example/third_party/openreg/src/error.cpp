// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "error.h"

namespace openreg::driver {
namespace {

thread_local orError_t last_error = orSuccess;

}  // namespace

orError_t remember(orError_t status) noexcept {
  if (status != orSuccess && status != orErrorNotReady) last_error = status;
  return status;
}

}  // namespace openreg::driver

extern "C" {

orError_t orGetLastError(void) {
  const orError_t status = openreg::driver::last_error;
  openreg::driver::last_error = orSuccess;
  return status;
}

orError_t orPeekAtLastError(void) { return openreg::driver::last_error; }

}  // extern "C"
