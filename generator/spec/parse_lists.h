// The lists of a spec: `custom_ops`, and those of `ops.*.tests` and `tests`.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

// They read a checked node, which may be null, and report what contradicts itself.

/// `text`: the spec's, for places inside of values.
std::vector<CustomOpSpec> read_custom_ops(const Node* list, std::string_view text, Diagnostics& diagnostics);
void read_skips(OpTests& tests, const Node* map, Diagnostics& diagnostics);
void read_tests(TestsSpec& out, const Node* map, Diagnostics& diagnostics);

}  // namespace openreg_gen
