// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `allocator` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <string>

#include "runtime/Export.h"
#include "runtime/MemoryAllocator.h"

// The caching allocator, as far as others see it; what it offers is declared in runtime/MemoryAllocator.h.

namespace openreg {

/// The caching allocator of this process. Not owned. It exists also while another allocator is registered.
OPENREG_RUNTIME_API OpenRegAllocator* getCachingAllocator();

/// Settings in the syntax of PYTORCH_ALLOC_CONF ("max_split_size_mb:128,garbage_collection_threshold:0.8"); those not named go
/// back to their defaults. Throws c10::Error on what PyTorch cannot parse, and leaves all as it was.
OPENREG_RUNTIME_API void setAllocatorSettings(const std::string& settings);
OPENREG_RUNTIME_API std::string getAllocatorSettings();

}  // namespace openreg
