// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen aten::relu]
// aten::relu(Tensor self) -> Tensor
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/relu_ops.h>

#include "aten/Signature.h"
#include "host/Kernel.h"

namespace openreg::native {

// It starts as the CPU's own kernel.
at::Tensor relu(const at::Tensor& self) {
  return host_call<at::_ops::relu>(self);
}

OPENREG_KERNEL("relu", at::_ops::relu, relu, "native");

}  // namespace openreg::native
