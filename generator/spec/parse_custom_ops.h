// `custom_ops` of a spec.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Reads a checked node (null: none); reports what contradicts itself. `text`: the spec's, for places inside of values.
std::vector<CustomOpSpec> read_custom_ops(const Node* list, std::string_view text, Diagnostics& diagnostics);

}  // namespace openreg_gen
