// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "openreg.h"
#include "isolation.h"

// Note [Streams are threads]
// A stream is a queue and a thread that runs what is queued, one task after another. The thread starts with the first
// task and is never joined: a destroyed stream's thread ends when its queue has run dry, all others sleep until the
// process ends. The thread shares ownership of its stream, so a stream outlives its handle for as long as it has work.
//
// Priority: the thread of a more urgent stream asks the system for a larger share of the CPU (a lower nice value). The
// system refuses that to a process without the right to (CAP_SYS_NICE or RLIMIT_NICE), and then all streams are alike.
// Nothing is preempted, and no task waits because a more urgent one is queued elsewhere.
namespace openreg::driver {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  static constexpr int kLeastPriority = 0;
  static constexpr int kGreatestPriority = -2;

  // What a task does decides whether device memory is opened for it (see Note [Isolation of device memory]).
  enum class Touches {
    kMemory,
    kNothing,
  };
  using Clock = std::chrono::steady_clock;

  Stream(int device, int priority, Isolation& isolation);

  // The stream whose thread is calling; null on host threads.
  static Stream* current() noexcept;

  int device() const { return device_; }
  int priority() const { return priority_; }

  // Queues a task. If it throws when run, the stream goes on and take_failure() tells. Throws if there are no means to
  // queue it (memory, threads); then nothing is queued.
  void submit(Touches touches, std::function<void()> run);
  // True if nothing is left to do.
  bool idle();
  // Waits for what was submitted so far. Not to be called on a stream's own thread.
  void wait();
  // The same up to a time; false if it was reached first.
  bool wait_until(Clock::time_point deadline);
  // True if a task has thrown since the last call.
  bool take_failure();
  // Nothing will be submitted any more.
  void close();

 private:
  struct Task {
    Touches touches;
    std::function<void()> run;
  };

  void start();
  void work();
  void sleep_until_work(std::unique_lock<std::mutex>& lock);

  const int device_;
  const int priority_;
  Isolation& isolation_;

  std::mutex mutex_;
  std::condition_variable arrived_;  // a task, or the end
  std::condition_variable finished_;  // a task
  std::deque<Task> queue_;
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
  bool started_ = false;
  bool closed_ = false;
  bool failed_ = false;
};

// The stream of a handle; the current device's default stream for null. Null if there is no such stream. Throws
// std::bad_alloc if the devices cannot be set up.
std::shared_ptr<Stream> find_stream(orStream_t handle);

}  // namespace openreg::driver
