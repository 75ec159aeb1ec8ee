// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_backward_ops.h>
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_ops.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/abs_ops.h>
#include <ATen/ops/addr_ops.h>
#include <ATen/ops/all_ops.h>
#include <ATen/ops/any_ops.h>
#include <ATen/ops/mode_ops.h>
#include <ATen/ops/native_group_norm_ops.h>
#include <ATen/ops/native_layer_norm_ops.h>
#include <ATen/ops/poisson_ops.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/sub_ops.h>
#include <ATen/DeviceGuard.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <c10/core/DeviceGuard.h>

#include "host/Fallback.h"
#include "aten/Signature.h"
#include "aten/Structured.h"
#include "aten/native/Kernels.h"

// Operators of the spec: kernels with the operator's own signature, detours to the CPU, errors that say it can't run.
// Those of a letter that many names begin with are in a file of their own, such as RegisterNative_s.cpp.

namespace openreg {
namespace native {

// aten::relu(Tensor self) -> Tensor, in native/relu.cpp
at::Tensor relu(const at::Tensor& self);

// aten::relu_(Tensor(a!) self) -> Tensor(a!), in native/relu_.cpp
at::Tensor& relu_(at::Tensor& self);

// aten::_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor value, Tensor? attn_bias=None, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask), in native/_scaled_dot_product_fused_attention_overrideable.cpp
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor> _scaled_dot_product_fused_attention_overrideable(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const std::optional<at::Tensor>& attn_bias, double dropout_p, bool is_causal, bool return_debug_mask, std::optional<double> scale);

// aten::_scaled_dot_product_fused_attention_overrideable_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor attn_bias, bool[4] grad_input_mask, Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor grad_attn_bias), in native/_scaled_dot_product_fused_attention_overrideable_backward.cpp
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> _scaled_dot_product_fused_attention_overrideable_backward(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& attn_bias, std::array<bool, 4> grad_input_mask, const at::Tensor& out, const at::Tensor& logsumexp, const at::Tensor& cum_seq_q, const at::Tensor& cum_seq_k, int64_t max_q, int64_t max_k, double dropout_p, bool is_causal, const at::Tensor& philox_seed, const at::Tensor& philox_offset, std::optional<double> scale);

}  // namespace native

namespace {

// Each kernel runs with the device of its arguments as the current one.

at::Tensor relu(const at::Tensor& self) {
  const OperandsGuard guard(self);
  return native::relu(self);
}

at::Tensor& relu_(at::Tensor& self) {
  const OperandsGuard guard(self);
  return native::relu_(self);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor> _scaled_dot_product_fused_attention_overrideable(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const std::optional<at::Tensor>& attn_bias, double dropout_p, bool is_causal, bool return_debug_mask, std::optional<double> scale) {
  const OperandsGuard guard(query, key, value);
  return native::_scaled_dot_product_fused_attention_overrideable(query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask, scale);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> _scaled_dot_product_fused_attention_overrideable_backward(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& attn_bias, std::array<bool, 4> grad_input_mask, const at::Tensor& out, const at::Tensor& logsumexp, const at::Tensor& cum_seq_q, const at::Tensor& cum_seq_k, int64_t max_q, int64_t max_k, double dropout_p, bool is_causal, const at::Tensor& philox_seed, const at::Tensor& philox_offset, std::optional<double> scale) {
  const OperandsGuard guard(grad_out, query, key, value, attn_bias, out, logsumexp, cum_seq_q, cum_seq_k, philox_seed, philox_offset);
  return native::_scaled_dot_product_fused_attention_overrideable_backward(grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, philox_seed, philox_offset, scale);
}

// aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!): PyTorch's own kernel; its abs_stub is in native/abs_out.cpp
at::Tensor& abs_out(const at::Tensor& self, at::Tensor& out) {
  const OperandsGuard guard(self, out);
  return at::native::abs_out(self, out);
}

void poisson(const c10::OperatorHandle&, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "aten::poisson is not supported on openreg: ", "the device has no Poisson sampler");
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  OPENREG_IMPL(m, "relu", at::_ops::relu, relu, "native");
  OPENREG_IMPL(m, "relu_", at::_ops::relu_, relu_, "native");
  OPENREG_IMPL(m, "_scaled_dot_product_fused_attention_overrideable", at::_ops::_scaled_dot_product_fused_attention_overrideable, _scaled_dot_product_fused_attention_overrideable, "native");
  OPENREG_IMPL(m, "_scaled_dot_product_fused_attention_overrideable_backward", at::_ops::_scaled_dot_product_fused_attention_overrideable_backward, _scaled_dot_product_fused_attention_overrideable_backward, "native");
  OPENREG_IMPL(m, "abs.out", at::_ops::abs_out, abs_out, "stub");
  OPENREG_IMPL_BOXED(m, "sub.Tensor", at::_ops::sub_Tensor, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "addr", at::_ops::addr, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "addr.out", at::_ops::addr_out, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "addr_", at::_ops::addr_, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "all.dims_out", at::_ops::all_dims_out, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "any.dims_out", at::_ops::any_dims_out, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "mode.values", at::_ops::mode_values, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "native_group_norm", at::_ops::native_group_norm, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "native_layer_norm", at::_ops::native_layer_norm, &cpu_detour, "cpu_fallback");
  OPENREG_IMPL_BOXED(m, "poisson", at::_ops::poisson, &poisson);
}

}  // namespace openreg
