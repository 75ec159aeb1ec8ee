// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "host_memory.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace openreg::driver {
namespace {

constexpr std::size_t kAlignment = 256;

char* address(const void* pointer) { return static_cast<char*>(const_cast<void*>(pointer)); }

}  // namespace

HostMemory& HostMemory::get() {
  static auto& instance = *new HostMemory;
  return instance;
}

void* HostMemory::allocate(std::size_t size) {
  // What no object can be is refused here: a sanitizer's malloc would end the process for it.
  if (size > PTRDIFF_MAX) return nullptr;
  void* base = nullptr;
  if (posix_memalign(&base, kAlignment, size) != 0) return nullptr;
  std::lock_guard lock(mutex_);
  blocks_.emplace(static_cast<char*>(base), size);
  return base;
}

bool HostMemory::free(void* pointer) {
  {
    std::lock_guard lock(mutex_);
    if (blocks_.erase(address(pointer)) == 0) return false;
  }
  std::free(pointer);
  return true;
}

bool HostMemory::find(const void* pointer, Block* block) const {
  std::lock_guard lock(mutex_);
  const auto after = blocks_.upper_bound(address(pointer));
  if (after == blocks_.begin()) return false;
  const auto [base, size] = *std::prev(after);
  if (address(pointer) >= base + size) return false;
  *block = {base, size};
  return true;
}

bool HostMemory::owns(const void* pointer) const {
  std::lock_guard lock(mutex_);
  return blocks_.count(address(pointer)) != 0;
}

}  // namespace openreg::driver
