// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <chrono>
#include <cstdint>

#include <ATen/core/operator_name.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "host/Operator.h"
#include "runtime/Export.h"

// Note [What the host computes]
// The kernels that a backend begins with run on the host, on copies of device memory: PyTorch's for the CPU (Kernel.h) and
// C++ loops (Launch.h). Their results are right and they look like kernels of the device, so each run is marked as a HostWork:
//   OPENREG_FALLBACK=none refuses it, and names the operator and the place for its kernel
//   OPENREG_LOG_FALLBACK=1 names it, once
//   count_host_cost counts it, in trees that report it
// Copies, casts and fills on the host compute nothing and are never refused.
// On the device's own memory (component host_alias) the same code is the device's kernel and is not counted.

namespace openreg {

/// What one call cost that the host computed in the device's place.
struct HostCost {
  const c10::OperatorName* op = nullptr;  // that fell back; null: a kernel ran host code
  const RegisteredKernel* kernel = nullptr;
  HostCode code = HostCode::kCpuKernel;
  bool aliased = false;  // on device memory, without copies of the arguments
  uint64_t bytes_to_host = 0;
  uint64_t bytes_to_device = 0;
  double seconds = 0;  // on the host; with copies, from when the stream's earlier work was done
};

/// Counts a call. Null, unless a component puts a function here while the library is loaded.
extern void (*count_host_cost)(const HostCost& cost);

/// Counts one call, from construction to destruction; a call that throws counts too. Borrows the operator.
class OPENREG_RUNTIME_API HostCostScope {
 public:
  explicit HostCostScope(const HostCost& cost) : cost_(cost) {}
  ~HostCostScope();
  HostCostScope(const HostCostScope&) = delete;
  HostCostScope& operator=(const HostCostScope&) = delete;

  /// Waits for the current stream and starts the clock again: its earlier work is not what this call costs.
  void wait_for_earlier_work();

  void copied(uint64_t to_host, uint64_t to_device) {
    cost_.bytes_to_host += to_host;
    cost_.bytes_to_device += to_device;
  }

 private:
  using Clock = std::chrono::steady_clock;
  HostCost cost_;
  Clock::time_point begin_ = Clock::now();
};

/// Records the CPU's kernel of `op` into the graph that the current stream is captured into. `draws`: how many numbers it takes
/// from its generator at most. Null, unless a component that runs CPU kernels on device memory puts a function here while the library
/// is loaded.
extern void (*capture_cpu_kernel)(const c10::OperatorHandle& op, torch::jit::Stack* stack, uint64_t draws);

/// One run of host code on copies of device memory, from construction to destruction.
/// The operator is the current kernel's (Operator.h), and without one `op`. Throws NotImplementedError where
/// OPENREG_FALLBACK is none, and what waiting for the current stream throws.
class OPENREG_RUNTIME_API HostWork {
 public:
  explicit HostWork(HostCode code, const c10::OperatorName* op = nullptr);

  /// Counts bytes that were copied.
  void copied(uint64_t to_host, uint64_t to_device) { cost_.copied(to_host, to_device); }

 private:
  HostCostScope cost_;
};

}  // namespace openreg
