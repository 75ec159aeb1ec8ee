// `allocator` of a spec.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Reports what contradicts itself. `map`: its node, which may be null.
void check_allocator(const AllocatorSpec& allocator, const Node* map, Diagnostics& diagnostics);

}  // namespace openreg_gen
