// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/abs_native.h>
#include <ATen/ops/abs_ops.h>
#include <ATen/ops/addr_ops.h>
#include <ATen/ops/all_ops.h>
#include <ATen/ops/any_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>

#include "host/Fallback.h"
#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/Kernels.h"

// Operators of the spec whose names begin with 'a': kernels with the operator's own signature, detours to the
// CPU, errors that say it can't run. A letter a file: a new operator makes few of them compile again.

namespace openreg {
namespace {

// aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!): PyTorch's own kernel; its abs_stub is in native/abs_out.cpp
at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  const OperandsGuard guard(self, out);
  return at::native::abs_out(self, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "abs.out", at::_ops::abs_out, abs_out);
  OPENREG_IMPL_BOXED(m, "addr", at::_ops::addr, &cpu_detour);
  OPENREG_IMPL_BOXED(m, "addr.out", at::_ops::addr_out, &cpu_detour);
  OPENREG_IMPL_BOXED(m, "addr_", at::_ops::addr_, &cpu_detour);
  OPENREG_IMPL_BOXED(m, "all.dims_out", at::_ops::all_dims_out, &cpu_detour);
  OPENREG_IMPL_BOXED(m, "any.dims_out", at::_ops::any_dims_out, &cpu_detour);
}

}  // namespace openreg
