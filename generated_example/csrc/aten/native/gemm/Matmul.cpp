// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/mm_meta.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>

#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/gemm/Gemm.h"

// Products of matrices: PyTorch's meta() checks and allocates, gemm() in Gemm.h computes.

namespace openreg::native {
namespace {

struct mm_out_operator : at::meta::structured_mm {};

// aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
void mm_out_run(mm_out_operator& op, const at::Tensor& self, const at::Tensor& mat2) {
  std::optional<at::Device> common;
  c10::impl::check_and_update_common_device(common, self, "aten::mm.out", "self");
  c10::impl::check_and_update_common_device(common, mat2, "aten::mm.out", "mat2");
  op.meta(self, mat2);
  gemm(op.maybe_get_output(0), at::Tensor(), self, mat2, 0, 1);
}

at::Tensor& mm_out(const at::Tensor& self, const at::Tensor& mat2, at::Tensor& out) {
  StructuredOut<mm_out_operator, 1> op(out);
  mm_out_run(op, self, mat2);
  op.write_back();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "mm.out", at::_ops::mm_out, mm_out, "matmul");
  OPENREG_IMPL_FORM(m, "mm", at::_ops::mm, Functional, mm_out_run, "aten::mm.out", "matmul");
}

}  // namespace openreg::native
