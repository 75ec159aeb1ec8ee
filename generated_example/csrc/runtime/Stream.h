// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <openreg.h>

#include <cstdint>

#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include "runtime/Export.h"

// Note [Streams]
// A stream is a queue of work that the device does in order; two streams may run at once. Each thread has a current
// stream per device, at first the default stream, and kernels go there. torch.Stream, `with stream:` and
// torch.accelerator.current_stream come here through the guard.
//
// Each device has the default stream and two pools (normal and high priority) of 4 streams, each created when it is
// first used, round-robin: a pool's stream may be in use elsewhere too, which is correct, only less concurrent.
// Streams are never destroyed, because a c10::Stream is a plain value that anyone may copy and keep.
//
// A stream's id: 0 is the default stream. Else bit 0 is 1, bits 1-4 say which pool,
// and the rest is the index there.
//
// Threads: all functions and members may be used from any thread; a stream works from threads that never saw its
// device. The native handle of the default stream is null, which means "of the current device": pass it to the C API
// under a guard of that device. The members here make one themselves.

namespace openreg {

class OPENREG_RUNTIME_API OpenRegStream {
 public:
  /// Throws c10::Error if `stream` is of another device type.
  explicit OpenRegStream(c10::Stream stream) : stream_(stream) {
    TORCH_CHECK(
        stream.device_type() == c10::DeviceType::PrivateUse1,
        "expected a stream of openreg, got one of ", stream.device_type());
  }

  operator c10::Stream() const { return stream_; }
  c10::Stream unwrap() const { return stream_; }

  c10::Device device() const { return stream_.device(); }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::StreamId id() const { return stream_.id(); }

  /// The handle of the C API; null for the default stream. Throws on an id that no stream has. Not owned.
  orStream_t stream() const;

  /// Whether all work queued so far is done.
  bool query() const;

  /// Blocks until all work queued so far is done.
  void synchronize() const;

  /// As the device says; a lower number goes first.
  int priority() const;

  bool operator==(const OpenRegStream& other) const noexcept { return stream_ == other.stream_; }
  bool operator!=(const OpenRegStream& other) const noexcept { return stream_ != other.stream_; }

 private:
  c10::Stream stream_;
};

/// The next stream of the pool: high priority if `priority` < 0, else normal. Device -1: the current one.
OPENREG_RUNTIME_API OpenRegStream getStreamFromPool(int priority = 0, c10::DeviceIndex device = -1);

/// The default stream of `device` (-1: the current one).
OPENREG_RUNTIME_API OpenRegStream getDefaultStream(c10::DeviceIndex device = -1);

/// The calling thread's current stream on `device` (-1: the current one).
OPENREG_RUNTIME_API OpenRegStream getCurrentStream(c10::DeviceIndex device = -1);
/// Its handle alone, for the allocators, which ask at each allocation. `device` is not checked.
orStream_t currentStreamHandle(c10::DeviceIndex device) noexcept;

/// The stream of no pool that foreign_handle() knows by this index.
OpenRegStream foreign_stream(c10::DeviceIndex device, size_t index);
/// Its handle; null if there is none. csrc/runtime/ForeignStream.cpp has it.
orStream_t foreign_handle(c10::DeviceIndex device, size_t index);

/// Makes `stream` the calling thread's current one on its device; the current device stays.
OPENREG_RUNTIME_API void setCurrentStream(OpenRegStream stream);

}  // namespace openreg
