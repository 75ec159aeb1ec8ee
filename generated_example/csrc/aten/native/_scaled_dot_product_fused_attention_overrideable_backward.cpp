// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen aten::_scaled_dot_product_fused_attention_overrideable_backward]
// aten::_scaled_dot_product_fused_attention_overrideable_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor attn_bias, bool[4] grad_input_mask, Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor grad_attn_bias)
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_backward_ops.h>

#include "aten/Signature.h"
#include "aten/native/AttentionMath.h"

namespace openreg::native {

// It starts as products and a softmax of the device, as no other device's kernel serves it; native/Attention.cpp says for which
// arguments it is called.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> _scaled_dot_product_fused_attention_overrideable_backward(const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& attn_bias, std::array<bool, 4> grad_input_mask, const at::Tensor& out, const at::Tensor& logsumexp, const at::Tensor& cum_seq_q, const at::Tensor& cum_seq_k, int64_t max_q, int64_t max_k, double dropout_p, bool is_causal, const at::Tensor& philox_seed, const at::Tensor& philox_offset, std::optional<double> scale) {
  return attention_backward_by_math(grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, philox_seed, philox_offset, scale);
}

OPENREG_KERNEL("_scaled_dot_product_fused_attention_overrideable_backward", at::_ops::_scaled_dot_product_fused_attention_overrideable_backward, _scaled_dot_product_fused_attention_overrideable_backward, "native");

}  // namespace openreg::native
