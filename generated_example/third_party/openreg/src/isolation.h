// Written by openreg-gen from openreg.yaml.
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
//     touches it. Changing rights costs microseconds with little memory in use, milliseconds with much. So a burst of
//     kernels opens once; what closes is a synchronization, or a while without work; and a synchronization soon after
//     the opening leaves the memory open, so that changing rights takes a few percent of the time at most. The driver's own
//     copies need no rights: it maps the memory a second time, at addresses that nobody else knows.
// Thread-safe.
namespace openreg::driver {

class Isolation {
 public:
  using Clock = std::chrono::steady_clock;

  // Closes [base, base + size) to the host. If `mode` does not work here, the next weaker one is used.
  // With `debug`, nobody can touch pages of the region that are not live.
  Isolation(IsolationMode mode, void* base, std::size_t size, bool debug);

  IsolationMode mode() const { return mode_; }  // never kAuto

  // A stream's thread calls it once, first thing.
  void enter_thread() const;
  // Whether a host thread can reach the memory for a moment, by a Visit.
  bool has_visits() const { return mode_ != IsolationMode::kMprotect || window_ != nullptr; }
  class Visit {
   public:
    explicit Visit(const Isolation& isolation);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    // Where the visitor finds the byte at `address`, of device memory or not.
    void* at(const void* address) const;

   private:
    const Isolation& isolation_;
    unsigned rights_ = 0;  // the thread's, before
  };
  // The calling thread begins, and ends, to work on device memory.
  void open();
  void release();
  bool is_open() const { return open_.load(std::memory_order_relaxed); }
  // Before the host learns that work is done: closes the memory, at once or when the last stream releases it. Not if it
  // was opened so short a while ago that opening and closing would be most of what is done; then seal_idle() does it.
  void seal();
  // Closes it whatever that costs. For a stream without work for patience().
  void seal_idle();
  Clock::duration patience() const;
  // Puts a part of a file in place of these pages of the region, with the rights the region has. False if the system
  // does not do it; then all is as before.
  bool map_file(void* pages, std::size_t size, int file, std::size_t offset);
  // Whether the device itself can touch these pages, which lie in the region. Where page rights are what keeps the host
  // out (mprotect), the pages of the region have rights in common, and this does nothing.
  void set_accessible(void* pages, std::size_t size, bool accessible) const;
  // These pages are memory from now on, or no longer. Does nothing without debugging.
  void set_live(void* pages, std::size_t size, bool live);

 private:
  bool try_pkey();
  void map_window();
  void close();
  void protect(bool open) const;
  void set_rights(void* pages, std::size_t size, int rights) const;

  IsolationMode mode_;
  void* base_;
  std::size_t size_;
  const bool debug_;
  int key_ = -1;
  char* window_ = nullptr;  // the second mapping, open always; null if there is none

  std::atomic<Clock::duration> cost_{Clock::duration::zero()};  // of opening and closing, the last time; written under the mutex
  std::mutex mutex_;
  std::map<char*, std::size_t> live_;  // bytes by start; with debugging
  int users_ = 0;
  bool close_wanted_ = false;
  Clock::time_point opened_;
  Clock::duration opening_{};  // what it took
  std::atomic<bool> open_{false};  // written under the mutex
};

// Has the process say, before it dies of it, that host code touched device memory in [base, base + size). Other faults,
// and the end of this one, are left to whatever handled SIGSEGV before (Python's faulthandler, a sanitizer, the
// system). To be called once.
void install_fault_handler(const void* base, std::size_t size);

}  // namespace openreg::driver
