// `allocator` of a spec.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Reads a checked node (null: the defaults); reports what contradicts itself.
AllocatorSpec read_allocator(const Node* map, Diagnostics& diagnostics);

}  // namespace openreg_gen
