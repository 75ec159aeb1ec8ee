#include "catalog/stubs.h"

#include "base/text.h"

namespace openreg_gen {
namespace {

constexpr std::string_view kOps =
    "_fused_sdp_choice abs.out acos.out acosh.out addcdiv.out addcmul.out angle.out asin.out asinh.out atan.out "
    "atan2.out atanh.out bitwise_and.Tensor_out bitwise_left_shift.Tensor_out bitwise_not.out bitwise_or.Tensor_out "
    "bitwise_right_shift.Tensor_out bitwise_xor.Tensor_out ceil.out complex.out conj_physical.out copysign.out "
    "cos.out cosh.out digamma.out div.out elu.out elu_backward.grad_input eq.Tensor_out erf.out erfc.out erfinv.out "
    "exp.out exp2.out expm1.out floor.out fmax.out fmin.out fmod.Tensor_out frac.out gcd.out ge.Tensor_out "
    "gt.Tensor_out hardshrink.out hardshrink_backward.grad_input hardsigmoid.out hardsigmoid_backward.grad_input "
    "hardswish.out hardtanh_backward.grad_input heaviside.out hypot.out i0.out igamma.out igammac.out isneginf.out "
    "isposinf.out lcm.out le.Tensor_out leaky_relu.out leaky_relu_backward.grad_input lerp.Scalar_out lerp.Tensor_out "
    "lgamma.out log.out log10.out log1p.out log2.out logaddexp.out logaddexp2.out logical_and.out logical_not.out "
    "logical_or.out logical_xor.out logit.out logit_backward.grad_input lt.Tensor_out maximum.out minimum.out "
    "mish.out mul.out ne.Tensor_out neg.out nextafter.out polar.out pow.Tensor_Tensor_out reciprocal.out "
    "remainder.Tensor_out round.out rsqrt.out sgn.out sigmoid.out sigmoid_backward.grad_input sign.out signbit.out "
    "silu.out silu_backward.grad_input sin.out sinc.out sinh.out softplus.out softplus_backward.grad_input "
    "softshrink.out special_airy_ai.out special_bessel_j0.out special_bessel_j1.out special_bessel_y0.out "
    "special_bessel_y1.out special_chebyshev_polynomial_t.out special_chebyshev_polynomial_u.out "
    "special_chebyshev_polynomial_v.out special_chebyshev_polynomial_w.out special_entr.out special_erfcx.out "
    "special_hermite_polynomial_h.out special_hermite_polynomial_he.out special_i0e.out special_i1.out "
    "special_i1e.out special_laguerre_polynomial_l.out special_legendre_polynomial_p.out special_log_ndtr.out "
    "special_modified_bessel_i0.out special_modified_bessel_i1.out special_modified_bessel_k0.out "
    "special_modified_bessel_k1.out special_ndtri.out special_scaled_modified_bessel_k0.out "
    "special_scaled_modified_bessel_k1.out special_shifted_chebyshev_polynomial_t.out "
    "special_shifted_chebyshev_polynomial_u.out special_shifted_chebyshev_polynomial_v.out "
    "special_shifted_chebyshev_polynomial_w.out special_spherical_bessel_j0.out special_xlog1py.out special_zeta.out "
    "sqrt.out tan.out tanh.out tanh_backward.grad_input threshold.out trunc.out xlogy.OutTensor";

/// The stub by which a device serves `op`: the one that its kernel calls.
std::string_view stub_of(std::string_view op) {
  if (op == "_fused_sdp_choice") return "_fused_sdp_choice_stub";  // no kernel shared by devices
  if (op == "sgn.out") return "sgn_stub";  // of real numbers it is sign's, which serves sign.out
  return words_of(*find_in_tree_stubs(op)).at(0);
}

}  // namespace

bool Stub::promotes() const {
  // Those whose operands differ in dtype are meant to.
  if (name == "complex_stub" || name == "polar_stub" || name == "frexp_stub") return false;
  return has_word("Activation BinaryOps Lerp PointwiseOps Pow UnaryOps", family) || name.starts_with("clamp");
}

std::optional<std::vector<Stub>> in_tree_stubs(std::string_view op) {
  const std::string* names = find_in_tree_stubs(op);
  if (names == nullptr) return std::nullopt;
  return mapped(words_of(*names), [](std::string_view name) { return *declared_stub(name); });
}

std::string_view strides_of_result_like_self(std::string_view op) {
  if (op == "abs.out") return "{}";
  return op == "nan_to_num.out" ? "self.strides()" : "";
}

std::string_view self_as_on_the_cpu(std::string_view op) {
  // The gradient finds the largest element by self.abs() == result, which the sum's std::abs misses by a bit.
  if (op == "linalg_vector_norm.out") return "self.is_complex() && std::isinf(ord.toDouble()) ? self.abs() : self";
  return "";
}

std::span<const std::string_view> stub_ops() {
  static const auto ops = words_of(kOps);
  return ops;
}

const Stub* find_stub(std::string_view op) {
  return std::ranges::binary_search(stub_ops(), op) ? declared_stub(stub_of(op)) : nullptr;
}

}  // namespace openreg_gen
