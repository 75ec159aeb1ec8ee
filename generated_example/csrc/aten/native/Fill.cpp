// Written by openreg-gen from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <algorithm>
#include <array>
#include <cstring>

#include <ATen/Dispatch_v2.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/conj_physical.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/DeviceLoop.h"
#include "aten/native/Kernels.h"
#include "host/Operator.h"
#include "runtime/Exception.h"
#include "runtime/HostAllocator.h"
#include "runtime/Stream.h"

namespace openreg::native {
namespace {

/// One element as bytes: filling needs no more of a dtype.
struct Element {
  std::array<char, 16> bytes{};
};

Element element(const at::Scalar& value, at::ScalarType dtype) {
  Element result;
  AT_DISPATCH_V2(dtype, "fill_", AT_WRAP([&] {
    const auto typed = value.to<scalar_t>();
    std::memcpy(result.bytes.data(), &typed, sizeof(typed));
  }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_FLOAT8_TYPES),
      at::kBool, at::kHalf, at::kBFloat16, at::kComplexHalf);
  return result;
}

/// Fills a gapless run of memory by copies: one piece comes from the host, then the run doubles itself. Nothing waits.
void fill_run(char* data, size_t bytes, const Element& source, size_t size) {
  constexpr size_t kPiece = 4096;  // a multiple of each element's size
  const OpenRegStream stream = getCurrentStream();
  size_t filled = std::min(bytes, kPiece);
  const c10::DataPtr piece = getHostAllocator()->allocate(filled);
  for (size_t at = 0; at < filled; at += size) {
    std::memcpy(static_cast<char*>(piece.get()) + at, source.bytes.data(), size);
  }
  OPENREG_CHECK_LAUNCH(orMemcpyAsync(data, piece.get(), filled, orMemcpyHostToDevice, stream.stream()));
  getHostAllocator()->record_event(piece.get(), piece.get_context(), stream);
  while (filled < bytes) {
    const size_t more = std::min(filled, bytes - filled);
    OPENREG_CHECK_LAUNCH(orMemcpyAsync(data + filled, data, more, orMemcpyDeviceToDevice, stream.stream()));
    filled += more;
  }
}

}  // namespace

at::Tensor& fill__Scalar(at::Tensor& self, const at::Scalar& value) {
  if (self.numel() == 0) {
    return self;
  }
  static constexpr RegisteredKernel kMoves{"aten::fill_", "minimal", /*moves=*/true};
  const OperatorScope scope(kMoves);
  const c10::DeviceGuard guard(self.device());
  const Element source = element(value, self.scalar_type());
  const size_t size = self.itemsize();
  const bool dense = self.is_non_overlapping_and_dense();
  const char byte = source.bytes[0];
  if (dense && std::all_of(source.bytes.begin(), source.bytes.begin() + size, [byte](char each) { return each == byte; })) {
    OPENREG_CHECK_LAUNCH(orMemsetAsync(self.mutable_data_ptr(), byte, self.nbytes(), getCurrentStream().stream()));
    return self;
  }
  auto iter = at::TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(self)
                  .build();
  if (kernels_reach_memory()) {
    for_each(iter, [source, size](char** data, const int64_t* strides, int64_t n0, int64_t n1) {
      for (int64_t j = 0; j < n1; ++j) {
        for (int64_t i = 0; i < n0; ++i) {
          std::memcpy(data[0] + j * strides[1] + i * strides[0], source.bytes.data(), size);
        }
      }
    });
    return self;
  }
  if (dense) {
    fill_run(static_cast<char*>(self.mutable_data_ptr()), self.nbytes(), source, size);
    return self;
  }
  at::Tensor filled = at::empty(self.sizes(), self.options());
  copy_on_device(self, fill__Scalar(filled, value), /*check_overlap=*/false);
  return self;
}

at::Tensor& fill__Tensor(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
      value.dim(), " dimensions.");
  native::_copy_from(value, self, false);
  return self;
}

at::Tensor& zero_(at::Tensor& self) { return fill__Scalar(self, 0); }

/// PyTorch's own calls a function of the device that only its own devices have.
at::Tensor& conj_physical_(at::Tensor& self) {
  return self.is_complex() ? at::conj_physical_out(self, self) : self;
}

}  // namespace openreg::native
