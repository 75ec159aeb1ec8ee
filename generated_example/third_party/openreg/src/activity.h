// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "openreg.h"

// Note [Activities]
// What streams ran, with times, for profilers. A task carries its record from the thread that queues it to the stream's, which
// adds when it ran; records that are complete lie in one list until they are read. While nobody records, a task carries none,
// and queueing it costs one load more.
namespace openreg::driver {

using Activity = orActivity;

// What a task is, for records.
struct What {
  orActivityKind kind = orActivityKernel;
  const char* name = nullptr;
  orMemcpyKind copy = orMemcpyHostToHost;
  bool pageable = false;
  std::size_t bytes = 0;
};

class Activities {
 public:
  static bool on() noexcept { return on_.load(std::memory_order_relaxed); }
  static void enable(bool on) noexcept { on_.store(on); }

  // The record of what the calling thread queues now on a stream, by its device and number. Throws std::bad_alloc.
  static std::unique_ptr<Activity> begin(const What& what, int device, int stream);
  // After it ran. Never throws: if memory for a record is missing, it is counted as lost.
  static void finish(const Activity& activity) noexcept;
  // Moves up to `capacity` records; returns how many.
  static std::size_t read(Activity* activities, std::size_t capacity, std::size_t* lost);

  // Of the calling thread.
  static void correlate(std::uint64_t correlation) noexcept;
  static void name(const char* name) noexcept;
  // `what` with the name that the thread gave to its next kernel, if it gave one.
  static What named(What what) noexcept;

  static std::uint64_t now() noexcept;

 private:
  static inline std::atomic<bool> on_{false};
};

}  // namespace openreg::driver
