// Written by scripts/facts.py; see docs/guides/next-pytorch.md.
#include "catalog/stubs.h"

#include "base/text.h"

#include <map>

namespace openreg_gen {
namespace {

struct Family {
  std::string_view name, fn_type, names;
};

// clang-format off
constexpr Family kStubs[] = {
    {"Activation", "activation_backward_fn", "mish_backward_stub prelu_backward_stub"},
    {"Activation", "activation_fn", "prelu_stub"},
    {"Activation", "elu_backward_fn", "elu_backward_stub"},
    {"Activation", "elu_fn", "elu_stub"},
    {"Activation", "glu_jvp_fn", "glu_jvp_stub"},
    {"Activation", "hardsigmoid_backward_fn", "hardsigmoid_backward_stub"},
    {"Activation", "hardsigmoid_fn", "hardsigmoid_stub"},
    {"Activation", "hardswish_backward_fn", "hardswish_backward_stub"},
    {"Activation", "hardswish_fn", "hardswish_stub"},
    {"Activation", "hardtanh_backward_fn", "hardtanh_backward_stub"},
    {"Activation", "leaky_relu_backward_fn", "leaky_relu_backward_stub"},
    {"Activation", "leaky_relu_fn", "leaky_relu_stub"},
    {"Activation", "shrink_backward_fn", "shrink_backward_stub"},
    {"Activation", "shrink_fn", "hardshrink_stub"},
    {"Activation", "softplus_backward_fn", "softplus_backward_stub"},
    {"Activation", "softplus_fn", "softplus_stub"},
    {"Activation", "softshrink_fn", "softshrink_stub"},
    {"Activation", "structured_activation_backward_fn", "silu_backward_stub"},
    {"Activation", "structured_activation_fn", "glu_stub mish_stub silu_stub"},
    {"Activation", "threshold_fn", "threshold_stub"},
    {"BinaryOps", "binary_fn", "logical_and_stub logical_or_stub logical_xor_stub"},
    {"BinaryOps", "binary_fn_alpha", "logit_backward_stub"},
    {"BinaryOps", "binary_fn_double", "huber_stub"},
    {"BinaryOps", "structured_binary_fn",
     "atan2_stub bitwise_and_stub bitwise_or_stub bitwise_xor_stub chebyshev_polynomial_t_stub "
     "chebyshev_polynomial_u_stub chebyshev_polynomial_v_stub chebyshev_polynomial_w_stub copysign_stub "
     "div_floor_stub div_true_stub div_trunc_stub eq_stub fmax_stub fmin_stub fmod_stub gcd_stub ge_stub gt_stub "
     "heaviside_stub hermite_polynomial_h_stub hermite_polynomial_he_stub hypot_stub igamma_stub igammac_stub "
     "laguerre_polynomial_l_stub lcm_stub le_stub legendre_polynomial_p_stub logaddexp2_stub logaddexp_stub "
     "lshift_stub lt_stub maximum_stub minimum_stub mse_stub mul_stub ne_stub nextafter_stub remainder_stub "
     "rshift_stub shifted_chebyshev_polynomial_t_stub shifted_chebyshev_polynomial_u_stub "
     "shifted_chebyshev_polynomial_v_stub shifted_chebyshev_polynomial_w_stub sigmoid_backward_stub "
     "tanh_backward_stub xlog1py_stub xlogy_stub zeta_stub"},
    {"BinaryOps", "structured_binary_fn_alpha", "add_stub"},
    {"BinaryOps", "structured_binary_fn_double", "smooth_l1_stub"},
    {"Cross", "cross_fn", "cross_stub"},
    {"Distance", "cdist_backward_fn", "cdist_backward_stub"},
    {"Distance", "cdist_fn", "cdist_stub"},
    {"Distance", "pdist_backward_fn", "pdist_backward_stub"},
    {"Distance", "pdist_forward_fn", "pdist_forward_stub"},
    {"IndexKernel", "index_copy_fn", "index_copy_stub"},
    {"IndexKernel", "index_fill_fn", "index_fill_stub"},
    {"IndexKernel", "index_fn", "index_stub"},
    {"IndexKernel", "index_put_fn", "index_put_stub"},
    {"IndexKernel", "put_fn", "put_stub"},
    {"IndexKernel", "take_fn", "take_stub"},
    {"Lerp", "lerp_fn_scalar", "lerp_kernel_scalar_weight"},
    {"Lerp", "lerp_fn_tensor", "lerp_kernel_tensor_weight"},
    {"LinearAlgebra", "addr_fn", "addr_stub"},
    {"Normalization", "renorm_scale_factor_fn", "renorm_scale_factor_stub"},
    {"PointwiseOps", "pointwise_fn", "mse_backward_stub"},
    {"PointwiseOps", "pointwise_fn_double", "huber_backward_stub smooth_l1_backward_stub"},
    {"PointwiseOps", "structured_pointwise_fn", "addcdiv_stub addcmul_stub"},
    {"Pow", "pow_tensor_scalar_fn", "pow_tensor_scalar_stub"},
    {"Pow", "pow_tensor_tensor_fn", "pow_tensor_tensor_stub"},
    {"ReduceAllOps", "reduce_all_fn", "max_all_stub min_all_stub"},
    {"ReduceOps", "", "aminmax_allreduce_stub aminmax_stub"},
    {"ReduceOps", "reduce_fn",
     "and_stub argmax_stub argmin_stub max_values_stub mean_stub min_values_stub nansum_stub or_stub prod_stub "
     "sum_stub xor_sum_stub"},
    {"ReduceOps", "reduce_fn_flag", "norm_stub powsum_stub"},
    {"ReduceOps", "reduce_std_var_function", "std_var_stub"},
    {"ReduceOps", "structured_cum_fn", "cumprod_stub cumsum_stub"},
    {"Sorting", "sort_fn", "sort_stub"},
    {"TensorAdvancedIndexing", "gather_expanded_index_fn", "gather_expanded_index_stub"},
    {"TensorAdvancedIndexing", "gather_fn", "gather_stub"},
    {"TensorAdvancedIndexing", "index_put_with_sort_fn", "index_put_with_sort_stub"},
    {"TensorAdvancedIndexing", "scatter_add_expanded_index_fn", "scatter_add_expanded_index_stub"},
    {"TensorAdvancedIndexing", "scatter_add_fn", "scatter_add_stub"},
    {"TensorAdvancedIndexing", "scatter_fill_fn", "scatter_fill_stub"},
    {"TensorAdvancedIndexing", "scatter_fn", "scatter_stub"},
    {"TensorAdvancedIndexing", "scatter_reduce_expanded_index_fn", "scatter_reduce_expanded_index_stub"},
    {"TensorAdvancedIndexing", "scatter_reduce_fn", "scatter_reduce_stub"},
    {"TensorAdvancedIndexing", "scatter_reduce_two_fn", "scatter_reduce_two_stub"},
    {"TensorAdvancedIndexing", "scatter_scalar_reduce_fn", "scatter_scalar_reduce_stub"},
    {"TensorCompare", "", "clamp_max_scalar_stub clamp_min_scalar_stub clamp_scalar_stub"},
    {"TensorCompare", "clamp_tensor_fn", "clamp_stub"},
    {"TensorCompare", "is_infinity_op_fn", "isneginf_stub isposinf_stub"},
    {"TensorCompare", "isin_default_fn", "isin_default_stub"},
    {"TensorCompare", "mode_fn", "mode_stub"},
    {"TensorCompare", "structured_reduce_minmax_fn", "max_stub min_stub"},
    {"TensorCompare", "where_fn", "where_kernel"},
    {"TensorFactories", "binary_fn", "complex_stub polar_stub"},
    {"UnaryOps", "", "nan_to_num_stub polygamma_stub round_decimals_stub"},
    {"UnaryOps", "unary_fn",
     "abs_stub acos_stub acosh_stub angle_stub asin_stub asinh_stub atan_stub atanh_stub bitwise_not_stub ceil_stub "
     "conj_physical_stub cos_stub cosh_stub digamma_stub erf_stub erfc_stub erfinv_stub exp2_stub exp_stub "
     "expm1_stub floor_stub frac_stub frexp_stub i0_stub lgamma_stub log10_stub log1p_stub log2_stub log_stub "
     "logical_not_stub neg_stub reciprocal_stub round_stub rsqrt_stub sgn_stub sigmoid_stub sign_stub signbit_stub "
     "sin_stub sinc_stub sinh_stub special_airy_ai_stub special_bessel_j0_stub special_bessel_j1_stub "
     "special_bessel_y0_stub special_bessel_y1_stub special_entr_stub special_erfcx_stub special_i0e_stub "
     "special_i1_stub special_i1e_stub special_log_ndtr_stub special_modified_bessel_i0_stub "
     "special_modified_bessel_i1_stub special_modified_bessel_k0_stub special_modified_bessel_k1_stub "
     "special_ndtri_stub special_scaled_modified_bessel_k0_stub special_scaled_modified_bessel_k1_stub "
     "special_spherical_bessel_j0_stub sqrt_stub tan_stub tanh_stub trunc_stub"},
    {"UnaryOps", "unary_fn_with_scalar", "logit_stub"},
    {"UnfoldBackward", "unfold_backward_fn", "unfold_backward_stub"},
    {"group_norm", "backward_fn", "GroupNormBackwardKernel"},
    {"group_norm", "forward_fn", "GroupNormKernel"},
    {"transformers/attention", "fused_sdp_choice_fn", "_fused_sdp_choice_stub"},
};
// clang-format on

}  // namespace

const Stub* declared_stub(std::string_view name) {
  static const auto declared = [] {
    std::map<std::string_view, Stub> out;
    for (const auto& [family, fn_type, names] : kStubs)
      for (const std::string_view each : words_of(names)) out[each] = {each, family, fn_type};
    return out;
  }();
  const auto at = declared.find(name);
  return at == declared.end() ? nullptr : &at->second;
}

}  // namespace openreg_gen
