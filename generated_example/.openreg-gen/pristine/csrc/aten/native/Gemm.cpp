// Written by openreg-gen 0.1.0 from openreg.yaml.
// Shared: rendered, then yours to edit; `ops` in the spec changes what is rendered.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/addmv_ops.h>
#include <ATen/ops/baddbmm_ops.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/mm_ops.h>

#include "aten/native/Gemm.h"
#include "aten/native/HostKernel.h"

// The one function that all products of matrices come to, and so the place for the device's own. It starts as the BLAS of
// PyTorch's CPU library, on the device's memory.

namespace openreg::native {

void gemm(const at::Tensor& out, const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
    const at::Scalar& beta, const at::Scalar& alpha) {
  if (!self.defined()) {
    a.dim() == 3 ? host_op<at::_ops::bmm_out>(a, b, out) : host_op<at::_ops::mm_out>(a, b, out);
  } else if (b.dim() == 1) {
    host_op<at::_ops::addmv_out>(self, a, b, beta, alpha, out);
  } else if (a.dim() == 3) {
    host_op<at::_ops::baddbmm_out>(self, a, b, beta, alpha, out);
  } else {
    host_op<at::_ops::addmm_out>(self, a, b, beta, alpha, out);
  }
}

}  // namespace openreg::native
