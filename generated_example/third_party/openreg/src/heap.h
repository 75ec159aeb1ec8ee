// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

// The memory of one device: hands out runs of pages of an address range. Thread-safe. It never touches the memory it
// manages, since the host may not.
namespace openreg::driver {

struct Allocation {
  char* base;
  std::size_t size;  // bytes asked for
  std::size_t pages;  // what it takes up
  bool foreign = false;  // memory of another process, mapped here: takes up addresses, but none of the capacity
};

class Heap {
 public:
  static constexpr std::size_t kPage = 4096;  // also the alignment of what is handed out
  enum class Lookup {
    kYes,
    kNo,
    kBusy,
  };

  // Hands out at most `capacity` bytes at a time. The range should be larger, so that fragmentation of addresses is not
  // mistaken for lack of memory. With `debug`, a page around each allocation stays free, and freed addresses are
  // reused only when no others are left.
  Heap(char* base, std::size_t range, std::size_t capacity, bool debug);

  // Null if not enough is free. `size` > 0.
  void* allocate(std::size_t size);
  // Addresses for `size` bytes of another process's memory; null if there are no more. Freed like an allocation, but only
  // by retire_foreign().
  void* adopt(std::size_t size);
  bool retire_foreign(const void* pointer, Allocation* allocation);
  // Freeing is two steps, so that work still queued can finish in between. retire(): the allocation that starts at
  // `pointer` is no longer the caller's; false if there is none. release(): its pages can be used again.
  bool retire(const void* pointer, Allocation* allocation);
  void release(const Allocation& allocation);
  // The allocation that `pointer` points into.
  bool find(const void* pointer, Allocation* allocation) const;
  // The same for a signal handler: never waits.
  Lookup try_find(const void* pointer, Allocation* allocation) const;

  // Virtual memory, in virtual_memory.cpp. Sizes and addresses are multiples of kGranularity.
  static constexpr std::size_t kGranularity = std::size_t{2} << 20;
  // Addresses that nothing else gets; null if there are no more.
  void* reserve(std::size_t size);
  // False unless it is a reservation of that size in which nothing is mapped.
  bool unreserve(void* pointer, std::size_t size);
  // `size` bytes of the capacity; false if not enough is left.
  bool take(std::size_t size);
  void give(std::size_t size);
  // From now on the range is memory, or no longer is. False unless it is reserved and all free, or all mapped.
  bool map(void* pointer, std::size_t size);
  bool unmap(void* pointer, std::size_t size);

  std::size_t capacity() const { return capacity_; }
  std::size_t available() const;

 private:
  void* take_run(std::size_t size, bool foreign);
  bool retire_if(const void* pointer, bool foreign, Allocation* allocation);
  bool find_locked(const void* pointer, Allocation* allocation) const;
  std::map<char*, std::size_t>::iterator find_run(std::size_t pages);
  void join_free(char* base, std::size_t pages);
  void add_free(char* base, std::size_t pages);
  void remove_free(std::map<char*, std::size_t>::iterator run);

  const std::size_t capacity_;
  const std::size_t guard_;  // pages before and after each allocation
  mutable std::mutex mutex_;
  std::size_t used_ = 0;  // bytes, whole pages
  std::map<char*, Allocation> live_;
  std::map<char*, std::size_t> reserved_;  // bytes by start
  std::map<char*, std::size_t> mapped_;  // the same; neighbours are one
  // Free runs twice: by address to join neighbours, by size to find the smallest that fits (the lowest among equals).
  std::map<char*, std::size_t> free_by_base_;
  std::set<std::pair<std::size_t, char*>> free_by_size_;
  std::deque<std::pair<char*, std::size_t>> quarantine_;  // runs that were freed, the oldest first
};

}  // namespace openreg::driver
