// Written by openreg-gen 0.1.0 from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/maximum_ops.h>
#include <ATen/core/op_registration/adaption.h>

#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/maximum_out.h"

// Structured operators of the spec whose names begin with 'm'; see Note [Structured kernels] in Structured.h.

namespace openreg {
namespace {

// aten::maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
at::Tensor& maximum_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  StructuredOut<native::maximum_out, 1> op(out);
  op.meta(self, other);
  op.impl(self, other, op.output(0));
  op.write_back();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "maximum.out", at::_ops::maximum_out, maximum_out);
}

}  // namespace openreg
