#include "spec/allocator_kind.h"

#include <algorithm>

namespace openreg_gen {
namespace {

constexpr AllocatorKind kAllocatorKinds[] = {
    {.word = "caching",
     .about = "freed memory is kept and handed out again.",
     .file = "csrc/runtime/caching/CachingAllocator.cpp",
     .caches = true},
    {.word = "pluggable",
     .about = "the same, until a process loads an allocator of its own.",
     .file = "csrc/runtime/caching/CachingAllocator.cpp",
     .caches = true},
    {.word = "direct", .about = "each storage is one device allocation.", .file = "csrc/runtime/DirectAllocator.cpp"},
};

}  // namespace

std::span<const AllocatorKind> allocator_kinds() { return kAllocatorKinds; }

const AllocatorKind* find_allocator_kind(std::string_view word) {
  const auto found = std::ranges::find(kAllocatorKinds, word, &AllocatorKind::word);
  return found == std::end(kAllocatorKinds) ? nullptr : found;
}

}  // namespace openreg_gen
