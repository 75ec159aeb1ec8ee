// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/alias/PooledObject.h"

#include <array>
#include <atomic>
#include <new>

namespace openreg::native {
namespace {

constexpr size_t kStep = 128;  // sizes are rounded up to its multiples
constexpr size_t kSizes = 8;  // what is larger is not kept
constexpr size_t kMost = 1024;  // about as many are kept of a size, after a long queue has run dry

struct Free {
  Free* next;
};

// Filled one by one by destroying threads, and only ever emptied as a whole, so an item never comes back while it is read.
struct alignas(64) ReturnedBlocks {
  std::atomic<Free*> first{nullptr};
  std::atomic<size_t> count{0};

  void add(Free* element) {
    element->next = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(element->next, element, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
};

std::array<ReturnedBlocks, kSizes> returned;

// What the calling thread took.
struct ThreadBlocks {
  std::array<Free*, kSizes> first{};
  ThreadBlocks() = default;
  ThreadBlocks(const ThreadBlocks&) = delete;
  ThreadBlocks& operator=(const ThreadBlocks&) = delete;
  ~ThreadBlocks() {
    for (size_t size = 0; size < kSizes; ++size) {
      while (first[size] != nullptr) {
        Free* const element = first[size];
        first[size] = element->next;
        returned[size].add(element);
      }
    }
  }
};

thread_local ThreadBlocks taken;

size_t size_of(size_t bytes) {
  return (bytes - 1) / kStep;
}

}  // namespace

void* PooledObject::operator new(size_t bytes) {
  const size_t size = size_of(bytes);
  if (size >= kSizes) {
    return ::operator new(bytes);
  }
  Free*& first = taken.first[size];
  if (first == nullptr) {
    first = returned[size].first.exchange(nullptr, std::memory_order_acquire);
    returned[size].count.store(0, std::memory_order_relaxed);
  }
  if (first == nullptr) {
    return ::operator new((size + 1) * kStep);
  }
  Free* const element = first;
  first = element->next;
  // The next one lies in the cache of the processor that destroyed it; it comes while this one is used.
  for (size_t line = 0; first != nullptr && line <= size * kStep; line += 64) {
    __builtin_prefetch(reinterpret_cast<const char*>(first) + line, 1);
  }
  return element;
}

void PooledObject::operator delete(void* memory, size_t bytes) noexcept {
  const size_t size = size_of(bytes);
  if (size >= kSizes || returned[size].count.fetch_add(1, std::memory_order_relaxed) >= kMost) {
    ::operator delete(memory);
    return;
  }
  returned[size].add(new (memory) Free{nullptr});
}

}  // namespace openreg::native
