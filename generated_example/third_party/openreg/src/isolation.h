// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>

#include "config.h"

// Note [Isolation of device memory]
// On a real card, host code that dereferences a device pointer faults. Without isolation the simulated device would let
// it read and write, and the bug would wait for real hardware.
//   pkey: the memory carries a protection key. A thread's rights to a key are in a register of its own (PKRU); the
//     streams' threads allow themselves access once, all others have it denied: those that exist when the key is made
//     by the kernel's default, those made later because a thread inherits the rights of its creator. For the same
//     reason the helpers of a kernel that computes in parallel (OpenMP) may touch the memory, if it created them.
//   mprotect: page rights are the whole process's, so the memory is open while at least one stream runs work that
//     touches it. Closing is put off until it matters, since changing rights costs microseconds: a burst of kernels
//     opens once; what closes is a synchronization, or a millisecond without work. The cost grows with the memory in
//     use, up to milliseconds; with much memory in use, synchronizations therefore close only now and then.
// Thread-safe.
namespace openreg::driver {

class Isolation {
 public:
  // Closes [base, base + size) to the host. If `mode` does not work here, the next weaker one is used.
  // With `debug`, nobody can touch pages of the region that are not live.
  Isolation(IsolationMode mode, void* base, std::size_t size, bool debug);

  IsolationMode mode() const { return mode_; }  // never kAuto

  // A stream's thread calls it once, first thing.
  void enter_thread() const;
  // Whether a host thread can have the rights of a stream's for a moment, by a Visit. Where rights are the whole process's, who
  // opens the memory has to see to its closing, and a stream's thread is better at that.
  bool has_visits() const { return mode_ != IsolationMode::kMprotect; }
  class Visit {
   public:
    explicit Visit(const Isolation& isolation);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    const Isolation& isolation_;
    unsigned rights_ = 0;  // the thread's, before
  };
  // The calling thread begins, and ends, to work on device memory.
  void open();
  void release();
  bool is_open() const { return open_.load(std::memory_order_relaxed); }
  // Before the host is told that work is done: closes the memory, at once or when the last stream releases it. With
  // much memory in use, not if it was opened a short while ago; then seal_idle() does it.
  void seal();
  // Closes it whatever that costs. For a stream that had nothing to do for patience().
  void seal_idle();
  std::chrono::milliseconds patience() const;
  // Puts a part of a file in place of these pages of the region, with the rights the region has. False if the system
  // does not do it; then all is as before.
  bool map_file(void* pages, std::size_t size, int file, std::size_t offset);
  // Whether the device itself can touch these pages, which lie in the region. Where page rights are what keeps the host
  // out (mprotect), the pages of the region have rights in common, and this does nothing.
  void set_accessible(void* pages, std::size_t size, bool accessible) const;
  // These pages are memory from now on, or no longer. Does nothing without debugging.
  void set_live(void* pages, std::size_t size, bool live);
  // Tells that this much more memory is in use, or less.
  void note_memory(std::ptrdiff_t bytes) { in_use_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  bool try_pkey();
  bool has_much() const;
  void close();
  void protect(bool open) const;
  void set_rights(void* pages, std::size_t size, int rights) const;

  IsolationMode mode_;
  void* base_;
  std::size_t size_;
  const bool debug_;
  int key_ = -1;

  std::atomic<std::ptrdiff_t> in_use_{0};
  std::mutex mutex_;
  std::map<char*, std::size_t> live_;  // bytes by start; with debugging
  int users_ = 0;
  bool close_wanted_ = false;
  Clock::time_point opened_;
  std::atomic<bool> open_{false};  // written under the mutex
};

}  // namespace openreg::driver
