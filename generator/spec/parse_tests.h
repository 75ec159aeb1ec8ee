// The parts of a spec that say how operators are tested: `ops.*.tests` and `tests`.
#pragma once

#include "spec/document.h"
#include "spec/spec.h"

namespace openreg_gen {

/// Read the lists of a checked node, which may be null; report what contradicts itself.
void read_skips(OpTests& tests, const Node* map, Diagnostics& diagnostics);
void read_tests(TestsSpec& out, const Node* map, Diagnostics& diagnostics);

}  // namespace openreg_gen
