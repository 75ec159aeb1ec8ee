// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "openreg.h"
#include "capture.h"
#include "isolation.h"
#include "task_queue.h"

// Note [Streams are threads]
// A stream is a queue and a thread that runs what is queued, one task after another. The thread starts with the first
// task and is never joined: a destroyed stream's thread ends when its queue has run dry, all others sleep until the
// process ends. The thread shares ownership of its stream, so a stream outlives its handle for as long as it has work.
//
// Waking a thread costs both sides more than a small kernel does. So a thread that has run dry looks out for the next task
// for some microseconds before it sleeps, and so does a host thread that waits (Lookout). Those that submit take turns by a
// lock that the stream's thread does not take, so neither side ever waits for the other while there is work. A task of two
// pointers, as a kernel is, takes no memory of its own.
//
// Priority: the thread of a more urgent stream asks the system for a larger share of the CPU (a lower nice value). The
// system refuses that to a process without the right to (CAP_SYS_NICE or RLIMIT_NICE), and then all streams are alike.
// Nothing is preempted, and no task waits because a more urgent one is queued elsewhere.
namespace openreg::driver {

// Looks for something to happen before it is worth a sleep. Where that did not help the last times, because the processors
// are busy with something else or there is nothing to come, it gives up soon, and tries in earnest now and then.
class Lookout {
 public:
  using Clock = std::chrono::steady_clock;

  // Calls `ready` until it is true or the time is up; returns what it said last. Any thread.
  template <typename Ready>
  bool see(const Ready& ready) {
    if (ready()) return true;
    if (!several_processors()) return false;
    const unsigned failures = failures_.load(std::memory_order_relaxed);
    const bool earnest = failures < kTrials || failures % kRetry == 0;
    const auto end = Clock::now() + (earnest ? kLong : kShort);
    do {
      for (int i = 0; i < 8; ++i) {
        relax();
        if (ready()) {
          failures_.store(0, std::memory_order_relaxed);
          return true;
        }
      }
    } while (Clock::now() < end);
    failures_.store(failures + 1, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr std::chrono::microseconds kShort{5};  // about what a sleep and a wake cost
  static constexpr std::chrono::microseconds kLong{50};
  static constexpr unsigned kTrials = 4;
  static constexpr unsigned kRetry = 8;

  static bool several_processors();
  // Tells the processor that this is a waiting loop.
  static void relax();

  std::atomic<unsigned> failures_{0};
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  static constexpr int kLeastPriority = 0;
  static constexpr int kGreatestPriority = -2;

  using Touches = Task::Touches;
  using Clock = std::chrono::steady_clock;

  // `number`: among the streams of the device, for people.
  Stream(int device, int number, int priority, Isolation& isolation);

  // The stream whose thread is calling; null on host threads.
  static Stream* current() noexcept;

  int device() const { return device_; }
  int number() const { return number_; }
  int priority() const { return priority_; }

  // Queues a task, or gives it to the capture, which knows by `what` what it is. If it throws when run, the stream goes on and take_failure() reports it. Throws if there are no means to
  // queue it (memory, threads); then nothing is queued.
  void submit(Touches touches, std::function<void()> run, const What& what = {});
  // Queues all of a graph, as one task.
  void launch(std::shared_ptr<const Graph> graph);
  // The capture that takes what is submitted; null if it runs.
  std::shared_ptr<Capture> capture();
  // Takes part in a capture, or, with null, in none any more. False, and nothing changed, if it already is in another one.
  bool join(std::shared_ptr<Capture> capture);
  // Waits for what was submitted so far, then runs `run` on the calling thread, with the rights of a stream's. Nothing is
  // submitted meanwhile, so it should be short. False, and nothing was run, if others keep the stream busy or a host thread
  // can't have these rights. Not to be called on a stream's own thread.
  bool run_when_idle(const std::function<void(const Isolation::Visit&)>& run, const What& what);
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
  void start();
  void wake();
  void work();
  // Runs a task and destroys what it holds, such as a staging buffer.
  void run(Task& task);
  // The next task, after some sleep if need be; null at the end. It stays in its place until the next call.
  Task* next_task();
  void sleep_until_work();
  bool has_task() const { return submitted_.load() != taken_; }
  bool done(std::uint64_t target) const { return completed_.load() >= target; }
  void complete_one();

  const int device_;
  const int number_;
  const int priority_;
  Isolation& isolation_;

  // What those that submit write, what the stream's thread writes, and what both read, lie in cache lines of their own: a line
  // that two processors write costs each of them more than a small task does.
  alignas(64) std::mutex submission_;  // of those that submit; guards the queue's back, started_, capture_, and writing submitted_
  bool started_ = false;
  std::shared_ptr<Capture> capture_;
  TaskQueue queue_;
  alignas(64) std::atomic<std::uint64_t> submitted_{0};

  std::mutex sleep_;  // of those that sleep, and of who wakes them
  std::condition_variable arrived_;  // a task, or the end
  std::condition_variable finished_;  // a task that somebody waits for
  std::atomic<bool> sleeping_{false};  // the stream's thread is about to sleep, or does, and nobody wakes it yet; written under sleep_
  std::atomic<bool> closed_{false};
  std::atomic<int> waiting_{0};  // threads that sleep until completed_ grows
  std::atomic<bool> failed_{false};
  Lookout completion_;

  alignas(64) std::atomic<std::uint64_t> completed_{0};
  std::uint64_t taken_ = 0;
  bool has_memory_ = false;
  Lookout arrival_;
};

// The stream of a handle; the current device's default stream for null. Null if there is no such stream. Throws
// std::bad_alloc if the devices cannot be set up.
std::shared_ptr<Stream> find_stream(orStream_t handle);

}  // namespace openreg::driver
