// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/maximum_ops.h>
#include <ATen/core/op_registration/adaption.h>

#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/maximum_out.h"

// Structured operators of the spec; see Note [Structured kernels] in Structured.h. Those of a letter that many names begin
// with are in a file of their own, such as RegisterStructured_s.cpp.

namespace openreg {
namespace {

// aten::maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
void maximum_out_run(native::maximum_out& op, const at::Tensor& self, const at::Tensor& other) {
  op.meta(self, other);
  op.impl(self, other, op.maybe_get_output(0));
}

at::Tensor& maximum_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  StructuredOut<native::maximum_out, 1> op(out);
  maximum_out_run(op, self, other);
  op.write_back();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "maximum.out", at::_ops::maximum_out, maximum_out, "structured");
  OPENREG_IMPL_FORM(m, "maximum", at::_ops::maximum, Functional, maximum_out_run, "aten::maximum.out", "structured");
}

}  // namespace openreg
