// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/mm_meta.h>
#include <ATen/ops/mm_ops.h>

#include "aten/Structured.h"
#include "aten/native/gemm/Gemm.h"

// Products of matrices: PyTorch's meta() checks and allocates, gemm() in Gemm.h computes.

namespace openreg::native {
namespace {

// aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
struct mm_out : at::meta::structured_mm {
  void impl(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor&) { gemm(maybe_get_output(0), at::Tensor(), self, mat2, 0, 1); }
};

}  // namespace

OPENREG_STRUCTURED_KERNEL("mm.out", at::_ops::mm_out, mm_out, "matmul");
OPENREG_STRUCTURED_FORM("mm", at::_ops::mm, mm_out, "mm.out", "matmul");

}  // namespace openreg::native
