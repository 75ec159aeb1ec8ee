// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "error.h"

#include <atomic>
#include <mutex>
#include <string>

namespace openreg::driver {
namespace {

thread_local orError_t last_error = orSuccess;

std::atomic<int> calls_to_failure{-1};  // negative: none is wanted
std::atomic<orError_t> failure = orSuccess;

// What orDebugFailCall() wants.
struct WantedFailures {
  std::mutex mutex;
  std::string function;  // empty: each
  int calls = 0;
  int times = 0;  // 0: none is wanted
  orError_t error = orSuccess;
};

WantedFailures& wanted_failures() {
  static auto& wanted = *new WantedFailures;
  return wanted;
}

}  // namespace

orError_t wanted_failure(const char* function, bool counts) noexcept {
  if (counts && calls_to_failure.load(std::memory_order_relaxed) >= 0 &&
      calls_to_failure.fetch_sub(1, std::memory_order_relaxed) == 0) {
    return failure.load();
  }
  WantedFailures& wanted = wanted_failures();
  const std::lock_guard lock(wanted.mutex);
  if (wanted.times == 0 || (!wanted.function.empty() && wanted.function != function)) return orSuccess;
  if (wanted.calls > 0) {
    --wanted.calls;
    return orSuccess;
  }
  if (wanted.times > 0) --wanted.times;
  return wanted.error;
}

void keep_as_last_error(orError_t status) noexcept { last_error = status; }

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
  if (calls >= 0) openreg::driver::wants_failures = true;
}

void orDebugFailCall(const char* function, int calls, int times, orError_t error) {
  using namespace openreg::driver;
  WantedFailures& wanted = wanted_failures();
  const std::lock_guard lock(wanted.mutex);
  wanted.function = function == nullptr ? "" : function;
  wanted.calls = calls;
  wanted.times = times;
  wanted.error = error;
  if (times != 0) wants_failures = true;
}

}  // extern "C"
