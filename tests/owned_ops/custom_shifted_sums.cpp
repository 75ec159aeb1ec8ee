#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

namespace openreg::native {

// Each element with the shift, and the sum over one dimension of the rest.
std::tuple<at::Tensor, at::Tensor> custom_shifted_sums(const at::Tensor& x, const std::optional<at::Tensor>& shift,
                                                       at::IntArrayRef dims) {
  return {shift.has_value() ? x + *shift : x.clone(), x.sum(dims[0])};
}

std::tuple<at::Tensor, at::Tensor> custom_shifted_sums_meta(const at::Tensor& x, const std::optional<at::Tensor>&,
                                                            c10::SymIntArrayRef dims) {
  c10::SymDimVector sizes(x.sym_sizes());
  sizes.erase(sizes.begin() + dims[0].expect_int());
  return {at::empty_symint(x.sym_sizes(), x.options()), at::empty_symint(sizes, x.options())};
}

std::vector<at::Tensor> custom_shifted_sums_backward(at::TensorList grads, const at::Tensor& x,
                                                     const std::optional<at::Tensor>& shift, c10::SymIntArrayRef dims) {
  at::Tensor grad_x = grads[0];
  if (grads[1].defined()) {
    const at::Tensor of_sum = grads[1].unsqueeze(dims[0].expect_int()).expand_symint(x.sym_sizes());
    grad_x = grad_x.defined() ? grad_x + of_sum : of_sum;
  }
  return {grad_x, shift.has_value() && grads[0].defined() ? grads[0] : at::Tensor(), at::Tensor()};
}

}  // namespace openreg::native
