// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/relu_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "host/Fallback.h"
#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/Kernels.h"

// Operators of the spec whose names begin with 'r': kernels with the operator's own signature, detours to the
// CPU, errors that say it can't run. A letter a file: a new operator makes few of them compile again.

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
  const OperandsGuard guard(self);
  return native::relu(self);
}

at::Tensor& relu_(at::Tensor& self) {
  const OperandsGuard guard(self);
  return native::relu_(self);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "relu", at::_ops::relu, relu);
  OPENREG_IMPL(m, "relu_", at::_ops::relu_, relu_);
}

}  // namespace openreg
