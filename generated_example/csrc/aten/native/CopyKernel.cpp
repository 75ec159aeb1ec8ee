// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/TensorIterator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/DeviceLoop.h"
#include "aten/native/Kernels.h"
#include "host/Operator.h"
#include "runtime/Rows.h"

// Copies within a device. What moves bytes unchanged is the driver's: one copy, or copies of rows. The rest is a kernel. One that
// converts would be hundreds of loops, one for each pair of dtypes; PyTorch has them for the CPU, and each piece of the loop calls
// them.

namespace openreg::native {
namespace {

template <size_t size>
void move_elements(char** data, const int64_t* strides, int64_t n0, int64_t n1) {
  constexpr int64_t element = size;
  for (int64_t j = 0; j < n1; ++j) {
    char* dst = data[0] + j * strides[2];
    const char* src = data[1] + j * strides[3];
    if (strides[0] == element && strides[1] == element) {
      std::memmove(dst, src, static_cast<size_t>(n0) * size);
      continue;
    }
    for (int64_t i = 0; i < n0; ++i) {
      std::memcpy(dst + i * strides[0], src + i * strides[1], size);
    }
  }
}

void move_all(at::TensorIteratorBase& iter) {
  switch (iter.element_size(0)) {
    case 1:
      return for_each(iter, &move_elements<1>);
    case 2:
      return for_each(iter, &move_elements<2>);
    case 4:
      return for_each(iter, &move_elements<4>);
    case 8:
      return for_each(iter, &move_elements<8>);
    case 16:
      return for_each(iter, &move_elements<16>);
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "copy_: elements of ", iter.element_size(0), " bytes");
  }
}

/// Beyond this many calls of the driver, a copy whose result lies in one run is quicker by way of the host.
constexpr size_t kMostCalls = 512;

/// Fills a dimension of `count` elements with what is at its first index: twice as much with each copy.
void fill_by_doubling(char* data, at::DimVector& sizes, at::IntArrayRef strides, size_t dim, int64_t count, size_t itemsize) {
  for (int64_t done = 1; done < count; done += sizes[dim]) {
    sizes[dim] = std::min(done, count - done);
    const Rows rows = rows_of(sizes, {strides, strides}, itemsize);
    copy_rows(rows, data + done * strides[dim], data, orMemcpyDeviceToDevice, getCurrentStream());
  }
  sizes[dim] = count;
}

/// Moves the elements by the device's own copies, which wait for nothing. False where a kernel is to do it: copies of bytes must
/// not overlap, and a kernel that reaches the memory is quicker with strides.
bool move_by_driver(const at::TensorIteratorBase& iter) {
  const auto itemsize = static_cast<size_t>(iter.element_size(0));
  auto* const dst = static_cast<char*>(iter.data_ptr(0));
  const auto* const src = static_cast<const char*>(iter.data_ptr(1));
  size_t dst_bytes = itemsize;
  size_t src_bytes = itemsize;
  bool apart = true;  // no byte of the result is written twice
  for (int dim = 0; dim < iter.ndim(); ++dim) {
    apart = apart && static_cast<size_t>(iter.strides(0)[dim]) >= dst_bytes;
    dst_bytes += static_cast<size_t>((iter.shape()[dim] - 1) * iter.strides(0)[dim]);
    src_bytes += static_cast<size_t>((iter.shape()[dim] - 1) * iter.strides(1)[dim]);
  }
  at::DimVector sizes(iter.shape());
  for (int dim = 0; apart && dim < iter.ndim(); ++dim) {
    sizes[dim] = iter.strides(1)[dim] == 0 ? 1 : sizes[dim];  // what the source repeats is copied once
  }
  const Rows rows = rows_of(sizes, {iter.strides(0), iter.strides(1)}, itemsize);
  if ((rows.bytes() != dst_bytes || rows.height != 1 || !rows.outer.empty()) && kernels_reach_memory()) {
    return false;
  }
  const bool overlap = dst < src + src_bytes && src < dst + dst_bytes;
  const bool dense = dst_bytes == itemsize * static_cast<size_t>(iter.numel());
  if (overlap || (dense && rows.calls() > kMostCalls)) {
    return false;
  }
  copy_rows(rows, dst, src, orMemcpyDeviceToDevice, getCurrentStream());
  for (int dim = 0; dim < iter.ndim(); ++dim) {
    if (sizes[dim] != iter.shape()[dim]) {
      fill_by_doubling(dst, sizes, iter.strides(0), dim, iter.shape()[dim], itemsize);
    }
  }
  return true;
}

}  // namespace

