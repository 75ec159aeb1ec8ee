#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace openreg::native {

at::Tensor custom_doubled(const at::Tensor& self) { return self.view_symint(self.sym_sizes()); }

// Told apart from the gradient of the view itself.
std::vector<at::Tensor> custom_doubled_backward(at::TensorList grads, const at::Tensor&) { return {grads[0] * 2}; }

}  // namespace openreg::native
