// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen aten::_scaled_dot_product_fused_attention_overrideable]
// aten::_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor value, Tensor? attn_bias=None, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)
#include <torch/library.h>  // first: the operators' headers do not include what they need
#include <ATen/ops/_scaled_dot_product_fused_attention_overrideable_ops.h>

#include "aten/Signature.h"
#include "aten/native/AttentionMath.h"

namespace openreg::native {

// It starts as products and a softmax of the device, as no other device's kernel serves it; native/Attention.cpp says for which
// arguments it is called.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor> _scaled_dot_product_fused_attention_overrideable(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const std::optional<at::Tensor>& attn_bias, double dropout_p, bool is_causal, bool return_debug_mask, std::optional<double> scale) {
  return attention_by_math(query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask, scale);
}

OPENREG_KERNEL("_scaled_dot_product_fused_attention_overrideable", at::_ops::_scaled_dot_product_fused_attention_overrideable, _scaled_dot_product_fused_attention_overrideable, "native");

}  // namespace openreg::native
