// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "runtime/Export.h"

// Runs CPU kernels in place of device kernels: see Note [Host code on device memory].

namespace openreg {

/// The state of a thread in which CPU kernels may run: no autograd, and as many threads as `threads` (0: as it is), since
/// those settings belong to a thread.
class OPENREG_RUNTIME_API CpuKernelScope {
 public:
  explicit CpuKernelScope(int threads = 0);
  ~CpuKernelScope();
  CpuKernelScope(const CpuKernelScope&) = delete;
  CpuKernelScope& operator=(const CpuKernelScope&) = delete;

 private:
  struct State;
  State* state_;
};

/// Calls an operator with the host's tensors on a stack. Components that call it otherwise for some dtypes put a function of their
/// own here while the library is loaded.
extern void (*cpu_kernel_call)(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Records the CPU's kernel of `op` into the graph that the current stream is captured into. `draws`: how many numbers it takes
/// from its generator at most. Null, unless a component that runs CPU kernels on device memory puts a function here while the library
/// is loaded.
extern void (*capture_cpu_kernel)(const c10::OperatorHandle& op, torch::jit::Stack* stack, uint64_t draws);

}  // namespace openreg
