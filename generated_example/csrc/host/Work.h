// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/operator_name.h>

#include "host/FallbackReport.h"
#include "host/Operator.h"
#include "runtime/Export.h"

// Note [What the host computes]
// The kernels that a backend begins with run on the host, on copies of device memory: PyTorch's for the CPU (Kernel.h) and
// C++ loops (Launch.h). Their results are right and they look like kernels of the device, so each run is marked as a HostWork:
//   OPENREG_FALLBACK=none refuses it, and names the operator and the place for its kernel
//   OPENREG_LOG_FALLBACK=1 names it, once
//   FallbackReport.h counts it
// Copies, casts and fills on the host compute nothing and are never refused.
// On the device's own memory (component host_alias) the same code is the device's kernel and is not counted.

namespace openreg {

/// One run of host code on copies of device memory, from construction to destruction.
/// The operator is the current kernel's (Operator.h), and without one `op`. Throws NotImplementedError where
/// OPENREG_FALLBACK is none, and what waiting for the current stream throws: what earlier work takes is not this one's cost.
class OPENREG_RUNTIME_API HostWork {
 public:
  explicit HostWork(HostCode code, const c10::OperatorName* op = nullptr);

  /// Counts bytes that were copied.
  void copied(uint64_t to_host, uint64_t to_device) {
    if (scope_.has_value()) {
      scope_->copied(to_host, to_device);
    }
  }

 private:
  std::optional<FallbackScope> scope_;
};

}  // namespace openreg
