// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Export.h"

// Note [Recording operators]
// PyTorch composes most of what a model calls of other operators; what a backend has to provide are those that are left
// at the end. While a recording runs, each operator that is called with a tensor of the device and is the backend's to
// serve, by a kernel or by falling back, is counted: on any thread, backward's included. A Python dispatch mode would see
// `add.Tensor`, where the backend gets `add.out`; this is one level below, at the dispatcher's own hook.

namespace openreg {

struct RecordedOp {
  std::string op;  // "aten::add.out"
  uint64_t calls = 0;
};

/// Begins to record. Recordings nest: each has its own counts, and an inner one's are the outer one's too. Threads: any.
OPENREG_RUNTIME_API void start_recording();

/// Ends the recording that began last, and returns what it counted, in the order of names. Throws c10::Error if there is
/// none.
OPENREG_RUNTIME_API std::vector<RecordedOp> stop_recording();

}  // namespace openreg
