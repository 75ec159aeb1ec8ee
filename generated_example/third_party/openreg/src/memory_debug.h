// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

// Note [Memory debugging]
// With OPENREG_MEMORY_DEBUG=1, each allocation is between pages that nobody may touch, freed addresses are not reused
// until no others are left, and the stacks of each allocation and free are kept. So a kernel, or a copy, that
// uses freed memory or leaves its allocation by up to a page ends the process with a message that says which allocation
// it was, where it was made and where it was freed; so does a second free. It costs a system call or two an allocation.
// Without it, nothing of this costs anything.
namespace openreg::driver {

class MemoryDebug {
 public:
  // Null unless debugging is on.
  static MemoryDebug* get();

  void allocated(char* base, std::size_t size, std::size_t pages_size, int device);
  void freed(const void* base);
  // These addresses are about to be used again.
  void forget(const char* begin, const char* end);

  // Says on stderr what is wrong with an access to `address`: an allocation that was freed, or the end of one. False,
  // and nothing said, if nothing is. Also for signal handlers, in a process that is about to end.
  bool explain(const void* address, const char* by) noexcept;
  // The same for a free of `pointer`.
  bool explain_free(const void* pointer) noexcept;

 private:
  struct Stack {
    void* frames[24];
    int depth = 0;
    static Stack here();
    void print(const char* title) const;
  };
  struct Record {
    std::size_t size;  // bytes asked for
    std::size_t pages_size;  // bytes of whole pages
    int device;
    Stack made;
    Stack freed;
  };

  MemoryDebug();
  bool explain_freed(const char* address, const char* what) const;
  bool explain_bounds(const char* address, const char* by) const;

  std::mutex mutex_;
  std::map<const char*, Record> live_;
  std::map<const char*, Record> freed_;
};

}  // namespace openreg::driver
