// What a kind of device allocator is: one way of allocating device memory. Each is one value of allocator_kind.cpp.
#pragma once

#include <span>
#include <string_view>

namespace openreg_gen {

struct AllocatorKind {
  std::string_view word;   // of `allocator.device`; templates see it as allocator.<word>
  std::string_view about;  // of the reference page, behind the word
  std::string_view file;   // of a tree: its c10::DeviceAllocator
  bool caches = false;     // keeps what is freed: the caching allocator's files are there, and its settings take effect
};

/// In the order of the reference page.
std::span<const AllocatorKind> allocator_kinds();
/// Null if there is none.
const AllocatorKind* find_allocator_kind(std::string_view word);

}  // namespace openreg_gen
