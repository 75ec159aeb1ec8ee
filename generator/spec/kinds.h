// The kinds of device allocators and of devices, each one value of kinds.cpp.
#pragma once

#include "base/text.h"

#include <span>
#include <string_view>

namespace openreg_gen {

/// One way of allocating device memory.
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

/// An implementation of the C API that the runtime calls.
struct DeviceKind {
  std::string_view word;          // of `device.api`; templates see it as device.<word>
  std::string_view about;         // of the reference page, behind the word
  bool simulated = false;         // no hardware: the tree has the device itself
  bool ported = false;            // the owner fills the C API in; templates see it as device.external
  bool compiles = false;          // runs what a graph compiler makes: `fallback: graph`
  std::string_view keys = {};     // of `device`: those that not all kinds have, and this one has
  bool runs_loops = false;        // kernels that are C++ loops run on the device, not on copies on the host
  std::string_view kernels = {};  // the language in which it takes kernels, of kernel_languages(); else the key says it
  std::string_view spec = "openreg.yaml";  // of specs/: what a new tree starts from
  bool has_key(std::string_view key) const { return has_word(keys, key); }
};

/// In the order of the reference page.
std::span<const DeviceKind> device_kinds();
/// Null if there is none.
const DeviceKind* find_device_kind(std::string_view word);

}  // namespace openreg_gen