void copy_on_device(const at::Tensor& dst, const at::Tensor& src, bool check_overlap) {
  static constexpr RegisteredKernel kMoves{"aten::copy_", "minimal", /*moves=*/true};
  const OperatorScope scope(kMoves);
  auto iter = at::TensorIteratorConfig()
                  .set_check_mem_overlap(check_overlap)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(dst)
                  .add_const_input(src)
                  .build();
  const bool conjugate = src.is_complex() && dst.is_complex() && dst.is_conj() != src.is_conj();
  const bool negate = dst.is_neg() != src.is_neg();
  if (iter.numel() == 0) {
    return;
  }
  if (dst.scalar_type() == src.scalar_type() && !conjugate && !negate) {
    if (!move_by_driver(iter)) {
      move_all(iter);
    }
    return;
  }
  for_each(iter,
      [to = dst.options().device(at::kCPU), from = src.options().device(at::kCPU), conjugate, negate](
          char** data, const int64_t* strides, int64_t n0, int64_t n1) {
        const at::AutoDispatchBelowADInplaceOrView below_autograd;
        const auto part = [&](int operand, const at::TensorOptions& options) {
          const auto itemsize = static_cast<int64_t>(options.dtype().itemsize());
          return at::from_blob(data[operand], {n1, n0}, {strides[2 + operand] / itemsize, strides[operand] / itemsize}, options);
        };
        const at::Tensor values = part(1, from);
        values._set_conj(conjugate);
        values._set_neg(negate);
        part(0, to).copy_(values);
      });
}

// Between host and device, and between two devices, only a run of bytes can cross. So what has gaps is made flat where it comes from,
// converted to the dtype of `dst` on its way to a device, and spread where it arrives. Elements that `src` repeats (expand, windows)
// cross once.
bool copy_by_kernels(const at::Tensor& dst, const at::Tensor& src) {
  if (src.device() == dst.device()) {
    const c10::DeviceGuard guard(dst.device());
    copy_on_device(dst, src);
    return true;
  }
  const bool repeats = span_of(src) < src.numel();
  if (src.is_cpu() ? is_plain(dst) && !repeats : dst.is_cpu() && is_plain(src)) {
    return false;
  }
  at::DimVector sizes(src.sizes());
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    sizes[dim] = src.strides()[dim] == 0 ? 1 : sizes[dim];
  }
  at::Tensor few = native::as_strided(src, sizes, src.strides(), src.storage_offset());
  if (span_of(few) > few.numel()) {
    few = at::empty_like(few).copy_(few);
  }
  at::Tensor here = native::as_strided(few, {span_of(few)}, {1}, few.storage_offset());
  here._set_conj(false);
  here._set_neg(false);
  if (!dst.is_cpu() && dst.scalar_type() != here.scalar_type()) {
    here = at::empty_like(here, here.options().dtype(dst.scalar_type())).copy_(here);
  }
  const at::Tensor there = at::empty_like(here, here.options().device(dst.device()));
  native::_copy_from(here, there, false);
  at::Tensor values = there.as_strided(few.sizes(), few.strides());
  values._set_conj(few.is_conj() && values.is_complex());
  values._set_neg(few.is_neg());
  if (dst.is_cpu()) {
    dst.copy_(values.expand_as(dst));
  } else {
    const c10::DeviceGuard guard(dst.device());
    copy_on_device(dst, values.expand_as(dst));
  }
  return true;
}

bool fill_by_kernel(const at::Tensor& self, const at::Tensor& element) {
  static constexpr RegisteredKernel kMoves{"aten::fill_", "minimal", /*moves=*/true};
  const OperatorScope scope(kMoves);
  auto iter = at::TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(self)
                  .build();
  if (kernels_reach_memory()) {
    std::array<char, 16> bytes{};
    const size_t size = self.itemsize();
    std::memcpy(bytes.data(), element.const_data_ptr(), size);
    for_each(iter, [bytes, size](char** data, const int64_t* strides, int64_t n0, int64_t n1) {
      for (int64_t j = 0; j < n1; ++j) {
        for (int64_t i = 0; i < n0; ++i) {
          std::memcpy(data[0] + j * strides[1] + i * strides[0], bytes.data(), size);
        }
      }
    });
    return true;
  }
  if (is_plain(self)) {
    return false;
  }
  at::Tensor filled = at::empty(self.sizes(), self.options());
  copy_on_device(self, native::fill__Scalar(filled, element.item()), /*check_overlap=*/false);
  return true;
}

}  // namespace openreg::native
