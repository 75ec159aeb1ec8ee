// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `fallback` in the spec changes it, then `openreg-gen generate`.
#include "host/alias/ShortLoop.h"

#include <ATen/Parallel.h>

namespace openreg::native {

bool ShortLoop::take(const at::TensorIteratorBase& iter) {
  const auto count = static_cast<size_t>(iter.ntensors());
  const auto shape = iter.shape();
  if (count > kOperands || shape.size() > 2 || iter.numel() > at::internal::GRAIN_SIZE) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    if (iter.device_type(index) == at::kCPU) {
      return false;
    }
    data[i] = static_cast<char*>(iter.data_ptr(index));
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      strides[dim * count + i] = iter.strides(index)[dim];
    }
  }
  n0 = shape.empty() ? 1 : shape[0];
  n1 = shape.size() < 2 ? 1 : shape[1];
  return true;
}

}  // namespace openreg::native
