// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>

#include "aten/native/Kernels.h"

namespace lessons::native {

/// Has no generator argument, so a fallback would draw from the CPU's generator; bernoulli_ draws from the device's
/// generator.
Tensors2 native_dropout(const at::Tensor& input, double p, std::optional<bool> train) {
  const c10::DeviceGuard guard(input.device());
  if (!train.value_or(true) || p == 0) {
    return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  }
  if (p == 1) {
    return {at::zeros_like(input), at::zeros_like(input, input.options().dtype(at::kBool))};
  }
  const at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(1 - p);
  return {input.mul(mask).mul(1 / (1 - p)), mask};
}

}  // namespace lessons::native
