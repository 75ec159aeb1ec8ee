// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

// Note [Compound tensors]
// Sparse, nested and quantized tensors are more than memory with sizes and strides: a sparse one is two or three plain
// tensors, a nested one a plain tensor and tables of sizes, a quantized one memory and a quantizer. They dispatch by keys of
// their own (SparsePrivateUse1, ...), where PyTorch has nothing for this device. What Compound.cpp registers there is:
//   - PyTorch's kernels that only take such a tensor apart or put one together (views, _values, _nnz, copy_, ...) run as they
//     are, on the device's tensors: they call operators of the plain parts.
//   - All others run on the CPU, on copies of all arguments; results, and what was written, are copied back. A plain alias of
//     device memory would not do: the CPU's sparse kernels make and drop their parts as they go.

namespace openreg {

/// The plain tensors that a compound one consists of; of a nested or quantized one, its whole storage.
std::vector<at::Tensor> parts(const at::Tensor& compound);

/// A tensor like `compound` made of other parts, on their device. Errors: c10::NotImplementedError for kinds that this device
/// can't have.
at::Tensor with_parts(const at::Tensor& compound, const std::vector<at::Tensor>& parts);

}  // namespace openreg
