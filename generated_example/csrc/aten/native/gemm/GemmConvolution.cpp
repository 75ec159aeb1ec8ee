// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include "aten/native/gemm/GemmConvolution.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include "aten/native/gemm/Gemm.h"
#include "aten/native/gemm/Im2col.h"
#include "host/Launch.h"

namespace openreg::native {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;  // of columns at a time

/// A convolution in two dimensions; those in one have images of height 1.
struct Convolution {
  Convolution(const at::Tensor& input, const at::Tensor& weight, const ConvolutionOptions& options)
      : images(as_planes(input).contiguous()), groups(options.groups) {
    const at::Tensor kernels = as_planes(weight);
    const bool flat = input.dim() == 3;
    const auto option = [&](at::IntArrayRef values, size_t dim, int64_t otherwise) {
      if (flat && dim == 0) {
        return otherwise;
      }
      return values.size() == 1 ? values[0] : values[dim];
    };
    for (size_t dim = 0; dim < 2; ++dim) {
      const int64_t at = static_cast<int64_t>(dim) + 2;
      windows.image[dim] = images.size(at);
      windows.kernel[dim] = kernels.size(at);
      windows.stride[dim] = option(options.stride, dim, 1);
      windows.padding[dim] = option(options.padding, dim, 0);
      windows.dilation[dim] = option(options.dilation, dim, 1);
      const int64_t extent = windows.dilation[dim] * (windows.kernel[dim] - 1) + 1;
      windows.output[dim] = (images.size(at) + 2 * windows.padding[dim] - extent) / windows.stride[dim] + 1;
    }
    rows = kernels[0].numel();
    channels = weight.size(0) / groups;
    filters = kernels.reshape({groups, channels, rows}).contiguous();
    count = windows.output[0] * windows.output[1];
    const int64_t bytes = std::max<int64_t>(1, groups * rows * count * static_cast<int64_t>(images.element_size()));
    chunk = std::clamp<int64_t>(kMostBytes / bytes, 1, images.size(0));
  }

  static at::Tensor as_planes(const at::Tensor& tensor) { return tensor.dim() == 3 ? tensor.unsqueeze(2) : tensor; }

  /// Calls fn(first, images) for some images after the other.
  template <class Fn>
  void for_each_chunk(const Fn& fn) const {
    for (int64_t first = 0; first < images.size(0); first += chunk) {
      fn(first, std::min(chunk, images.size(0) - first));
    }
  }
  /// Columns of some images: [images, groups, rows, windows].
  at::Tensor new_columns(int64_t number) const {
    return at::empty({number, groups, rows, count}, images.options());
  }
  at::Tensor columns(int64_t first, int64_t number) const {
    at::Tensor result = new_columns(number);
    im2col(result, images.narrow(0, first, number), windows);
    return result;
  }
  /// Some images of a tensor of the output's shape, and a group of it: [images, channels, windows].
  at::Tensor group_of(const at::Tensor& output, int64_t first, int64_t number, int64_t group) const {
    return output.narrow(0, first, number).view({number, groups, channels, count}).select(1, group);
  }

  at::Tensor images;
  at::Tensor filters;  // [groups, channels, rows]
  Windows windows{};
  int64_t groups;
  int64_t channels;  // of the output, in a group
  int64_t rows;  // elements of a filter
  int64_t count;  // windows of an image
  int64_t chunk;
};

}  // namespace

bool is_gemm_convolution(const at::Tensor& input, const at::Tensor& weight, bool transposed) {
  return !transposed && (input.dim() == 3 || input.dim() == 4) &&
      (input.scalar_type() == at::kFloat || input.scalar_type() == at::kDouble) && input.scalar_type() == weight.scalar_type() && input.numel() != 0 && weight.numel() != 0 &&
      kernels_reach_memory();
}

at::Tensor gemm_convolution(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
    const ConvolutionOptions& options) {
  const Convolution conv(input, weight, options);
  at::Tensor output = at::empty(
      {input.size(0), weight.size(0), conv.windows.output[0], conv.windows.output[1]}, input.options());
  const bool biased = bias.has_value() && bias->defined();
  conv.for_each_chunk([&](int64_t first, int64_t number) {
    const at::Tensor columns = conv.columns(first, number);
    for (int64_t group = 0; group < conv.groups; ++group) {
      const at::Tensor added = biased
          ? bias->narrow(0, group * conv.channels, conv.channels).view({1, conv.channels, 1})
          : at::Tensor();
      const at::Tensor filters = conv.filters[group].expand({number, conv.channels, conv.rows});
      gemm(conv.group_of(output, first, number, group), added, filters, columns.select(1, group), 1, 1);
    }
  });
  return input.dim() == 3 ? output.squeeze(2) : output;
}

Tensors3 gemm_convolution_backward(const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight,
    const ConvolutionOptions& options, std::array<bool, 3> wanted) {
  const Convolution conv(input, weight, options);
  const at::Tensor grad = Convolution::as_planes(grad_output).contiguous();
  at::Tensor grad_input;
  at::Tensor grad_weight;
  at::Tensor grad_bias;
  if (wanted[0]) {
    grad_input = at::empty(conv.images.sizes(), conv.images.options());
    conv.for_each_chunk([&](int64_t first, int64_t number) {
      const at::Tensor columns = conv.new_columns(number);
      for (int64_t group = 0; group < conv.groups; ++group) {
        const at::Tensor filters = conv.filters[group].mT().expand({number, conv.rows, conv.channels});
        gemm(columns.select(1, group), {}, filters, conv.group_of(grad, first, number, group), 1, 1);
      }
      col2im(grad_input.narrow(0, first, number), columns, conv.windows);
    });
    grad_input = grad_input.view(input.sizes());
  }
  if (wanted[1]) {
    at::Tensor sums = at::zeros_like(conv.filters);
    conv.for_each_chunk([&](int64_t first, int64_t number) {
      const at::Tensor columns = conv.columns(first, number);
      for (int64_t group = 0; group < conv.groups; ++group) {
        const at::Tensor to = sums[group];
        const at::Tensor grads = conv.group_of(grad, first, number, group);
        for (int64_t i = 0; i < number; ++i) {
          gemm(to, to, grads[i], columns[i][group].mT(), 1, 1);
        }
      }
    });
    grad_weight = sums.view(weight.sizes());
  }
  if (wanted[2]) {
    grad_bias = grad.sum({0, 2, 3});
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace openreg::native
