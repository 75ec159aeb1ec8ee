// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `graphs` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/Capturing.h"
#include "runtime/Export.h"
#include "runtime/Generator.h"

// What graphs know of captures that are under way: Note [What a capture asks of the runtime] in runtime/Capturing.h.

namespace openreg {

/// Names the kernel that this thread launches next while it is captured: after its operator, if `name` is null.
OPENREG_RUNTIME_API void name_captured_kernel(const char* name = nullptr) noexcept;

/// Where a replay begins to draw: a generator's seed and offset when it was launched. Written in the order of the stream.
struct ReplayStart {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// One draw of a graph. Kernels hold it and ask when they run.
class CapturedDraw {
 public:
  CapturedDraw(std::shared_ptr<const ReplayStart> start, uint64_t offset) : start_(std::move(start)), offset_(offset) {}
  /// {seed, offset} in this replay.
  std::pair<uint64_t, uint64_t> get() const { return {start_->seed, start_->offset + offset_}; }

 private:
  std::shared_ptr<const ReplayStart> start_;
  uint64_t offset_;
};

/// All draws of one graph. Threads: any.
class OPENREG_RUNTIME_API GraphDraws {
 public:
  CapturedDraw take(std::shared_ptr<PhiloxState> state, uint64_t increment);
  /// Before a replay: takes its numbers from the generators, and queues their starts on the current stream.
  void launch();

 private:
  struct Source {
    std::shared_ptr<PhiloxState> state;
    std::shared_ptr<ReplayStart> start;
    uint64_t drawn = 0;  // by one replay
  };
  std::mutex mutex_;
  std::vector<Source> sources_;
};

/// A draw of `increment` numbers on the current stream, which is being captured, of `generator` (none: the default one of `device`).
OPENREG_RUNTIME_API CapturedDraw captured_draw(
    const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t increment);

/// A capture that this process has under way, from the beginning of its life to its end.
class CaptureScope {
 public:
  CaptureScope();
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
  /// Once the device has numbered it.
  void draw_from(uint64_t id, std::shared_ptr<GraphDraws> draws);

 private:
  uint64_t id_ = 0;
};

}  // namespace openreg
