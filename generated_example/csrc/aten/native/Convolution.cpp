// Written by openreg-gen 0.1.0 from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/GemmConvolution.h"
#include "aten/native/Host.h"
#include "aten/native/HostKernel.h"
#include "aten/native/Kernels.h"

// PyTorch sends each convolution of a device it does not know to these two, whose own kernels only throw; the
// global fallback is not asked. Those of images are products of matrices (GemmConvolution.h); the others are the CPU's: on
// the device's memory where that can be reached.

namespace openreg::native {

at::Tensor convolution_overrideable(const at::Tensor& input, const at::Tensor& weight,
    const std::optional<at::Tensor>& bias, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups) {
  const c10::DeviceGuard guard(input.device());
  if (is_gemm_convolution(input, weight, transposed)) {
    return gemm_convolution(input, weight, bias, {stride, padding, dilation, groups});
  }
  if (kernels_reach_memory()) {
    return host_call<at::_ops::convolution>(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
  }
  const at::Tensor host_bias = to_host(bias);
  const at::Tensor result = at::convolution(to_host(input), to_host(weight),
      host_bias.defined() ? std::optional(host_bias) : std::nullopt, stride, padding, dilation, transposed,
      output_padding, groups);
  return to_device(result, input);
}

Tensors3 convolution_backward_overrideable(const at::Tensor& grad_output, const at::Tensor& input,
    const at::Tensor& weight, at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
    bool transposed, at::IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  const c10::DeviceGuard guard(grad_output.device());
  if (is_gemm_convolution(input, weight, transposed)) {
    return gemm_convolution_backward(
        grad_output, input, weight, {stride, padding, dilation, groups}, output_mask);
  }
  const int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  const int64_t bias_sizes[] = {channels};
  if (kernels_reach_memory()) {
    return host_call<at::_ops::convolution_backward>(grad_output, input, weight,
        at::OptionalIntArrayRef(at::IntArrayRef(bias_sizes)), stride, padding, dilation, transposed, output_padding,
        groups, output_mask);
  }
  const auto [grad_input, grad_weight, grad_bias] = at::convolution_backward(to_host(grad_output),
      to_host(input), to_host(weight), at::IntArrayRef(bias_sizes), stride, padding, dilation, transposed,
      output_padding, groups, output_mask);
  return {to_device(grad_input, input), to_device(grad_weight, weight), to_device(grad_bias, grad_output)};
}

}  // namespace openreg::native
