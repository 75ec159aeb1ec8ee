// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "error.h"

#include <atomic>

namespace openreg::driver {
namespace {

thread_local orError_t last_error = orSuccess;

std::atomic<int> calls_to_failure{-1};  // negative: none is wanted
std::atomic<orError_t> failure = orSuccess;

}  // namespace

orError_t injected_failure() noexcept {
  if (calls_to_failure.load(std::memory_order_relaxed) < 0) return orSuccess;
  return calls_to_failure.fetch_sub(1, std::memory_order_relaxed) == 0 ? failure.load() : orSuccess;
}

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

void orDebugFailAfter(int calls, orError_t error) {
  openreg::driver::failure = error;
  openreg::driver::calls_to_failure = calls;
}

}  // extern "C"
