// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/abs_native.h>
#include <ATen/ops/abs_ops.h>
#include <ATen/ops/poisson_ops.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/sub_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "aten/Fallback.h"
#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/Kernels.h"

// Operators of the spec whose kernels have the operator's own signature, run on the CPU, or say that they can't run.

namespace openreg {
namespace native {

// aten::relu(Tensor self) -> Tensor, in native/relu.cpp
at::Tensor relu(const at::Tensor& self);

// aten::relu_(Tensor(a!) self) -> Tensor(a!), in native/relu_.cpp
at::Tensor& relu_(at::Tensor& self);

}  // namespace native

namespace {

// Each kernel runs with the device of its arguments as the current one.

at::Tensor relu(const at::Tensor& self) {
  const c10::OptionalDeviceGuard guard(at::device_of(self));
  return native::relu(self);
}

at::Tensor& relu_(at::Tensor& self) {
  const c10::OptionalDeviceGuard guard(at::device_of(self));
  return native::relu_(self);
}

// aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!): PyTorch's own kernel; its abs_stub is in native/abs_out.cpp
at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  const c10::OptionalDeviceGuard guard(at::device_of(self));
  return at::native::abs_out(self, out);
}

void poisson(const c10::OperatorHandle&, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "aten::poisson is not supported on openreg: ", "the device has no Poisson sampler");
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "relu", at::_ops::relu, relu);
  OPENREG_IMPL(m, "relu_", at::_ops::relu_, relu_);
  OPENREG_IMPL(m, "abs.out", at::_ops::abs_out, abs_out);
  OPENREG_IMPL_BOXED(m, "sub.Tensor", at::_ops::sub_Tensor, &cpu_detour);
  OPENREG_IMPL_BOXED(m, "poisson", at::_ops::poisson, &poisson);
}

}  // namespace openreg
