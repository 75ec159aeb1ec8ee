// Shared with openreg-gen: yours to edit; `ops` in the spec changes what is rendered.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include <ATen/core/Tensor.h>

// The starting code of the fused attention kernels: matrix products and a softmax on the device, with the signatures of
// _scaled_dot_product_fused_attention_overrideable and its backward. Write your kernels in the files of those operators,
// and follow the rules here; PyTorch's shapes for torch.compile depend on them.

namespace openreg::native {

/// query is (N, H, L, E), key (N, H', S, E), value (N, H', S, Ev); H is a multiple of H'. attn_bias is added to the
/// products, and broadcast. Returns (output (N, H, L, Ev), logsumexp (N, H, L) in float, two tensors for sequences of
/// different lengths, undefined here, L, S, the seed and the offset of dropout's random numbers, an undefined tensor).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor>
attention_by_math(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_bias, double dropout_p, bool is_causal, bool return_debug_mask,
    std::optional<double> scale);

/// The gradients of query, key, value and attn_bias that grad_input_mask asks for. What forward returned comes back, so
/// that the same elements are dropped. grad_out is undefined if no gradient arrives, such as after a function whose
/// backward returns None: then all results are undefined, too. PyTorch checks this for most operators, but not here.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention_backward_by_math(const at::Tensor& grad_out,
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& attn_bias,
    std::array<bool, 4> grad_input_mask, const at::Tensor& out, const at::Tensor& logsumexp,
    const at::Tensor& cum_seq_q, const at::Tensor& cum_seq_k, int64_t max_q, int64_t max_k, double dropout_p,
    bool is_causal, const at::Tensor& philox_seed, const at::Tensor& philox_offset, std::optional<double> scale);

}  // namespace openreg::native
