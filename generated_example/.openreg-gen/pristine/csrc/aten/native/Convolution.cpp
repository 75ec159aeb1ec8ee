// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <torch/library.h>  // first: the operators' headers do not include what they need

#include <algorithm>

#include <ATen/ops/convolution_backward_ops.h>
#include <ATen/ops/convolution_ops.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "host/Kernel.h"
#include "aten/native/Kernels.h"

// PyTorch sends each convolution of an unknown device to these two operators, whose own kernels only throw, and never to the
// fallback. They run the CPU kernels, in stream order.
// The result is channels_last if the input or the weight is, as on the CPU. torch_openreg/_patch_convolutions.py says the same to
// torch.compile, which would otherwise expect contiguous results.

namespace openreg::native {
namespace {

int64_t channels_of(const at::Tensor& weight, bool transposed, int64_t groups) {
  return transposed ? weight.size(1) * groups : weight.size(0);
}

void check_devices(std::initializer_list<at::Tensor> tensors) {
  std::optional<at::Device> common;
  for (const at::Tensor& tensor : tensors) {
    c10::impl::check_and_update_common_device(common, tensor, "convolution", "argument");
  }
}

/// How results lie. Convolutions in one dimension come as such in two.
at::MemoryFormat layout_of(const at::Tensor& input, const at::Tensor& weight) {
  for (const at::Tensor* tensor : {&input, &weight}) {
    if (const at::MemoryFormat format = tensor->suggest_memory_format(); format != at::MemoryFormat::Contiguous) {
      return format;
    }
  }
  return at::MemoryFormat::Contiguous;
}

at::Tensor with_layout(const at::Tensor& computed, at::MemoryFormat layout) {
  if (!computed.defined() || (layout == at::MemoryFormat::Contiguous && computed.is_contiguous())) {
    return computed;
  }
  return at::empty(computed.sizes(), computed.options().memory_format(layout)).copy_(computed);
}

Tensors3 with_layout(const Tensors3& grads, at::MemoryFormat layout) {
  return {with_layout(std::get<0>(grads), layout), with_layout(std::get<1>(grads), layout), std::get<2>(grads)};
}

/// Whether the CPU may have something to say about the dtypes, so that the call waits for it.
bool mixed(std::initializer_list<at::Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() != tensors.begin()->scalar_type();
  });
}

/// An operator for host_call_into(): at::convolution_backward() into tensors that have their sizes, or are undefined.
struct ConvolutionBackwardInto {
  using schema = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, at::IntArrayRef, at::IntArrayRef, at::IntArrayRef, bool, at::IntArrayRef, int64_t, at::Tensor&, at::Tensor&, at::Tensor&);
  static void call(const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight,
      at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
      at::IntArrayRef output_padding, int64_t groups, at::Tensor& grad_input, at::Tensor& grad_weight, at::Tensor& grad_bias) {
    const int64_t bias_sizes[] = {channels_of(weight, transposed, groups)};
    const auto [of_input, of_weight, of_bias] = at::convolution_backward(grad_output, input, weight,
        at::OptionalIntArrayRef(at::IntArrayRef(bias_sizes)), stride, padding, dilation, transposed, output_padding, groups,
        {grad_input.defined(), grad_weight.defined(), grad_bias.defined()});
    const auto copy = [](const at::Tensor& to, const at::Tensor& from) {
      if (to.defined()) {
        to.copy_(from);
      }
    };
    copy(grad_input, of_input);
    copy(grad_weight, of_weight);
    copy(grad_bias, of_bias);
  }
};

}  // namespace

at::Tensor convolution_overrideable(const at::Tensor& input, const at::Tensor& weight,
    const std::optional<at::Tensor>& bias, at::IntArrayRef stride, at::IntArrayRef padding,
    at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups) {
  check_devices({input, weight, bias.value_or(at::Tensor())});
  const c10::DeviceGuard guard(input.device());
  const at::MemoryFormat layout = layout_of(input, weight);
  if (mixed({input, weight, bias.value_or(at::Tensor())})) {
    return with_layout(host_call<at::_ops::convolution>(
                           input, weight, bias, stride, padding, dilation, transposed, output_padding, groups),
        layout);
  }
  const std::vector<int64_t> sizes = transposed
      ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding, output_padding, stride, dilation, groups)
      : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
  at::Tensor output = at::empty(sizes, input.options().memory_format(layout));
  host_call_into<at::_ops::convolution_out>(
      input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, output);
  return output;
}

Tensors3 convolution_backward_overrideable(const at::Tensor& grad_output, const at::Tensor& input,
    const at::Tensor& weight, at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
    bool transposed, at::IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  check_devices({grad_output, input, weight});
  const c10::DeviceGuard guard(grad_output.device());
  const at::MemoryFormat layout = layout_of(input, weight);
  if (mixed({grad_output, input, weight})) {
    const int64_t bias_sizes[] = {channels_of(weight, transposed, groups)};
    const auto grads = host_call<at::_ops::convolution_backward>(grad_output, input, weight,
        at::OptionalIntArrayRef(at::IntArrayRef(bias_sizes)), stride, padding, dilation, transposed, output_padding,
        groups, output_mask);
    return with_layout(grads, layout);
  }
  const auto made = [](bool wanted, at::IntArrayRef sizes, const at::TensorOptions& options) {
    return wanted ? at::empty(sizes, options) : at::Tensor();
  };
  Tensors3 grads(made(output_mask[0], input.sizes(), input.options().memory_format(layout)),
      made(output_mask[1], weight.sizes(), weight.options().memory_format(layout)),
      made(output_mask[2], {channels_of(weight, transposed, groups)}, weight.options()));
  host_call_into<ConvolutionBackwardInto>(grad_output, input, weight, stride, padding, dilation, transposed, output_padding,
      groups, std::get<0>(grads), std::get<1>(grads), std::get<2>(grads));
  return grads;
}

}  // namespace openreg::native
