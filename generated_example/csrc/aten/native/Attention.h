// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `ops` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

namespace openreg::native {

/// Which implementation F.scaled_dot_product_attention takes, an at::SDPBackend. See Note [Fused attention].
int64_t _fused_sdp_choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_mask, double dropout_p, bool is_causal, std::optional<double> scale,
    bool enable_gqa);

/// Whether the spec's kernels of fused attention serve these arguments.
bool fused_attention_fits(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& attn_mask, bool enable_gqa);

}  // namespace openreg::native
