// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/Tensor.h>

namespace openreg::native {

/// A copy on the host, in float or wider: half precision is stored, not computed with. Undefined stays
/// undefined.
inline at::Tensor to_host(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return tensor;
  }
  const auto dtype = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16
      ? at::kFloat
      : tensor.scalar_type();
  return tensor.to(at::kCPU).to(dtype);
}

inline at::Tensor to_host(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? to_host(*tensor) : at::Tensor();
}

/// Back to the device and dtype of `like`. Undefined stays undefined.
inline at::Tensor to_device(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.defined() ? tensor.to(like.scalar_type()).to(like.device()) : tensor;
}

}  // namespace openreg::native
