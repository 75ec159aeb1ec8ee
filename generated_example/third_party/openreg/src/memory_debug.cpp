// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "memory_debug.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "config.h"
#include "heap.h"

namespace openreg::driver {

MemoryDebug* MemoryDebug::get() {
  static MemoryDebug* const instance = config().memory_debug ? new MemoryDebug : nullptr;
  return instance;
}

// The first backtrace() loads a library, which must not happen in a signal handler.
MemoryDebug::MemoryDebug() { Stack::here(); }

MemoryDebug::Stack MemoryDebug::Stack::here() {
  Stack stack;
  stack.depth = backtrace(stack.frames, static_cast<int>(std::size(stack.frames)));
  return stack;
}

// Demangling allocates, which a signal handler should not do; the process ends here, and names are worth the risk.
void MemoryDebug::Stack::print(const char* title) const {
  dprintf(STDERR_FILENO, "  %s:\n", title);
  for (int i = 0; i < depth; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr) {
      dprintf(STDERR_FILENO, "    #%d %p\n", i, frames[i]);
      continue;
    }
    int status = -1;
    char* name = info.dli_sname == nullptr ? nullptr : abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    const char* shown = status == 0 ? name : (info.dli_sname == nullptr ? "?" : info.dli_sname);
    dprintf(STDERR_FILENO, "    #%d %p %s (%s)\n", i, frames[i], shown, info.dli_fname);
    std::free(name);
  }
}

void MemoryDebug::allocated(char* base, std::size_t size, std::size_t pages_size, int device) {
  const Record record{size, pages_size, device, Stack::here(), {}};
  std::lock_guard lock(mutex_);
  live_.insert_or_assign(base, record);
}

void MemoryDebug::freed(const void* base) {
  const Stack stack = Stack::here();
  std::lock_guard lock(mutex_);
  const auto found = live_.find(static_cast<const char*>(base));
  if (found == live_.end()) return;
  found->second.freed = stack;
  freed_.insert_or_assign(found->first, found->second);
  live_.erase(found);
}

void MemoryDebug::forget(const char* begin, const char* end) {
  std::lock_guard lock(mutex_);
  freed_.erase(freed_.lower_bound(begin), freed_.lower_bound(end));
}

bool MemoryDebug::explain_freed(const char* address, const char* what) const {
  const auto after = freed_.upper_bound(address);
  if (after == freed_.begin()) return false;
  const auto& [base, record] = *std::prev(after);
  if (address >= base + record.pages_size) return false;
  dprintf(STDERR_FILENO,
      "openreg: %s: device memory at %p is %zu bytes inside an allocation of %zu bytes of device %d that was freed\n", what,
      static_cast<const void*>(address), static_cast<std::size_t>(address - base), record.size, record.device);
  record.made.print("allocated at");
  record.freed.print("freed at");
  return true;
}

bool MemoryDebug::explain_bounds(const char* address, const char* by) const {
  const auto after = live_.upper_bound(address);
  if (after != live_.begin()) {
    const auto& [base, record] = *std::prev(after);
    if (address < base + record.size) return false;  // nothing wrong with it
    if (address < base + record.pages_size + Heap::kPage) {
      dprintf(STDERR_FILENO, "openreg: out of bounds: %s at %p, %zu bytes after an allocation of %zu bytes of device %d\n",
          by, static_cast<const void*>(address), static_cast<std::size_t>(address - base) - record.size, record.size,
          record.device);
      record.made.print("allocated at");
      return true;
    }
  }
  if (after == live_.end() || address + Heap::kPage < after->first) return false;
  const auto& [base, record] = *after;
  dprintf(STDERR_FILENO, "openreg: out of bounds: %s at %p, %zu bytes before an allocation of %zu bytes of device %d\n", by,
      static_cast<const void*>(address), static_cast<std::size_t>(base - address), record.size, record.device);
  record.made.print("allocated at");
  return true;
}

bool MemoryDebug::explain(const void* address, const char* by) noexcept {
  // Whoever holds the lock may be the one that faulted.
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const auto* byte = static_cast<const char*>(address);
  const bool said = explain_bounds(byte, by) || explain_freed(byte, "use after free");
  if (said) Stack::here().print("used at");
  return said;
}

bool MemoryDebug::explain_free(const void* pointer) noexcept {
  std::lock_guard lock(mutex_);
  const bool said = explain_freed(static_cast<const char*>(pointer), "double free");
  if (said) Stack::here().print("freed again at");
  return said;
}

}  // namespace openreg::driver
