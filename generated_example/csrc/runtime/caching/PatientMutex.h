// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <mutex>

// Note [Threads that allocate at once]
// An allocation holds its device's lock for some dozens of nanoseconds, but its data has to come from the cache of the
// processor that held the lock before, which takes several times as long, and a thread that is put to sleep over it loses
// microseconds. So who finds it held keeps away for a moment, and longer each time: whoever has it can do several allocations
// with everything at hand, and threads take turns in bursts. Who never gets it that way sleeps for it, as for any mutex; its
// holder may have been interrupted.

namespace openreg::caching {

class PatientMutex {
 public:
  void lock() {
    if (mutex_.try_lock()) {
      return;
    }
    for (int pauses = kFirstPauses; pauses <= kMostPauses; pauses *= 2) {
      for (int i = 0; i < pauses; ++i) {
        pause();
      }
      if (mutex_.try_lock()) {
        return;
      }
    }
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static constexpr int kFirstPauses = 8;
  static constexpr int kMostPauses = 256;  // some microseconds

  /// Tells the processor that this is a waiting loop.
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::mutex mutex_;
};

}  // namespace openreg::caching
