// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "heap.h"
#include "isolation.h"
#include "stream.h"

namespace openreg::driver {

// A device: memory and streams. Thread-safe.
class Device {
 public:
  Device(int number, char* memory, std::size_t range, std::size_t capacity, Isolation& isolation);

  int number() const { return number_; }
  const Heap& heap() const { return heap_; }

  // The functions of the same names of Heap, which see.
  void* allocate(std::size_t size);
  bool retire(const void* pointer, Allocation* allocation);
  void release(const Allocation& allocation);
  // Maps a part of another process's memory, and unmaps it. Null if no addresses are left; false if no such mapping starts
  // there.
  void* adopt(std::size_t size, int file, std::size_t offset);
  bool disown(void* pointer);
  // Virtual memory. Reserved addresses without memory can be touched by nobody.
  void* reserve(std::size_t size);
  bool unreserve(void* pointer, std::size_t size);
  bool take(std::size_t size) { return heap_.take(size); }
  void give(std::size_t size) { heap_.give(size); }
  bool map(void* pointer, std::size_t size);
  bool unmap(void* pointer, std::size_t size);

  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }
  std::shared_ptr<Stream> make_stream(int priority);

  // Waits for all that was queued so far on all streams, destroyed ones too.
  void wait();
  // The same up to a time.
  void drain(Stream::Clock::time_point deadline);
  // True if a kernel has thrown since the last call, on a stream that still exists.
  bool take_failure();
  // Gives memory back at the next wait(), when what is queued now is done.
  void release_later(const Allocation& allocation);

 private:
  std::vector<std::shared_ptr<Stream>> streams();
  void note_live(void* pointer, std::size_t size);

  const int number_;
  Isolation& isolation_;
  Heap heap_;
  const std::shared_ptr<Stream> default_stream_;

  std::mutex mutex_;
  std::vector<std::weak_ptr<Stream>> streams_;
  int made_ = 0;  // streams, ever
  std::vector<Allocation> to_release_;
};

// All devices, and the address range their memory is cut from. Set up at the first use, never taken down.
class Devices {
 public:
  // Throws std::bad_alloc if the address range cannot be reserved.
  static Devices& get();
  // Null before the first use. For signal handlers and for the exit.
  static Devices* if_used() noexcept;

  // Throws std::out_of_range.
  Device& at(int number) { return *devices_.at(static_cast<std::size_t>(number)); }
  // The device whose memory range `pointer` is in, allocated or not; -1 if none.
  int device_of(const void* pointer) const noexcept;
  Heap::Lookup try_find(const void* pointer, Allocation* allocation) const noexcept;
  void wait();
  void drain(Stream::Clock::time_point deadline);
  // Before the host learns that work is done. To be called only if there are devices.
  void seal() { isolation_->seal(); }

 private:
  Devices();

  char* base_ = nullptr;
  std::size_t range_ = 0;  // bytes, of each device
  std::unique_ptr<Isolation> isolation_;
  std::vector<std::unique_ptr<Device>> devices_;
};

// The calling thread's current device. Throws std::out_of_range without devices.
Device& current_device();

}  // namespace openreg::driver
