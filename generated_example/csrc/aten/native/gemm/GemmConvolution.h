// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#pragma once

#include <array>
#include <optional>

#include <ATen/core/Tensor.h>

#include "aten/native/Kernels.h"

namespace openreg::native {

/// What convolutions have beside tensors; one number, or one for each dimension of the images.
struct ConvolutionOptions {
  at::IntArrayRef stride, padding, dilation;
  int64_t groups;
};

/// Whether the two functions below do it: convolutions in one or two dimensions, of float32 and float64, with something to
/// compute, where launched functions reach device memory.
bool is_gemm_convolution(const at::Tensor& input, const at::Tensor& weight, bool transposed);

/// See Note [Convolution as a product of matrices]. Asynchronous, in the current stream.
at::Tensor gemm_convolution(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
    const ConvolutionOptions& options);

/// Gradients of input, weight and bias, as far as `wanted`; the others are undefined.
Tensors3 gemm_convolution_backward(const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight,
    const ConvolutionOptions& options, std::array<bool, 3> wanted);

}  // namespace openreg::native
