// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <functional>
#include <ostream>
#include <utility>

#include "runtime/Export.h"
#include "runtime/Stream.h"

// Note [Events]
// An event marks a point of a stream: it is done once the stream has passed it. Another stream can wait for it
// without blocking the host, and two timed events measure what ran between them. torch.Event goes through the guard,
// which uses the C API's handles directly; this class is for C++ code: the pinned allocator, copies between devices.
//
// The handle is created by the first record(), on the stream's device, so an unused event costs nothing; an event
// that was never recorded counts as done. Ownership: the object owns the handle, and moves. Threads: one at a time.

namespace openreg {

class OPENREG_RUNTIME_API OpenRegEvent {
 public:
  explicit OpenRegEvent(bool enable_timing = false) : enable_timing_(enable_timing) {}
  ~OpenRegEvent();

  OpenRegEvent(const OpenRegEvent&) = delete;
  OpenRegEvent& operator=(const OpenRegEvent&) = delete;
  OpenRegEvent(OpenRegEvent&& other) noexcept { swap(other); }
  OpenRegEvent& operator=(OpenRegEvent&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Marks the point `stream` has come to. Throws c10::Error if it was recorded on another device before.
  /// Deleters must not report it to a sanitizer: see fire_hook().
  void record(const OpenRegStream& stream, bool reported = true);

  /// Makes `stream`, of any device, wait for the event. Does nothing if it was never recorded.
  void block(const OpenRegStream& stream) const;

  /// Whether the stream has passed the event.
  bool query() const;

  /// Blocks until the stream has passed the event.
  void synchronize() const;

  /// Milliseconds from this event to `end`. Throws c10::Error unless both were made with timing and recorded.
  double elapsed_time(const OpenRegEvent& end) const;

  bool is_created() const { return event_ != nullptr; }
  c10::DeviceIndex device_index() const { return device_; }

  /// The handle of the C API; null before the first record(). Owned by this object.
  orEvent_t event() const { return event_; }

 private:
  void swap(OpenRegEvent& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(device_, other.device_);
    std::swap(enable_timing_, other.enable_timing_);
  }

  orEvent_t event_ = nullptr;
  c10::DeviceIndex device_ = -1;
  bool enable_timing_ = false;
};

/// Makes `stream` wait for what is queued on `other`, which may be of another device.
OPENREG_RUNTIME_API void queue_wait(const OpenRegStream& stream, const OpenRegStream& other);

OPENREG_RUNTIME_API std::ostream& operator<<(std::ostream& out, const OpenRegStream& stream);

}  // namespace openreg

template <>
struct std::hash<openreg::OpenRegStream> {
  size_t operator()(openreg::OpenRegStream stream) const noexcept { return std::hash<c10::Stream>{}(stream.unwrap()); }
};
