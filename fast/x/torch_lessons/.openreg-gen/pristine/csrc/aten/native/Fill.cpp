// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/ScalarOps.h>
#include <ATen/ops/conj_physical.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/native/Kernels.h"
#include "runtime/Exception.h"
#include "runtime/Stream.h"

// The device sets bytes and copies them, so filling needs no kernel: a small piece comes from the host, and the device
// doubles it.

namespace lessons::native {
namespace {

constexpr size_t kPiece = 4096;  // bytes, a multiple of each dtype's size

/// Queues on the current stream that `bytes` bytes become copies of one element.
void fill_memory(char* data, size_t bytes, const char* element, size_t size) {
  lessonsStream_t const stream = getCurrentStream().stream();
  std::vector<char> piece(std::min(bytes, kPiece));
  for (size_t at = 0; at < piece.size(); at += size) {
    std::memcpy(piece.data() + at, element, size);
  }
  LESSONS_CHECK_LAUNCH(lessonsMemcpyAsync(data, piece.data(), piece.size(), lessonsMemcpyHostToDevice, stream));
  for (size_t filled = piece.size(); filled < bytes;) {
    const size_t more = std::min(filled, bytes - filled);
    LESSONS_CHECK_LAUNCH(lessonsMemcpyAsync(data + filled, data, more, lessonsMemcpyDeviceToDevice, stream));
    filled += more;
  }
}

}  // namespace

at::Tensor& fill__Scalar(at::Tensor& self, const at::Scalar& value) {
  if (self.numel() == 0) {
    return self;
  }
  const c10::DeviceGuard guard(self.device());
  const at::Tensor one = at::detail::scalar_tensor_static(value, self.scalar_type(), at::kCPU);
  const auto* const element = static_cast<const char*>(one.const_data_ptr());
  const bool same_bytes = std::all_of(element, element + self.itemsize(), [=](char byte) { return byte == *element; });
  if (is_plain(self) && same_bytes) {
    const auto byte = static_cast<unsigned char>(*element);
    LESSONS_CHECK_LAUNCH(lessonsMemsetAsync(self.mutable_data_ptr(), byte, self.nbytes(), getCurrentStream().stream()));
    return self;
  }
  if (is_plain(self)) {
    fill_memory(static_cast<char*>(self.mutable_data_ptr()), self.nbytes(), element, self.itemsize());
  } else {
    native::_copy_from(one, self, false);
  }
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

}  // namespace lessons::native
