// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen openreg::custom_alias]
// openreg::custom_alias(Tensor(a) self) -> Tensor(a)
#include <ATen/core/Tensor.h>

namespace openreg::native {

// Composed of PyTorch's views, of any device: shapes, torch.compile and torch.vmap follow from theirs, the gradient as well.
// It starts as all of 'self'.
at::Tensor custom_custom_alias(const at::Tensor& self) {
  return self.view_symint(self.sym_sizes());
}

}  // namespace openreg::native
