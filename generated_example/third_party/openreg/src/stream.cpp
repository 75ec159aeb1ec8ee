// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "stream.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>
#include <utility>

namespace openreg::driver {
namespace {

thread_local Stream* current_stream = nullptr;

// Signals of the process are for the host's threads. Those that a fault raises in this thread cannot be left to others.
void leave_signals_to_host() {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&set, fault);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void ask_for_priority(int priority) {
  constexpr int kNicePerStep = 5;
  if (priority == Stream::kLeastPriority) return;
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNicePerStep * priority);
}

}  // namespace

Stream::Stream(int device, int priority, Isolation& isolation)
    : device_(device), priority_(priority), isolation_(isolation) {}

Stream* Stream::current() noexcept { return current_stream; }

void Stream::start() {
  std::thread([self = shared_from_this()] { self->work(); }).detach();
  started_ = true;
}

void Stream::submit(Touches touches, std::function<void()> run) {
  std::lock_guard lock(mutex_);
  if (!started_) start();
  queue_.push_back(Task{touches, std::move(run)});
  ++submitted_;
  arrived_.notify_one();
}

void Stream::work() {
  current_stream = this;
  leave_signals_to_host();
  ask_for_priority(priority_);
  isolation_.enter_thread();

  bool has_memory = false;
  std::unique_lock lock(mutex_);
  while (true) {
    sleep_until_work(lock);
    if (queue_.empty()) return;
    bool threw = false;
    {
      // The task goes out of scope before it counts as completed: it may own a staging buffer.
      const Task task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      const bool needs_memory = task.touches == Touches::kMemory;
      if (needs_memory && !has_memory) isolation_.open();
      if (!needs_memory && has_memory) isolation_.release();
      has_memory = needs_memory;
      try {
        task.run();
      } catch (...) {
        threw = true;
      }
    }
    lock.lock();
    // Released before it counts as completed, so that who waits for it can close the memory.
    if (has_memory && queue_.empty()) {
      isolation_.release();
      has_memory = false;
    }
    failed_ = failed_ || threw;
    ++completed_;
    finished_.notify_all();
  }
}

void Stream::sleep_until_work(std::unique_lock<std::mutex>& lock) {
  const auto wake = [this] { return !queue_.empty() || closed_; };
  // Nobody may have synchronized, so a stream without work closes device memory by itself.
  if (!wake() && isolation_.is_open() && !arrived_.wait_for(lock, isolation_.patience(), wake)) isolation_.seal_idle();
  arrived_.wait(lock, wake);
}

bool Stream::idle() {
  {
    std::lock_guard lock(mutex_);
    if (completed_ != submitted_) return false;
  }
  isolation_.seal();
  return true;
}

void Stream::wait() {
  {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this, target = submitted_] { return completed_ >= target; });
  }
  isolation_.seal();
}

bool Stream::wait_until(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return finished_.wait_until(lock, deadline, [this, target = submitted_] { return completed_ >= target; });
}

bool Stream::take_failure() {
  std::lock_guard lock(mutex_);
  return std::exchange(failed_, false);
}

void Stream::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.notify_one();
}

}  // namespace openreg::driver
