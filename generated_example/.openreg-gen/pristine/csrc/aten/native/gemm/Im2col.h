// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#pragma once

#include <array>

#include <ATen/core/Tensor.h>

// Note [Convolution as a product of matrices]
// The windows of an image, each made a column, are a matrix; the weights, a row for each output channel, times that matrix
// are the convolution. So a device that has gemm has convolutions. Their gradients are products too: with the transposed
// weights, whose columns are then added up to an image again, and of the incoming gradient with the transposed columns.

namespace openreg::native {

/// How windows lie on an image: [0] along its height, [1] along its width.
struct Windows {
  using Pair = std::array<int64_t, 2>;
  Pair image, output, kernel, stride, padding, dilation;
};

/// columns[n, c * kernel + k, window] = images[n, c, pixel k of the window], 0 beyond the edges. Both are contiguous, the
/// columns of their final sizes. float32 and float64. Asynchronous, in the current stream.
void im2col(const at::Tensor& columns, const at::Tensor& images, const Windows& windows);

/// The reverse: each pixel is the sum of its places in the columns.
void col2im(const at::Tensor& images, const at::Tensor& columns, const Windows& windows);

}  // namespace openreg::native
