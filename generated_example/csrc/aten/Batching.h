// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `custom_ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

// Note [Batching rules]
// torch.vmap passes an operator tensors with one dimension more than the operator sees. A kernel at FuncTorchBatched
// says where that dimension goes; without one PyTorch runs the operator once per batch element and warns, or refuses.
// These kernels call the next transform, or the operator itself, which has its own gradients.

namespace openreg {

/// For elementwise operators that return one tensor: the batch is the first of the dimensions, the others are broadcast
/// as before, and the operator runs once.
void batch_elementwise(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// For any other: runs it for each of the batch, on views, and stacks what it returns, tensors and lists of them. An
/// argument that is written must be batched itself. Throws c10::Error for an empty batch.
void batch_by_slices(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace openreg
