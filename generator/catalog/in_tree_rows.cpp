// Written by scripts/facts.py; see docs/guides/next-pytorch.md.
#include "catalog/stubs.h"

#include "base/text.h"

#include <map>

namespace openreg_gen {
namespace {

struct Calls {
  std::string_view stubs, ops;  // BASE is an operator's name without overload: abs.out calls abs_stub
};

// clang-format off
constexpr Calls kCalls[] = {
    {"",
     "_aminmax _aminmax.dim addbmm addbmm.out addbmm_ channel_shuffle glu_backward_jvp hardtanh hardtanh.out "
     "hardtanh_ index_fill_.int_Tensor isin.Scalar_Tensor_out isin.Tensor_Scalar_out isnan logit_ mse_loss_backward "
     "mvlgamma.out norm.dtype_out norm.out pow.Scalar_out relu relu_ remainder.Scalar_Tensor rsub.Tensor"},
    {"BASE_stub",
     "abs.out acos.out acosh.out addcdiv.out addcmul.out addr addr.out angle angle.out argmax.out argmin.out "
     "asin.out asinh.out atan.out atan2.out atanh.out bitwise_and.Tensor_out bitwise_not.out bitwise_or.Tensor_out "
     "bitwise_xor.Tensor_out ceil.out complex.out conj_physical.out copysign.out cos.out cosh.out cumprod.out "
     "cumsum.out digamma.out elu.out elu_backward.grad_input eq.Scalar_out eq.Tensor_out erf.out erfc.out erfinv.out "
     "exp.out exp2.out expm1.out floor.out fmax.out fmin.out fmod.Tensor_out frac.out frexp.Tensor_out gcd.out "
     "ge.Scalar_out ge.Tensor_out glu.out glu_jvp gt.Scalar_out gt.Tensor_out hardshrink.out hardsigmoid.out "
     "hardsigmoid_backward.grad_input hardswish hardswish.out hardswish_backward hardtanh_backward "
     "hardtanh_backward.grad_input heaviside.out hypot.out i0.out igamma.out igammac.out index.Tensor_out "
     "index_copy.out isneginf.out isposinf.out lcm.out le.Scalar_out le.Tensor_out leaky_relu.out "
     "leaky_relu_backward.grad_input lgamma.out log.out log10.out log1p.out log2.out logaddexp.out logaddexp2.out "
     "logical_and.out logical_not.out logical_or.out logical_xor.out logit logit.out logit_backward.grad_input "
     "lt.Scalar_out lt.Tensor_out max.dim_max maximum.out mean.out min.dim_min minimum.out mish.out mish_backward "
     "mode mul.out nan_to_num.out nansum nansum.out ne.Scalar_out ne.Tensor_out neg.out nextafter.out polar.out "
     "polygamma.out prod prod.int_out reciprocal.out remainder.Tensor_out round.out rsqrt.out scatter.src_out "
     "sigmoid.out sigmoid_backward.grad_input sign.out signbit.out silu.out silu_backward.grad_input sin.out "
     "sinc.out sinh.out softplus.out softplus_backward.grad_input softshrink.out sort.values_stable "
     "special_airy_ai.out special_bessel_j0.out special_bessel_j1.out special_bessel_y0.out special_bessel_y1.out "
     "special_entr.out special_erfcx.out special_i0e.out special_i1.out special_i1e.out special_log_ndtr.out "
     "special_modified_bessel_i0.out special_modified_bessel_i1.out special_modified_bessel_k0.out "
     "special_modified_bessel_k1.out special_ndtri.out special_scaled_modified_bessel_k0.out "
     "special_scaled_modified_bessel_k1.out special_spherical_bessel_j0.out sqrt.out sum.IntList_out take take.out "
     "tan.out tanh.out tanh_backward.grad_input threshold.out trunc.out unfold_backward xlogy.OutTensor"},
    {"GroupNormBackwardKernel", "native_group_norm_backward"},
    {"GroupNormKernel", "native_group_norm"},
    {"add_stub", "sub.out"},
    {"aminmax_allreduce_stub aminmax_stub", "aminmax.out"},
    {"and_stub", "all.all_out all.dims_out all.out"},
    {"cdist_backward_stub", "_cdist_backward"},
    {"cdist_stub", "_cdist_forward"},
    {"chebyshev_polynomial_t_stub", "special_chebyshev_polynomial_t.out"},
    {"chebyshev_polynomial_u_stub", "special_chebyshev_polynomial_u.out"},
    {"chebyshev_polynomial_v_stub", "special_chebyshev_polynomial_v.out"},
    {"chebyshev_polynomial_w_stub", "special_chebyshev_polynomial_w.out"},
    {"clamp_max_scalar_stub", "clamp_max.out"},
    {"clamp_max_scalar_stub clamp_min_scalar_stub clamp_scalar_stub", "clamp.out"},
    {"clamp_min_scalar_stub", "clamp_min.out"},
    {"clamp_stub maximum_stub minimum_stub", "clamp.Tensor_out"},
    {"cross_stub", "linalg_cross.out"},
    {"div_floor_stub", "floor_divide floor_divide.out floor_divide_.Tensor"},
    {"div_floor_stub div_true_stub div_trunc_stub", "div.out_mode"},
    {"div_true_stub", "div.out"},
    {"gather_expanded_index_stub gather_stub", "gather.out"},
    {"hardswish_stub", "hardswish_"},
    {"hermite_polynomial_h_stub", "special_hermite_polynomial_h.out"},
    {"hermite_polynomial_he_stub", "special_hermite_polynomial_he.out"},
    {"huber_backward_stub", "huber_loss_backward.out"},
    {"huber_stub", "huber_loss huber_loss.out"},
    {"index_fill_stub", "index_fill_.int_Scalar"},
    {"index_put_stub index_put_with_sort_stub", "_index_put_impl_"},
    {"isin_default_stub", "isin.Tensor_Tensor_out"},
    {"laguerre_polynomial_l_stub", "special_laguerre_polynomial_l.out"},
    {"legendre_polynomial_p_stub", "special_legendre_polynomial_p.out"},
    {"lerp_kernel_scalar_weight", "lerp.Scalar_out"},
    {"lerp_kernel_tensor_weight", "lerp.Tensor_out"},
    {"lshift_stub",
     "__ilshift__.Scalar __ilshift__.Tensor __lshift__.Scalar __lshift__.Tensor bitwise_left_shift.Tensor_out"},
    {"max_all_stub", "max max.unary_out"},
    {"max_values_stub", "amax.out"},
    {"maximum_stub", "clamp_min.Tensor_out"},
    {"min_all_stub", "min min.unary_out"},
    {"min_values_stub", "amin.out"},
    {"minimum_stub", "clamp_max.Tensor_out"},
    {"mse_backward_stub", "mse_loss_backward.grad_input"},
    {"mse_stub", "mse_loss.out"},
    {"norm_stub", "linalg_vector_norm.out"},
    {"or_stub", "any.all_out any.dims_out any.out"},
    {"pdist_backward_stub", "_pdist_backward"},
    {"pdist_forward_stub", "_pdist_forward"},
    {"pow_tensor_scalar_stub", "pow.Tensor_Scalar_out"},
    {"pow_tensor_tensor_stub", "pow.Tensor_Tensor_out"},
    {"powsum_stub", "linalg__powsum"},
    {"prelu_backward_stub", "_prelu_kernel_backward"},
    {"prelu_stub", "_prelu_kernel"},
    {"put_stub", "put_"},
    {"renorm_scale_factor_stub", "renorm.out"},
    {"round_decimals_stub round_stub", "round.decimals_out"},
    {"rshift_stub",
     "__irshift__.Scalar __irshift__.Tensor __rshift__.Scalar __rshift__.Tensor bitwise_right_shift.Tensor_out"},
    {"scatter_add_expanded_index_stub scatter_add_stub", "scatter_add.out"},
    {"scatter_fill_stub", "scatter.value_out"},
    {"scatter_reduce_expanded_index_stub scatter_reduce_two_stub", "scatter_reduce.two_out"},
    {"scatter_reduce_stub", "scatter.reduce_out"},
    {"scatter_scalar_reduce_stub", "scatter.value_reduce_out"},
    {"sgn_stub sign_stub", "sgn.out"},
    {"shifted_chebyshev_polynomial_t_stub", "special_shifted_chebyshev_polynomial_t.out"},
    {"shifted_chebyshev_polynomial_u_stub", "special_shifted_chebyshev_polynomial_u.out"},
    {"shifted_chebyshev_polynomial_v_stub", "special_shifted_chebyshev_polynomial_v.out"},
    {"shifted_chebyshev_polynomial_w_stub", "special_shifted_chebyshev_polynomial_w.out"},
    {"shrink_backward_stub", "hardshrink_backward.grad_input softshrink_backward.grad_input"},
    {"smooth_l1_backward_stub", "smooth_l1_loss_backward.grad_input"},
    {"smooth_l1_stub", "smooth_l1_loss.out"},
    {"std_var_stub",
     "std.correction std.correction_out std_mean.correction var.correction var.correction_out var_mean.correction"},
    {"threshold_stub", "threshold_backward.grad_input"},
    {"where_kernel", "where.self where.self_out"},
    {"xlog1py_stub", "special_xlog1py.out"},
    {"xor_sum_stub", "hash_tensor.out"},
    {"zeta_stub", "special_zeta.out"},
};
// clang-format on

}  // namespace

const std::string* find_in_tree_stubs(std::string_view op) {
  static const auto known = [] {
    std::map<std::string_view, std::string> out;
    for (const auto& [stubs, ops] : kCalls) {
      for (const std::string_view each : words_of(ops))
        replace_all(out[each] = stubs, "BASE", each.substr(0, each.find('.')));
    }
    return out;
  }();
  const auto at = known.find(op);
  return at == known.end() ? nullptr : &at->second;
}

}  // namespace openreg_gen
