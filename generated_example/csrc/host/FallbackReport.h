// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/Export.h"

// Note [What falling back costs]
// Each call that the host computed in place of the device is counted under its operator: how often, the bytes copied
// to the host and back, the time. Those are the calls that fall back, and on a device whose launched functions do not reach its
// memory also kernels that run on copies (Note [What the host computes] in Work.h). torch.openreg.fallback_report() shows
// it; without it a model that runs mostly on the CPU looks merely slow. Threads: any.

namespace openreg {

struct FallbackCount {
  std::string op;  // "aten::add.Tensor"
  std::string strategy;  // of its kernel in openreg.yaml, "minimal" if it comes with the backend; empty: it has none
  std::string reason;  // why the host computes it
  std::string cause;  // "fallback", "kernel" or "move"
  bool aliased = false;  // the last call ran on device memory, without copies of its arguments
  uint64_t calls = 0;
  uint64_t bytes_to_host = 0;
  uint64_t bytes_to_device = 0;
  double seconds = 0;  // on the host; with copies, from when the stream's earlier work was done
};

/// What was counted since the process started or the last reset, by operator, strategy and reason.
OPENREG_RUNTIME_API std::vector<FallbackCount> fallback_counts();
OPENREG_RUNTIME_API void reset_fallback_counts();

}  // namespace openreg
