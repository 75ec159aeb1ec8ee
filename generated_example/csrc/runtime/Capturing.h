// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <atomic>
#include <cstdint>

#include <c10/macros/Macros.h>

#include "runtime/Export.h"

// Note [What a capture asks of the runtime]
// Most code doesn't need to know that its stream is captured: the device records its work instead of running it. Exceptions:
//   waiting for the device         check_not_capturing(): there is nothing to wait for
//   ownership of a launched function  the graph owns it, as it runs with each replay
//   random numbers                 captured_draw() in graphs/Capture.h: each replay draws new numbers
//   names of kernels               kept with the graph, since a replay calls no operator
// Without a capture each of them costs a load.

namespace openreg {

namespace detail {
OPENREG_RUNTIME_API extern std::atomic<int> captures;  // under way, of all threads
OPENREG_RUNTIME_API uint64_t ask_capture(orStream_t stream) noexcept;
OPENREG_RUNTIME_API uint64_t ask_current_capture() noexcept;
}  // namespace detail

/// Whether any thread captures any stream: what frees at any time must not wait for a device then.
inline bool anything_captured() noexcept {
  return C10_UNLIKELY(detail::captures.load(std::memory_order_relaxed) != 0);
}

/// The number of the capture that a stream is in (null: the current device's default stream); 0 if it is in none. Threads: any.
inline uint64_t capture_of(orStream_t stream) noexcept {
  return anything_captured() ? detail::ask_capture(stream) : 0;
}

/// Whether the calling thread's current stream on the current device is being captured.
inline bool is_current_stream_capturing() noexcept {
  return anything_captured() && detail::ask_current_capture() != 0;
}

/// Throws c10::AcceleratorError, as the device does for a wait, if the current stream is being captured; the capture has failed
/// then. `what` does what can't be captured.
OPENREG_RUNTIME_API void check_not_capturing(const char* what);

}  // namespace openreg
