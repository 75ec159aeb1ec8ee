// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

// Pinned memory: ordinary host memory that is known to this library, so that an asynchronous copy may read or write it
// after the call returned. Thread-safe.
namespace openreg::driver {

class HostMemory {
 public:
  static HostMemory& get();

  struct Block {
    char* base;
    std::size_t size;
  };

  // Null if the host is out of memory. `size` > 0.
  void* allocate(std::size_t size);
  // False if no block starts at `pointer`.
  bool free(void* pointer);
  // The block that `pointer` points into.
  bool find(const void* pointer, Block* block) const;
  // Whether a block starts at `pointer`.
  bool owns(const void* pointer) const;

 private:
  mutable std::mutex mutex_;
  std::map<char*, std::size_t> blocks_;
};

}  // namespace openreg::driver
