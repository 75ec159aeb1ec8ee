#include "spec/allocator_kind.h"

#include "diag/text.h"

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
  return find_by(kAllocatorKinds, word, &AllocatorKind::word);
}

}  // namespace openreg_gen
