// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

// Note [Dtypes that CUDA takes and the CPU does not]
// Some of the CPU's kernels refuse dtypes that CUDA's take, and code that is written for accelerators uses them: routers of
// mixtures of experts count tokens by torch.histc of integers. Such a call is computed in a wider dtype, which holds each value,
// and what it returns or writes is converted back. So are calls for which the CPU's kernel is known to compute wrong results.

namespace openreg {

/// Calls an operator with the host's tensors on a stack. Tensors of a dtype that the CPU's kernel refuses, or gets wrong, are
/// converted to a wider one. Errors: those of the operator.
void call_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace openreg
