// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include "aten/native/gemm/Im2col.h"

#include <ATen/Dispatch.h>

#include "host/Launch.h"

namespace openreg::native {
namespace {

/// A plane of the image (height x width) and its rows in the columns (kernel x windows).
struct Plane {
  int64_t image, columns;  // elements
  explicit Plane(const Windows& w)
      : image(w.image[0] * w.image[1]), columns(w.kernel[0] * w.kernel[1] * w.output[0] * w.output[1]) {}
};

template <class scalar_t>
void plane_to_columns(const scalar_t* image, scalar_t* to, const Windows& w) {
  for (int64_t i = 0; i < w.kernel[0]; ++i) {
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      for (int64_t y = 0; y < w.output[0]; ++y) {
        const int64_t row = y * w.stride[0] - w.padding[0] + i * w.dilation[0];
        const bool inside = row >= 0 && row < w.image[0];
        for (int64_t x = 0; x < w.output[1]; ++x) {
          const int64_t column = x * w.stride[1] - w.padding[1] + j * w.dilation[1];
          *to++ = inside && column >= 0 && column < w.image[1] ? image[row * w.image[1] + column] : scalar_t(0);
        }
      }
    }
  }
}

/// The window that has a pixel at position `k` of its kernel; -1 if there is none.
int64_t window_of(int64_t pixel, int64_t k, const Windows& w, size_t dim) {
  const int64_t start = pixel + w.padding[dim] - k * w.dilation[dim];
  const bool fits = start >= 0 && start % w.stride[dim] == 0 && start / w.stride[dim] < w.output[dim];
  return fits ? start / w.stride[dim] : -1;
}

template <class scalar_t>
void columns_to_plane(const scalar_t* from, scalar_t* image, const Windows& w) {
  const int64_t windows = w.output[0] * w.output[1];
  for (int64_t row = 0; row < w.image[0]; ++row) {
    for (int64_t column = 0; column < w.image[1]; ++column) {
      scalar_t sum = 0;
      for (int64_t i = 0; i < w.kernel[0]; ++i) {
        const int64_t y = window_of(row, i, w, 0);
        for (int64_t j = 0; y >= 0 && j < w.kernel[1]; ++j) {
          const int64_t x = window_of(column, j, w, 1);
          if (x >= 0) {
            sum += from[(i * w.kernel[1] + j) * windows + y * w.output[1] + x];
          }
        }
      }
      *image++ = sum;
    }
  }
}

std::array<Operand, 2> operands(const at::Tensor& written, const at::Tensor& read) {
  const Operand output{written.mutable_data_ptr(), written.nbytes(), true, nullptr};
  const Operand input{const_cast<void*>(read.const_data_ptr()), read.nbytes(), false, nullptr};
  return {output, input};
}

}  // namespace

void im2col(const at::Tensor& columns, const at::Tensor& images, const Windows& windows) {
  const int64_t planes = images.size(0) * images.size(1);
  AT_DISPATCH_FLOATING_TYPES(images.scalar_type(), "im2col", [&] {
    launch(operands(columns, images), [planes, windows](char** pointers) {
      auto* to = reinterpret_cast<scalar_t*>(pointers[0]);
      const auto* from = reinterpret_cast<const scalar_t*>(pointers[1]);
      const Plane plane(windows);
      for (int64_t i = 0; i < planes; ++i) {
        plane_to_columns(from + i * plane.image, to + i * plane.columns, windows);
      }
    });
  });
}

void col2im(const at::Tensor& images, const at::Tensor& columns, const Windows& windows) {
  const int64_t planes = images.size(0) * images.size(1);
  AT_DISPATCH_FLOATING_TYPES(images.scalar_type(), "col2im", [&] {
    launch(operands(images, columns), [planes, windows](char** pointers) {
      auto* to = reinterpret_cast<scalar_t*>(pointers[0]);
      const auto* from = reinterpret_cast<const scalar_t*>(pointers[1]);
      const Plane plane(windows);
      for (int64_t i = 0; i < planes; ++i) {
        columns_to_plane(from + i * plane.columns, to + i * plane.image, windows);
      }
    });
  });
}

}  // namespace openreg::native
