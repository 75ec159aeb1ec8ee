// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace openreg::native {

/// out = beta * self + alpha * (a @ b), for matrices, batches of matrices, and a matrix with a vector. All strides and
/// dtypes that the operators take; `self` may be broadcast, and is undefined where nothing is added. `out` has its final
/// sizes. Asynchronous, in the current stream.
void gemm(const at::Tensor& out, const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
    const at::Scalar& beta, const at::Scalar& alpha);

}  // namespace openreg::native
