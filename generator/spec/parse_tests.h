// The parts of a spec that say how operators are tested: `ops.*.tests` and `tests`.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Reads a checked node (null: the defaults); reports what contradicts itself.
OpTests read_op_tests(const Node* map, Diagnostics& diagnostics);
TestsSpec read_tests(const Node* map, Diagnostics& diagnostics);

}  // namespace openreg_gen
