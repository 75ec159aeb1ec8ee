// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

// Note [Events and marks]
// An event is a name for its latest mark. Each record makes a new mark and queues it; whoever waits holds the mark it
// saw, so recording the event again, or destroying it, disturbs nobody. A mark can only be waited for once it is
// queued, so streams never wait for each other in a circle.
namespace openreg::driver {

class Capture;
class Stream;

class Mark {
 public:
  using Clock = std::chrono::steady_clock;

  Mark() = default;
  // Of a capture: it never happens, and stands for what its stream had waited for.
  Mark(std::shared_ptr<Capture> capture, std::map<const Stream*, std::size_t> seen)
      : capture_(std::move(capture)), seen_(std::move(seen)) {}
  const std::shared_ptr<Capture>& capture() const { return capture_; }
  const std::map<const Stream*, std::size_t>& seen() const { return seen_; }

  // Called once, by the stream that reached it.
  void happen() {
    std::lock_guard lock(mutex_);
    time_ = Clock::now();
    happened_ = true;
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return happened_; });
  }

  // Whether it happened, and then when.
  bool happened(Clock::time_point* time = nullptr) const {
    std::lock_guard lock(mutex_);
    if (happened_ && time != nullptr) *time = time_;
    return happened_;
  }

 private:
  const std::shared_ptr<Capture> capture_;
  const std::map<const Stream*, std::size_t> seen_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool happened_ = false;
  Clock::time_point time_;
};

class Event {
 public:
  explicit Event(bool timed) : timed_(timed) {}

  bool timed() const { return timed_; }

  // Null before the first record.
  std::shared_ptr<Mark> latest() const {
    std::lock_guard lock(mutex_);
    return latest_;
  }
  void set_latest(std::shared_ptr<Mark> mark) {
    std::lock_guard lock(mutex_);
    latest_ = std::move(mark);
  }

 private:
  const bool timed_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mark> latest_;
};

}  // namespace openreg::driver
