// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/nonzero_static_ops.h>
#include <ATen/ops/empty_strided.h>

#include "aten/Signature.h"
#include "host/Fallback.h"

// The CPU's torch.nonzero_static returns rows of indices. On any other device fake tensors, and so torch.compile, have
// columns, as CUDA does.

namespace openreg::native {
namespace {

template <class Op>
at::Tensor nonzero_static(const at::Tensor& self, int64_t size, int64_t fill_value) {
  const at::Tensor found = detour<Op>(self, size, fill_value);
  return at::empty_strided(found.sizes(), {1, size}, found.options()).copy_(found);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "nonzero_static", at::_ops::nonzero_static, nonzero_static<at::_ops::nonzero_static>, "minimal");
}

}  // namespace openreg::native
