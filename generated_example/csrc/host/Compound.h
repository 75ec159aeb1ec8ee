// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

// Note [Compound tensors]
// Sparse, nested and quantized tensors are more than memory with sizes and strides: a sparse one is two or three plain
// tensors, a nested one a plain tensor and tables of sizes, a quantized one memory and a quantizer. They dispatch by separate
// keys (SparsePrivateUse1, ...), where PyTorch has nothing for this device. aten/RegisterCompound.cpp registers there:
//   - PyTorch's kernels that only take such a tensor apart or put one together (views, _values, _nnz, copy_, ...) run
//     unchanged on the device's tensors: they call operators of the plain parts.
//   - All others run on the CPU, on copies of all arguments; results and written arguments are copied back. A plain alias of
//     device memory would not work: the CPU's sparse kernels create and drop their parts.

namespace openreg {

/// The plain tensors that a compound one consists of; of a nested or quantized one, its whole storage.
std::vector<at::Tensor> parts(const at::Tensor& compound);

/// A tensor like `compound` made of other parts, on their device. Errors: c10::NotImplementedError for kinds that this device
/// can't have.
at::Tensor with_parts(const at::Tensor& compound, const std::vector<at::Tensor>& parts);

/// What runs an operator that is given such a tensor, as the note says.
void compound_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// _empty_affine_quantized. PyTorch's own makes a tensor of the CPU, whatever the device.
at::Tensor empty_quantized(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
    std::optional<at::Device> device, std::optional<bool> pin_memory, double scale, int64_t zero_point,
    std::optional<at::MemoryFormat> memory_format);

/// _copy_from for quantized tensors of one dtype, on any two devices: dst takes over the quantizer.
at::Tensor copy_quantized(const at::Tensor& self, const at::Tensor& dst, bool non_blocking);

}  // namespace openreg
