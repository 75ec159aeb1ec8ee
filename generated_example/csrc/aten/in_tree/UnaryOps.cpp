// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/abs_ops.h>
#include <ATen/ops/exp_native.h>
#include <ATen/ops/exp_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>

#include "aten/Signature.h"
#include "aten/Structured.h"
#include "host/Kernel.h"

// Operators whose kernel PyTorch shares between its own devices: it checks, allocates and calls a DispatchStub, and only
// the stub depends on the device. It starts as the CPU's function, on the device's memory: Note [The CPU's kernels on the
// device] in host/Kernel.h. With the strategy `stub` an operator gets your own function instead.

namespace openreg {
namespace {

// aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  const OperandsGuard guard(self, out);
  return at::native::abs_out(self, out);
}

// aten::exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
void exp_out_run(at::native::structured_exp_out& op, const at::Tensor& self) {
  op.meta(self);
  op.impl(self, op.maybe_get_output(0));
}

at::Tensor& exp_out(const at::Tensor& self, at::Tensor& out) {
  StructuredOut<at::native::structured_exp_out, 1> op(out);
  exp_out_run(op, self);
  op.write_back();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "abs.out", at::_ops::abs_out, abs_out, "stub");
  OPENREG_IMPL(m, "exp.out", at::_ops::exp_out, exp_out, "in_tree");
  OPENREG_IMPL_FORM(m, "exp", at::_ops::exp, Functional, exp_out_run, "aten::exp.out", "in_tree");
  OPENREG_IMPL_FORM(m, "exp_", at::_ops::exp_, InPlace, exp_out_run, "aten::exp.out", "in_tree");
  static_cast<void>(m);
}

}  // namespace openreg

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(exp_stub, (&openreg::native::HostStub<exp_stub, true>::run))
}  // namespace at::native
