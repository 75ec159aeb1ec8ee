#include "catalog/in_tree.h"

#include "catalog/schema.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

// What PyTorch's device-generic kernels call was read from the machine code of the installed library: no header says
// it. Operators on sparse, quantized and nested tensors, linear algebra and random numbers are left out.

namespace openreg_gen {
namespace {

struct Row {
  std::string_view op, stubs;
};
constexpr Row kRows[] = {
    {"__ilshift__.Scalar", "lshift_stub"},
    {"__ilshift__.Tensor", "lshift_stub"},
    {"__irshift__.Scalar", "rshift_stub"},
    {"__irshift__.Tensor", "rshift_stub"},
    {"__lshift__.Scalar", "lshift_stub"},
    {"__lshift__.Tensor", "lshift_stub"},
    {"__rshift__.Scalar", "rshift_stub"},
    {"__rshift__.Tensor", "rshift_stub"},
    {"_aminmax", "aminmax_allreduce_stub"},
    {"_aminmax.dim", "aminmax_stub"},
    {"_cdist_backward", "cdist_backward_stub"},
    {"_cdist_forward", "cdist_stub"},
    {"_index_put_impl_", "index_put_stub index_put_with_sort_stub"},
    {"_pdist_backward", "pdist_backward_stub"},
    {"_pdist_forward", "pdist_forward_stub"},
    {"_prelu_kernel", "prelu_stub"},
    {"_prelu_kernel_backward", "prelu_backward_stub"},
    {"abs.out", "abs_stub"},
    {"acos.out", "acos_stub"},
    {"acosh.out", "acosh_stub"},
    {"addbmm", ""},
    {"addbmm.out", ""},
    {"addbmm_", ""},
    {"addcdiv.out", "addcdiv_stub"},
    {"addcmul.out", "addcmul_stub"},
    {"addr", "addr_stub"},
    {"addr.out", "addr_stub"},
    {"all.all_out", "and_stub"},
    {"all.dims_out", "and_stub"},
    {"all.out", "and_stub"},
    {"amax.out", "max_values_stub"},
    {"amin.out", "min_values_stub"},
    {"aminmax.out", "aminmax_allreduce_stub aminmax_stub"},
    {"angle", "angle_stub"},
    {"angle.out", "angle_stub"},
    {"any.all_out", "or_stub"},
    {"any.dims_out", "or_stub"},
    {"any.out", "or_stub"},
    {"argmax.out", "argmax_stub"},
    {"argmin.out", "argmin_stub"},
    {"asin.out", "asin_stub"},
    {"asinh.out", "asinh_stub"},
    {"atan.out", "atan_stub"},
    {"atan2.out", "atan2_stub"},
    {"atanh.out", "atanh_stub"},
    {"bitwise_and.Tensor_out", "bitwise_and_stub"},
    {"bitwise_left_shift.Tensor_out", "lshift_stub"},
    {"bitwise_not.out", "bitwise_not_stub"},
    {"bitwise_or.Tensor_out", "bitwise_or_stub"},
    {"bitwise_right_shift.Tensor_out", "rshift_stub"},
    {"bitwise_xor.Tensor_out", "bitwise_xor_stub"},
    {"ceil.out", "ceil_stub"},
    {"channel_shuffle", ""},
    {"clamp.Tensor_out", "clamp_stub maximum_stub minimum_stub"},
    {"clamp.out", "clamp_max_scalar_stub clamp_min_scalar_stub clamp_scalar_stub"},
    {"clamp_max.Tensor_out", "minimum_stub"},
    {"clamp_max.out", "clamp_max_scalar_stub"},
    {"clamp_min.Tensor_out", "maximum_stub"},
    {"clamp_min.out", "clamp_min_scalar_stub"},
    {"complex.out", "complex_stub"},
    {"conj_physical.out", "conj_physical_stub"},
    {"copysign.out", "copysign_stub"},
    {"cos.out", "cos_stub"},
    {"cosh.out", "cosh_stub"},
    {"cumprod.out", "cumprod_stub"},
    {"cumsum.out", "cumsum_stub"},
    {"digamma.out", "digamma_stub"},
    {"div.out", "div_true_stub"},
    {"div.out_mode", "add_stub div_floor_stub div_true_stub div_trunc_stub"},
    {"elu.out", "elu_stub"},
    {"elu_backward.grad_input", "elu_backward_stub"},
    {"eq.Scalar_out", "eq_stub"},
    {"eq.Tensor_out", "eq_stub"},
    {"erf.out", "erf_stub"},
    {"erfc.out", "erfc_stub"},
    {"erfinv.out", "erfinv_stub"},
    {"exp.out", "exp_stub"},
    {"exp2.out", "exp2_stub"},
    {"expm1.out", "expm1_stub"},
    {"floor.out", "floor_stub"},
    {"floor_divide", "div_floor_stub"},
    {"floor_divide.out", "div_floor_stub"},
    {"floor_divide_.Tensor", "div_floor_stub"},
    {"fmax.out", "fmax_stub"},
    {"fmin.out", "fmin_stub"},
    {"fmod.Tensor_out", "fmod_stub"},
    {"frac.out", "frac_stub"},
    {"frexp.Tensor_out", "ceil_stub frexp_stub"},
    {"gather.out", "gather_expanded_index_stub gather_stub"},
    {"gcd.out", "gcd_stub"},
    {"ge.Scalar_out", "ge_stub"},
    {"ge.Tensor_out", "ge_stub"},
    {"glu.out", "glu_stub"},
    {"glu_backward_jvp", ""},
    {"glu_jvp", "glu_jvp_stub"},
    {"gt.Scalar_out", "gt_stub"},
    {"gt.Tensor_out", "gt_stub"},
    {"hardshrink.out", "hardshrink_stub"},
    {"hardshrink_backward.grad_input", "shrink_backward_stub"},
    {"hardsigmoid.out", "hardsigmoid_stub"},
    {"hardsigmoid_backward.grad_input", "hardsigmoid_backward_stub"},
    {"hardswish", "hardswish_stub"},
    {"hardswish.out", "hardswish_stub"},
    {"hardswish_", "hardswish_stub"},
    {"hardswish_backward", "hardswish_backward_stub"},
    {"hardtanh", ""},
    {"hardtanh.out", ""},
    {"hardtanh_", ""},
    {"hardtanh_backward", "hardtanh_backward_stub"},
    {"hardtanh_backward.grad_input", "hardtanh_backward_stub"},
    {"hash_tensor.out", "xor_sum_stub"},
    {"heaviside.out", "heaviside_stub"},
    {"huber_loss", "huber_stub"},
    {"huber_loss.out", "huber_stub"},
    {"huber_loss_backward.out", "huber_backward_stub"},
    {"hypot.out", "hypot_stub"},
    {"i0.out", "i0_stub"},
    {"igamma.out", "igamma_stub"},
    {"igammac.out", "igammac_stub"},
    {"index.Tensor_out", "index_stub"},
    {"index_copy.out", "index_copy_stub"},
    {"index_fill_.int_Scalar", "index_fill_stub"},
    {"index_fill_.int_Tensor", "index_fill_stub"},
    {"isin.Scalar_Tensor_out", ""},
    {"isin.Tensor_Scalar_out", ""},
    {"isin.Tensor_Tensor_out", "isin_default_stub"},
    {"isnan", ""},
    {"isneginf.out", "isneginf_stub"},
    {"isposinf.out", "isposinf_stub"},
    {"lcm.out", "lcm_stub"},
    {"le.Scalar_out", "le_stub"},
    {"le.Tensor_out", "le_stub"},
    {"leaky_relu.out", "leaky_relu_stub"},
    {"leaky_relu_backward.grad_input", "leaky_relu_backward_stub"},
    {"lerp.Scalar_out", "lerp_kernel_scalar_weight"},
    {"lerp.Tensor_out", "lerp_kernel_tensor_weight"},
    {"lgamma.out", "lgamma_stub"},
    {"linalg__powsum", "powsum_stub"},
    {"linalg_cross.out", "cross_stub"},
    {"linalg_vector_norm.out", "norm_stub"},
    {"log.out", "log_stub"},
    {"log10.out", "log10_stub"},
    {"log1p.out", "log1p_stub"},
    {"log2.out", "log2_stub"},
    {"logaddexp.out", "logaddexp_stub"},
    {"logaddexp2.out", "logaddexp2_stub"},
    {"logical_and.out", "logical_and_stub"},
    {"logical_not.out", "logical_not_stub"},
    {"logical_or.out", "logical_or_stub"},
    {"logical_xor.out", "logical_xor_stub"},
    {"logit", "logit_stub"},
    {"logit.out", "logit_stub"},
    {"logit_", "logit_stub"},
    {"logit_backward.grad_input", "logit_backward_stub"},
    {"lt.Scalar_out", "lt_stub"},
    {"lt.Tensor_out", "lt_stub"},
    {"max", "max_all_stub"},
    {"max.dim_max", "max_stub"},
    {"max.unary_out", "max_all_stub"},
    {"maximum.out", "maximum_stub"},
    {"mean.out", "mean_stub"},
    {"min", "min_all_stub"},
    {"min.dim_min", "min_stub"},
    {"min.unary_out", "min_all_stub"},
    {"minimum.out", "minimum_stub"},
    {"mish.out", "mish_stub"},
    {"mish_backward", "mish_backward_stub"},
    {"mode", "mode_stub"},
    {"mse_loss.out", "mse_stub"},
    {"mse_loss_backward", "mse_backward_stub"},
    {"mse_loss_backward.grad_input", "mse_backward_stub"},
    {"mul.out", "mul_stub"},
    {"mvlgamma.out", "ceil_stub"},
    {"nan_to_num.out", "nan_to_num_stub"},
    {"nansum", "nansum_stub"},
    {"nansum.out", "nansum_stub"},
    {"native_group_norm", "GroupNormKernel"},
    {"native_group_norm_backward", "GroupNormBackwardKernel"},
    {"ne.Scalar_out", "ne_stub"},
    {"ne.Tensor_out", "ne_stub"},
    {"neg.out", "neg_stub"},
    {"nextafter.out", "nextafter_stub"},
    {"norm.dtype_out", "norm_stub"},
    {"norm.out", "norm_stub"},
    {"polar.out", "polar_stub"},
    {"polygamma.out", "polygamma_stub"},
    {"pow.Scalar_out", "pow_tensor_tensor_stub"},
    {"pow.Tensor_Scalar_out", "pow_tensor_scalar_stub"},
    {"pow.Tensor_Tensor_out", "pow_tensor_tensor_stub"},
    {"prod", "prod_stub"},
    {"prod.int_out", "prod_stub"},
    {"put_", "put_stub"},
    {"reciprocal.out", "reciprocal_stub"},
    {"relu", ""},
    {"relu_", ""},
    {"remainder.Scalar_Tensor", "remainder_stub"},
    {"remainder.Tensor_out", "remainder_stub"},
    {"renorm.out", "renorm_scale_factor_stub"},
    {"round.decimals_out", "round_decimals_stub"},
    {"round.out", "round_stub"},
    {"rsqrt.out", "rsqrt_stub"},
    {"rsub.Tensor", ""},
    {"scatter.reduce_out", "scatter_reduce_stub scatter_stub"},
    {"scatter.src_out", "scatter_stub"},
    {"scatter.value_out", "scatter_fill_stub"},
    {"scatter.value_reduce_out", "scatter_fill_stub scatter_scalar_reduce_stub"},
    {"scatter_add.out", "scatter_add_expanded_index_stub scatter_add_stub"},
    {"scatter_reduce.two_out", "scatter_reduce_expanded_index_stub scatter_reduce_two_stub"},
    {"sgn.out", "sgn_stub sign_stub"},
    {"sigmoid.out", "sigmoid_stub"},
    {"sigmoid_backward.grad_input", "sigmoid_backward_stub"},
    {"sign.out", "sign_stub"},
    {"signbit.out", "signbit_stub"},
    {"silu.out", "silu_stub"},
    {"silu_backward.grad_input", "silu_backward_stub"},
    {"sin.out", "sin_stub"},
    {"sinc.out", "sinc_stub"},
    {"sinh.out", "sinh_stub"},
    {"smooth_l1_loss.out", "smooth_l1_stub"},
    {"smooth_l1_loss_backward.grad_input", "smooth_l1_backward_stub"},
    {"softplus.out", "softplus_stub"},
    {"softplus_backward.grad_input", "softplus_backward_stub"},
    {"softshrink.out", "softshrink_stub"},
    {"softshrink_backward.grad_input", "shrink_backward_stub"},
    {"sort.values_stable", "sort_stub"},
    {"special_airy_ai.out", "special_airy_ai_stub"},
    {"special_bessel_j0.out", "special_bessel_j0_stub"},
    {"special_bessel_j1.out", "special_bessel_j1_stub"},
    {"special_bessel_y0.out", "special_bessel_y0_stub"},
    {"special_bessel_y1.out", "special_bessel_y1_stub"},
    {"special_chebyshev_polynomial_t.out", "chebyshev_polynomial_t_stub"},
    {"special_chebyshev_polynomial_u.out", "chebyshev_polynomial_u_stub"},
    {"special_chebyshev_polynomial_v.out", "chebyshev_polynomial_v_stub"},
    {"special_chebyshev_polynomial_w.out", "chebyshev_polynomial_w_stub"},
    {"special_entr.out", "special_entr_stub"},
    {"special_erfcx.out", "special_erfcx_stub"},
    {"special_hermite_polynomial_h.out", "hermite_polynomial_h_stub"},
    {"special_hermite_polynomial_he.out", "hermite_polynomial_he_stub"},
    {"special_i0e.out", "special_i0e_stub"},
    {"special_i1.out", "special_i1_stub"},
    {"special_i1e.out", "special_i1e_stub"},
    {"special_laguerre_polynomial_l.out", "laguerre_polynomial_l_stub"},
    {"special_legendre_polynomial_p.out", "legendre_polynomial_p_stub"},
    {"special_log_ndtr.out", "special_log_ndtr_stub"},
    {"special_modified_bessel_i0.out", "special_modified_bessel_i0_stub"},
    {"special_modified_bessel_i1.out", "special_modified_bessel_i1_stub"},
    {"special_modified_bessel_k0.out", "special_modified_bessel_k0_stub"},
    {"special_modified_bessel_k1.out", "special_modified_bessel_k1_stub"},
    {"special_ndtri.out", "special_ndtri_stub"},
    {"special_scaled_modified_bessel_k0.out", "special_scaled_modified_bessel_k0_stub"},
    {"special_scaled_modified_bessel_k1.out", "special_scaled_modified_bessel_k1_stub"},
    {"special_shifted_chebyshev_polynomial_t.out", "shifted_chebyshev_polynomial_t_stub"},
    {"special_shifted_chebyshev_polynomial_u.out", "shifted_chebyshev_polynomial_u_stub"},
    {"special_shifted_chebyshev_polynomial_v.out", "shifted_chebyshev_polynomial_v_stub"},
    {"special_shifted_chebyshev_polynomial_w.out", "shifted_chebyshev_polynomial_w_stub"},
    {"special_spherical_bessel_j0.out", "special_spherical_bessel_j0_stub"},
    {"special_xlog1py.out", "xlog1py_stub"},
    {"special_zeta.out", "zeta_stub"},
    {"sqrt.out", "sqrt_stub"},
    {"std.correction", "std_var_stub"},
    {"std.correction_out", "std_var_stub"},
    {"std_mean.correction", "std_var_stub"},
    {"sub.out", "add_stub"},
    {"sum.IntList_out", "sum_stub"},
    {"take", "take_stub"},
    {"take.out", "take_stub"},
    {"tan.out", "tan_stub"},
    {"tanh.out", "tanh_stub"},
    {"tanh_backward.grad_input", "tanh_backward_stub"},
    {"threshold.out", "threshold_stub"},
    {"threshold_backward.grad_input", "threshold_stub"},
    {"trunc.out", "trunc_stub"},
    {"unfold_backward", "unfold_backward_stub"},
    {"var.correction", "std_var_stub"},
    {"var.correction_out", "std_var_stub"},
    {"var_mean.correction", "std_var_stub"},
    {"where.self", "where_kernel"},
    {"where.self_out", "where_kernel"},
    {"xlogy.OutTensor", "xlogy_stub"},
};

struct Family {
  std::string_view header, stubs;  // ATen/native/<header>.h
};
constexpr Family kFamilies[] = {
    {"Activation",
     "elu_backward_stub elu_stub glu_jvp_stub glu_stub hardshrink_stub hardsigmoid_backward_stub "
     "hardsigmoid_stub hardswish_backward_stub hardswish_stub hardtanh_backward_stub "
     "leaky_relu_backward_stub leaky_relu_stub mish_backward_stub mish_stub prelu_backward_stub prelu_stub "
     "shrink_backward_stub silu_backward_stub silu_stub softplus_backward_stub softplus_stub "
     "softshrink_stub threshold_stub"},
    {"BinaryOps",
     "add_stub atan2_stub bitwise_and_stub bitwise_or_stub bitwise_xor_stub chebyshev_polynomial_t_stub "
     "chebyshev_polynomial_u_stub chebyshev_polynomial_v_stub chebyshev_polynomial_w_stub copysign_stub "
     "div_floor_stub div_true_stub div_trunc_stub eq_stub fmax_stub fmin_stub fmod_stub gcd_stub ge_stub "
     "gt_stub heaviside_stub hermite_polynomial_h_stub hermite_polynomial_he_stub huber_stub hypot_stub "
     "igamma_stub igammac_stub laguerre_polynomial_l_stub lcm_stub le_stub legendre_polynomial_p_stub "
     "logaddexp2_stub logaddexp_stub logical_and_stub logical_or_stub logical_xor_stub logit_backward_stub "
     "lshift_stub lt_stub maximum_stub minimum_stub mse_stub mul_stub ne_stub nextafter_stub "
     "remainder_stub rshift_stub shifted_chebyshev_polynomial_t_stub shifted_chebyshev_polynomial_u_stub "
     "shifted_chebyshev_polynomial_v_stub shifted_chebyshev_polynomial_w_stub sigmoid_backward_stub "
     "smooth_l1_stub tanh_backward_stub xlog1py_stub xlogy_stub zeta_stub"},
    {"Cross", "cross_stub"},
    {"Distance", "cdist_backward_stub cdist_stub pdist_backward_stub pdist_forward_stub"},
    {"IndexKernel", "index_copy_stub index_fill_stub index_put_stub index_stub put_stub take_stub"},
    {"Lerp", "lerp_kernel_scalar_weight lerp_kernel_tensor_weight"},
    {"LinearAlgebra", "addr_stub"},
    {"Normalization", "renorm_scale_factor_stub"},
    {"PointwiseOps", "addcdiv_stub addcmul_stub huber_backward_stub mse_backward_stub smooth_l1_backward_stub"},
    {"Pow", "pow_tensor_scalar_stub pow_tensor_tensor_stub"},
    {"ReduceAllOps", "max_all_stub min_all_stub"},
    {"ReduceOps",
     "aminmax_allreduce_stub aminmax_stub and_stub argmax_stub argmin_stub cumprod_stub cumsum_stub "
     "max_values_stub mean_stub min_values_stub nansum_stub norm_stub or_stub powsum_stub prod_stub "
     "std_var_stub sum_stub xor_sum_stub"},
    {"Sorting", "sort_stub"},
    {"TensorAdvancedIndexing",
     "gather_expanded_index_stub gather_stub index_put_with_sort_stub scatter_add_expanded_index_stub "
     "scatter_add_stub scatter_fill_stub scatter_reduce_expanded_index_stub scatter_reduce_stub "
     "scatter_reduce_two_stub scatter_scalar_reduce_stub scatter_stub"},
    {"TensorCompare",
     "clamp_max_scalar_stub clamp_min_scalar_stub clamp_scalar_stub clamp_stub isin_default_stub "
     "isneginf_stub isposinf_stub max_stub min_stub mode_stub where_kernel"},
    {"TensorFactories", "complex_stub polar_stub"},
    {"UnaryOps",
     "abs_stub acos_stub acosh_stub angle_stub asin_stub asinh_stub atan_stub atanh_stub bitwise_not_stub "
     "ceil_stub conj_physical_stub cos_stub cosh_stub digamma_stub erf_stub erfc_stub erfinv_stub "
     "exp2_stub exp_stub expm1_stub floor_stub frac_stub frexp_stub i0_stub lgamma_stub log10_stub "
     "log1p_stub log2_stub log_stub logical_not_stub logit_stub nan_to_num_stub neg_stub polygamma_stub "
     "reciprocal_stub round_decimals_stub round_stub rsqrt_stub sgn_stub sigmoid_stub sign_stub "
     "signbit_stub sin_stub sinc_stub sinh_stub special_airy_ai_stub special_bessel_j0_stub "
     "special_bessel_j1_stub special_bessel_y0_stub special_bessel_y1_stub special_entr_stub "
     "special_erfcx_stub special_i0e_stub special_i1_stub special_i1e_stub special_log_ndtr_stub "
     "special_modified_bessel_i0_stub special_modified_bessel_i1_stub special_modified_bessel_k0_stub "
     "special_modified_bessel_k1_stub special_ndtri_stub special_scaled_modified_bessel_k0_stub "
     "special_scaled_modified_bessel_k1_stub special_spherical_bessel_j0_stub sqrt_stub tan_stub tanh_stub "
     "trunc_stub"},
    {"UnfoldBackward", "unfold_backward_stub"},
    {"group_norm", "GroupNormBackwardKernel GroupNormKernel"},
};

std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

/// Stubs whose operands differ in dtype because they are meant to.
bool mixes_dtypes(std::string_view stub) {
  return stub == "complex_stub" || stub == "polar_stub" || stub == "frexp_stub";
}

}  // namespace

std::optional<std::vector<DispatchStub>> in_tree_stubs(std::string_view op) {
  static const auto& families = *new auto([] {
    std::map<std::string, std::string, std::less<>> map;
    for (const Family& family : kFamilies)
      for (const std::string& stub : words(family.stubs)) map[stub] = family.header;
    return map;
  }());
  const auto row = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  if (row == std::end(kRows) || row->op != op) return std::nullopt;
  std::vector<DispatchStub> stubs;
  for (const std::string& name : words(row->stubs)) stubs.push_back(dispatch_stub(name, families.at(name)));
  return stubs;
}

DispatchStub dispatch_stub(const std::string& name, const std::string& family) {
  constexpr std::string_view elementwise[] = {"Activation", "BinaryOps", "Lerp", "PointwiseOps", "Pow", "UnaryOps"};
  const bool promotes = std::ranges::find(elementwise, family) != std::end(elementwise) || name.starts_with("clamp");
  return {name, family, promotes && !mixes_dtypes(name)};
}

}  // namespace openreg_gen
