// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/convolution_backward_ops.h>
#include <ATen/ops/convolution_ops.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/gemm/GemmConvolution.h"
#include "host/Kernel.h"
#include "aten/native/Kernels.h"

// PyTorch sends each convolution of a device it does not know to these two, whose own kernels only throw; the
// global fallback is not asked. Those of images are products of matrices (GemmConvolution.h); the others are the CPU's,
// but for what they return being contiguous: PyTorch says so to torch.compile of all backends that it does not know.

namespace openreg::native {
namespace {

void check_devices(std::initializer_list<at::Tensor> tensors) {
  std::optional<at::Device> common;
  for (const at::Tensor& tensor : tensors) {
    c10::impl::check_and_update_common_device(common, tensor, "convolution", "argument");
  }
}

}  // namespace

at::Tensor convolution_overrideable(const at::Tensor& input, const at::Tensor& weight,
    const std::optional<at::Tensor>& bias, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups) {
  check_devices({input, weight, bias.value_or(at::Tensor())});
  const c10::DeviceGuard guard(input.device());
  if (is_gemm_convolution(input, weight, transposed)) {
    return gemm_convolution(input, weight, bias, {stride, padding, dilation, groups});
  }
  return host_call<at::_ops::convolution>(
      input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
      .contiguous();
}

Tensors3 convolution_backward_overrideable(const at::Tensor& grad_output, const at::Tensor& input,
    const at::Tensor& weight, at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
    bool transposed, at::IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  check_devices({grad_output, input, weight});
  const c10::DeviceGuard guard(grad_output.device());
  if (is_gemm_convolution(input, weight, transposed)) {
    return gemm_convolution_backward(
        grad_output, input, weight, {stride, padding, dilation, groups}, output_mask);
  }
  const int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  const int64_t bias_sizes[] = {channels};
  const Tensors3 grads = host_call<at::_ops::convolution_backward>(grad_output, input, weight,
      at::OptionalIntArrayRef(at::IntArrayRef(bias_sizes)), stride, padding, dilation, transposed, output_padding,
      groups, output_mask);
  const auto contiguous = [](const at::Tensor& grad) { return grad.defined() ? grad.contiguous() : grad; };
  return {contiguous(std::get<0>(grads)), contiguous(std::get<1>(grads)), std::get<2>(grads)};
}

}  // namespace openreg::native
